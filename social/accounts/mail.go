package accounts

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
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
		if err := s.SendMails(ctx); err != nil && ctx.Err() == nil {
			logger.WarnContext(ctx, "a mail will be sent later", "error", err)
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
// are due again after a minute.
func (s *Service) SendMails(ctx context.Context) error {
	var failed error
	for ctx.Err() == nil {
		m, err := s.store.TakeMail(ctx, s.now(), s.now().Add(mailLease))
		if errors.Is(err, social.ErrNotFound) {
			return failed
		}
		if err != nil {
			return errors.Join(failed, err)
		}
		if err = s.send(ctx, m); err == nil {
			err = s.store.EndMail(ctx, m.ID)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// send sends a mail, or nothing if no one is to get it.
func (s *Service) send(ctx context.Context, m social.Mail) error {
	to, users, err := s.recipients(ctx, m)
	if err != nil || len(users) == 0 {
		return err
	}
	var links []Link
	for _, user := range users {
		token := randomToken()
		issued, err := s.store.IssueMailToken(ctx, social.MailToken{
			Hash: social.HashMailToken(token), Kind: m.Kind, User: user.ID, Address: to, Mail: m.ID, ExpiresAt: s.Moment().Add(lifetimeOf(m.Kind)),
		}, mailsPerHour, s.now())
		if err != nil && !errors.Is(err, social.ErrNotFound) {
			return err
		}
		if issued {
			links = append(links, Link{user.Handle, s.mails.link(m.Kind, token)})
		}
	}
	if len(links) == 0 || !s.limits.Recipient(social.EmailKey(to)) {
		return nil
	}
	return s.mails.Mailer.Deliver(ctx, message(m.Kind, to, links))
}

// recipients returns the address to which a mail goes, and the accounts that it is for.
func (s *Service) recipients(ctx context.Context, m social.Mail) (to string, found []*social.User, err error) {
	users := []social.UserID{m.User}
	if m.Kind == social.MailReset {
		if users, err = s.resetting(ctx, m.Account); err != nil {
			return "", nil, err
		}
	}
	accounts, err := s.store.Users(ctx, users)
	if err != nil {
		return "", nil, err
	}
	for _, user := range users {
		account := accounts[user]
		if account == nil {
			continue
		}
		email, err := s.store.Email(ctx, user)
		if err != nil {
			return "", nil, err
		}
		if address := email.For(m.Kind); address != "" && (to == "" || address == to) {
			to, found = address, append(found, account)
		}
	}
	return to, found, nil
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
