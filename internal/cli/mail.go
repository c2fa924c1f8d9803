package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"

	"plaza/mailer"
	"plaza/social/accounts"
)

// mailFlags say how a server sends mails, and where their links lead.
type mailFlags struct {
	SMTPURL    string `help:"The SMTP server that mails are sent to, such as smtp://user:password@mail.site.example:587 (STARTTLS, required; ?tls=off: plain text) or smtps://… (TLS from the start). Set it in the environment: other users of the machine see arguments. Without it, the links of mails are logged." env:"PLAZA_SMTP_URL" name:"smtp-url" placeholder:"URL"`
	From       string `help:"With --smtp-url, required: the sender of mails, such as Plaza <plaza@site.example>." env:"PLAZA_MAIL_FROM" name:"mail-from" placeholder:"ADDRESS"`
	ResetURL   string `help:"Page of the front end that sets a new password: the mail's link adds ?token= to it. Default: the page of the web app. With --smtp-url, that needs a --public-url without a path." env:"PLAZA_PASSWORD_RESET_URL" name:"password-reset-url" placeholder:"URL"`
	ConfirmURL string `help:"Page of the front end that confirms an e-mail address: the mail's link adds ?token= to it. Default: the page of the web app. With --smtp-url, that needs a --public-url without a path." env:"PLAZA_EMAIL_CONFIRMATION_URL" name:"email-confirmation-url" placeholder:"URL"`
}

// options returns how mails are sent. hasPages means that the web app has pages for their links, at
// a public URL. Errors say which setting cannot work.
func (f *mailFlags) options(hasPages bool) (accounts.Mails, error) {
	mails := accounts.Mails{Mailer: mailer.Log{Logger: slog.Default()}, ResetURL: f.ResetURL, ConfirmURL: f.ConfirmURL}
	mayBeEmpty := hasPages || f.SMTPURL == ""
	err := errors.Join(
		checkPage("--password-reset-url (PLAZA_PASSWORD_RESET_URL)", f.ResetURL, mayBeEmpty),
		checkPage("--email-confirmation-url (PLAZA_EMAIL_CONFIRMATION_URL)", f.ConfirmURL, mayBeEmpty))
	switch {
	case f.SMTPURL == "" && f.From != "":
		err = errors.Join(err, errors.New("--mail-from needs --smtp-url (PLAZA_SMTP_URL): without it no mails are sent"))
	case f.SMTPURL != "" && f.From == "":
		err = errors.Join(err, errors.New("--smtp-url needs --mail-from (PLAZA_MAIL_FROM), the address of the sender"))
	case f.SMTPURL != "":
		smtp, wrong := mailer.New(f.SMTPURL, f.From)
		if wrong != nil {
			wrong = fmt.Errorf("--smtp-url, --mail-from: %w", wrong)
		}
		mails.Mailer, err = smtp, errors.Join(err, wrong)
	}
	return mails, err
}

// checkPage refuses a page that links can't lead to.
func checkPage(flag, text string, mayBeEmpty bool) error {
	if text == "" && mayBeEmpty {
		return nil
	}
	if text == "" {
		return fmt.Errorf("--smtp-url needs %s, or the web app (--app=on) and a --public-url without a path: otherwise the links of mails lead nowhere", flag)
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("%s must look like https://site.example/page: %q does not", flag, text)
	}
	return nil
}
