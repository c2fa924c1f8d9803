package accounts

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"time"

	"plaza/social"
)

const (
	// mailLease is how long a server has for sending a mail. Then another attempt begins.
	mailLease = time.Minute
	// mailPause is the longest time until a server sends what another one has left.
	mailPause = 10 * time.Second
	// mailsPerHour is how many links for new passwords an account gets in an hour, and how many
	// links to confirm addresses in a day.
	mailsPerHour = 5
	// confirmLifetime and resetLifetime are how long the links work that confirm an address and set
	// a new password, and how long servers try to send them.
	confirmLifetime = 24 * time.Hour
	resetLifetime   = time.Hour
	// maxSharers is how many accounts may have one confirmed address. Concurrent calls may add a
	// few more.
	maxSharers = 5
)

// RunMails sends mails until ctx ends.
func (s *Service) RunMails(ctx context.Context, logger *slog.Logger) {
	if s.mails.Mailer == nil {
		return
	}
	for ctx.Err() == nil {
		took, err := s.sendNext(ctx)
		switch {
		case err == nil || ctx.Err() != nil:
		case took:
			logger.WarnContext(ctx, "a mail was not sent", "again", !errors.Is(err, ErrNoSuchMailbox), "error", err)
		default:
			logger.WarnContext(ctx, "the queue of mails cannot be read", "error", err)
		}
		if took {
			continue
		}
		select {
		case <-ctx.Done():
		case <-s.mailing:
		case <-time.After(mailPause):
		}
	}
}

// mailQueued wakes RunMails.
func (s *Service) mailQueued() {
	select {
	case s.mailing <- struct{}{}:
	default:
	}
}

// SendMails sends the stored mails that are due, and returns the errors of those that failed: they
// are due again after a minute, unless the error is ErrNoSuchMailbox.
func (s *Service) SendMails(ctx context.Context) error {
	var failed error
	for {
		took, err := s.sendNext(ctx)
		failed = errors.Join(failed, err)
		if !took {
			return failed
		}
	}
}

// sendNext sends a stored mail that is due; false: it has found none.
func (s *Service) sendNext(ctx context.Context) (took bool, err error) {
	m, err := s.store.TakeMail(ctx, s.now(), s.now().Add(mailLease))
	if errors.Is(err, social.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	isDone, err := s.send(ctx, m)
	if isDone {
		err = errors.Join(err, s.store.EndMail(ctx, m.ID))
	}
	return true, err
}

// send sends a mail to each of its recipients, or nothing if there are none; false: it needs another
// attempt.
func (s *Service) send(ctx context.Context, m social.Mail) (isDone bool, failed error) {
	to, err := s.recipients(ctx, m)
	if err != nil {
		return false, err
	}
	isDone = true
	for _, r := range to {
		err := s.sendTo(ctx, m, r)
		isDone = isDone && (err == nil || errors.Is(err, ErrNoSuchMailbox))
		failed = errors.Join(failed, err)
	}
	return isDone, failed
}

// sendTo sends a mail to an address, unless a limit drops it: then the links that have arrived
// earlier still work.
func (s *Service) sendTo(ctx context.Context, m social.Mail, to *recipient) error {
	key := social.EmailKey(to.address)
	if !s.limits.Recipient(key) {
		return nil
	}
	links, err := s.issueLinks(ctx, m, to)
	if err == nil && len(links) > 0 {
		err = s.mails.Mailer.Deliver(ctx, message(m.Kind, to.address, links))
	}
	if err != nil || len(links) == 0 {
		s.limits.NotSent(key) // or the attempts would use up what the mail needs
	}
	return err
}

// issueLinks makes a link for each account that may get another one.
func (s *Service) issueLinks(ctx context.Context, m social.Mail, to *recipient) (links []Link, err error) {
	for _, user := range to.users {
		token := randomToken()
		issued, err := s.store.IssueMailToken(ctx, social.MailToken{
			Hash: social.HashMailToken(token), Kind: m.Kind, User: user.ID, Address: to.address, Mail: m.ID, ExpiresAt: s.Moment().Add(lifetimeOf(m.Kind)),
		}, mailsPerHour, s.now())
		if err != nil && !errors.Is(err, social.ErrNotFound) {
			return nil, err
		}
		if issued {
			links = append(links, Link{user.Handle, s.mails.link(m.Kind, token)})
		}
	}
	return links, nil
}

// recipient is an address to which a mail goes, and the accounts that it is for.
type recipient struct {
	address string
	users   []*social.User
}

// recipients returns where a mail goes. The accounts of one address may write it in different cases,
// which a mail server may tell apart: each of these gets the links of its own accounts alone.
func (s *Service) recipients(ctx context.Context, m social.Mail) (to []*recipient, err error) {
	users := []social.UserID{m.User}
	if m.Kind == social.MailReset {
		if users, err = s.resetting(ctx, m.Account); err != nil {
			return nil, err
		}
	}
	accounts, err := s.store.Users(ctx, users)
	if err != nil {
		return nil, err
	}
	for _, user := range users {
		account := accounts[user]
		if account == nil || !social.CanSignIn(account.Standing) {
			continue
		}
		email, err := s.store.Email(ctx, user)
		if err != nil {
			return nil, err
		}
		if address := email.For(m.Kind); address != "" {
			to = addRecipient(to, address, account)
		}
	}
	return to, nil
}

func addRecipient(to []*recipient, address string, account *social.User) []*recipient {
	i := slices.IndexFunc(to, func(r *recipient) bool { return r.address == address })
	if i < 0 {
		return append(to, &recipient{address, []*social.User{account}})
	}
	to[i].users = append(to[i].users, account)
	return to
}

// resetting returns the users that a client means by a handle or an e-mail address.
func (s *Service) resetting(ctx context.Context, account string) ([]social.UserID, error) {
	if strings.Contains(account, "@") && !strings.HasPrefix(account, "@") {
		return s.store.UsersWithEmail(ctx, social.EmailKey(account), 2*maxSharers)
	}
	handle, ok := social.NormalHandle(strings.TrimPrefix(account, "@"))
	if !ok {
		return nil, nil
	}
	users, err := s.store.UsersByHandle(ctx, []string{handle})
	if err != nil || users[handle] == nil {
		return nil, err
	}
	return []social.UserID{users[handle].ID}, nil
}

func lifetimeOf(kind social.MailKind) time.Duration {
	if kind == social.MailConfirm {
		return confirmLifetime
	}
	return resetLifetime
}

// link returns the page for a token.
func (m *Mails) link(kind social.MailKind, token string) string {
	page := m.ResetURL
	if kind == social.MailConfirm {
		page = m.ConfirmURL
	}
	u, err := url.Parse(page)
	if err != nil || page == "" {
		return token
	}
	query := u.Query()
	query.Set("token", token)
	u.RawQuery = query.Encode()
	return u.String()
}

func message(kind social.MailKind, to string, links []Link) Message {
	lines := make([]string, len(links))
	for i, link := range links {
		lines[i] = fmt.Sprintf("@%s:\n%s\n", link.Handle, link.URL)
	}
	subject, why, then := "Set a new password", "You, or someone else, asked to set a new password for your account.", "It works once, within an hour."
	if kind == social.MailConfirm {
		subject, why, then = "Confirm your e-mail address", "Please confirm that this is the e-mail address of your account.", "It works once, within a day."
	}
	return Message{
		To: to, Subject: subject, Links: links,
		Text: why + "\n\n" + strings.Join(lines, "\n") + "\n" + then + " If you did not ask for this, ignore this mail: nothing changes.\n",
	}
}
