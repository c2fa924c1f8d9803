package accounts

import "context"

// Mailer delivers mails.
type Mailer interface {
	// Deliver returns nil when the mail needs no further attempt.
	Deliver(ctx context.Context, m Message) error
}

// Message is a mail in plain text. Links are those in the text.
type Message struct {
	To, Subject, Text string
	Links             []Link
}

// Link is a link that only the owner of an account may use.
type Link struct{ Handle, URL string }

// Mails says how a Service sends mails.
type Mails struct {
	Mailer Mailer // nil: mails stay stored until they expire
	// ResetURL and ConfirmURL are pages of the front end, which get the parameter token. "": the
	// token alone is sent.
	ResetURL, ConfirmURL string
}
