package accounts

import (
	"context"
	"errors"
)

// Mailer delivers mails.
type Mailer interface {
	// Deliver returns nil when the mail needs no further attempt. Its errors do not contain the
	// recipient's address. ErrNoSuchMailbox.
	Deliver(ctx context.Context, m Message) error
}

// ErrNoSuchMailbox means that the mail server refuses the recipient's address for good, so that
// another attempt would be useless.
var ErrNoSuchMailbox = errors.New("the SMTP server refuses the recipient's address for good")

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
