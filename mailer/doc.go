// Package mailer delivers mails to an SMTP server, or logs their links where there is none.
package mailer
