package social

import (
	"context"
	"crypto/sha256"
	"net/mail"
	"strings"
	"time"

	"plaza/fault"
)

// MaxEmailLen limits an e-mail address, in bytes (RFC 5321).
const MaxEmailLen = 254

// CheckEmail validates an e-mail address: one address in ASCII, without a name or quotes. Error:
// INVALID.
func CheckEmail(argument, text string) error {
	parsed, err := mail.ParseAddress(text)
	if err != nil || parsed.Address != text || len(text) > MaxEmailLen || strings.ContainsFunc(text, isNoEmailRune) {
		return fault.Invalidf(argument, "This is not an e-mail address such as ada@site.example.")
	}
	return nil
}

func isNoEmailRune(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"()<>,;:\`, r) }

// EmailKey is the same for addresses that differ only in case. Engines search by it.
func EmailKey(address string) string { return strings.ToLower(address) }

// Email is what is stored of a user's e-mail addresses. Only the user sees it.
type Email struct {
	Address string // confirmed; "": none
	Pending string // the user has not confirmed it yet; "": none
}

// For returns the address to which mails of a kind go; "": none.
func (e Email) For(kind MailKind) string {
	if kind == MailConfirm {
		return e.Pending
	}
	return e.Address
}

// MailKind is what a mail is for.
type MailKind string

// The kinds of mails.
const (
	MailConfirm MailKind = "CONFIRM" // confirms that an address is the user's
	MailReset   MailKind = "RESET"   // lets the user set a new password
)

// Mail is a mail that is to be sent. It does not contain the token, which is created when it is sent.
type Mail struct {
	ID        MailID
	Kind      MailKind
	User      UserID    // of a MailConfirm
	Account   string    // of a MailReset: the handle or address that a client has sent, whether or not it exists
	ExpiresAt time.Time // it is not sent any more
}

// MailToken is the secret in the link of a mail. Only its hash is stored.
type MailToken struct {
	Hash      [32]byte
	Kind      MailKind
	User      UserID
	Address   string // where it was sent
	Mail      MailID
	ExpiresAt time.Time
}

// HashMailToken returns the stored form of a token in a mail. It differs from HashToken, so that no
// such token signs anyone in.
func HashMailToken(token string) [32]byte { return sha256.Sum256([]byte("mail token " + token)) }

// Emails stores the addresses of users, the mails to be sent, and the tokens in those that were. All
// of a user's are removed by Users.DeleteUser, in its transaction.
type Emails interface {
	// Email reads a user's addresses; zero if there are none.
	Email(ctx context.Context, user UserID) (Email, error)
	// UsersWithEmail returns users whose confirmed address has this EmailKey, at most limit of
	// them, by their ids.
	UsersWithEmail(ctx context.Context, key string, limit int) ([]UserID, error)
	// SetEmail stores an address that is not confirmed, and the mail, in one transaction. The
	// confirmed address stays. So do earlier tokens until the mail is sent: it may never be, and
	// those for another address are refused anyway. ErrAccountGone.
	SetEmail(ctx context.Context, user UserID, pending string, m Mail) error
	// RemoveEmail removes both addresses, and makes all tokens void, in one transaction.
	RemoveEmail(ctx context.Context, user UserID) error
	// ConfirmEmail uses a token of the kind MailConfirm up: the address that is not confirmed
	// becomes the confirmed one, and all tokens of the user become void, in one transaction.
	// ErrNotFound: the token is unknown, void, or expired by now, or was sent to another address.
	ConfirmEmail(ctx context.Context, tokenHash [32]byte, now time.Time) (UserID, error)

	// QueueMail stores a mail that is to be sent.
	QueueMail(ctx context.Context, m Mail) error
	// TakeMail returns a mail that no other call has taken, or whose taker has not ended it in
	// time, the one that is due first, and lets no other call take it until a time. ErrNotFound:
	// there is none that has not expired by now.
	TakeMail(ctx context.Context, now, until time.Time) (Mail, error)
	// EndMail removes a mail that was sent; no error if it is already removed.
	EndMail(ctx context.Context, mail MailID) error

	// IssueMailToken stores a token and makes the user's earlier ones of its kind void, in one
	// transaction; those of the same mail are removed. False, and no change: as many others of the
	// kind as most have not expired by now, void or not. ErrNotFound: t.Address is not (any more)
	// the user's address to which such mails go.
	IssueMailToken(ctx context.Context, t MailToken, most int, now time.Time) (bool, error)
	// MailToken reads by the hash and the kind. ErrNotFound: unknown, void, or expired by now. Users.SetPassword uses
	// tokens of the kind MailReset up.
	MailToken(ctx context.Context, hash [32]byte, kind MailKind, now time.Time) (MailToken, error)
}
