package mailer

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	netmail "net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/wneessen/go-mail"

	"plaza/social/accounts"
)

// sendTimeout bounds the delivery of one mail to the SMTP server.
const sendTimeout = 30 * time.Second

// SMTP delivers mails to an SMTP server, with a connection for each. It is safe for concurrent use.
type SMTP struct {
	host    string
	from    *netmail.Address
	options []mail.Option
	tls     *tls.Config // nil: the connection begins without TLS
}

var _ accounts.Mailer = (*SMTP)(nil)

// New returns an SMTP that sends to server, an address such as smtp://user:password@host:587
// (STARTTLS, required) or smtps://host:465 (TLS from the start), from an address that may have a
// name. The option ?tls=off sends in plain text; it is refused together with a password unless the
// server is on this machine. Errors name the part that is wrong, and never the password.
func New(server, from string) (*SMTP, error) {
	sender, err := netmail.ParseAddress(from)
	if err != nil {
		return nil, fmt.Errorf("the sender must be an address such as plaza@site.example or Plaza <plaza@site.example>: %q is not", from)
	}
	u, err := url.Parse(server)
	if err != nil || u.Hostname() == "" || u.Scheme != "smtp" && u.Scheme != "smtps" { // err may contain the password
		return nil, errors.New("the SMTP server must look like smtp://user:password@mail.site.example:587 or smtps://mail.site.example")
	}
	if u.Path != "" && u.Path != "/" || u.Fragment != "" {
		return nil, errors.New("the address of the SMTP server must end with its port: it has no path")
	}
	if _, has := u.User.Password(); u.User != nil && !has {
		return nil, errors.New("the address of the SMTP server names a user without a password: add it (user:password@), or leave out the user")
	}
	options, err := optionsOf(u)
	if err != nil {
		return nil, err
	}
	s := &SMTP{host: u.Hostname(), from: sender, options: options}
	if u.Scheme == "smtps" {
		s.tls = tlsFor(u)
	}
	return s, nil
}

func optionsOf(u *url.URL) ([]mail.Option, error) {
	plain := false
	for name, values := range u.Query() {
		if name != "tls" || len(values) != 1 || values[0] != "off" || u.Scheme != "smtp" {
			return nil, errors.New("the address of the SMTP server may have no option except ?tls=off, and that only with smtp://")
		}
		plain = true
	}
	port, policy := 587, mail.WithTLSPolicy(mail.TLSMandatory)
	switch {
	case u.Scheme == "smtps":
		port, policy = 465, mail.WithSSL()
	case plain:
		policy = mail.WithTLSPolicy(mail.NoTLS)
	}
	if u.Port() != "" {
		parsed, err := strconv.ParseUint(u.Port(), 10, 16)
		if err != nil || parsed == 0 {
			return nil, fmt.Errorf("the port of the SMTP server must be from 1 to 65535: %s is not", u.Port())
		}
		port = int(parsed)
	}
	options := []mail.Option{
		mail.WithPort(port), policy, mail.WithTimeout(sendTimeout),
		mail.WithTLSConfig(tlsFor(u)),
	}
	password, has := u.User.Password()
	if !has {
		return options, nil
	}
	auth := mail.WithOpportunisticSMTPAuth(overTLS...)
	if plain {
		if !isLocal(u.Hostname()) {
			return nil, errors.New("the password of the SMTP server would be sent in plain text: leave out ?tls=off")
		}
		auth = mail.WithSMTPAuth(mail.SMTPAuthPlainNoEnc)
	}
	return append(options, auth, mail.WithUsername(u.User.Username()), mail.WithPassword(password)), nil
}

// overTLS are the ways to authenticate, the best first. go-mail would choose among them, but does not
// see that a connection which SMTP.dial has opened begins with TLS; then it refuses all but the
// rarest. It refuses PLAIN and LOGIN without TLS by itself.
var overTLS = []mail.SMTPAuthType{
	mail.SMTPAuthSCRAMSHA256PLUS, mail.SMTPAuthSCRAMSHA256, mail.SMTPAuthSCRAMSHA1PLUS, mail.SMTPAuthSCRAMSHA1, mail.SMTPAuthPlain, mail.SMTPAuthLogin,
}

func tlsFor(u *url.URL) *tls.Config {
	return &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12}
}

func isLocal(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

// Deliver implements accounts.Mailer. When it returns nil, the SMTP server has accepted the mail.
func (s *SMTP) Deliver(ctx context.Context, m accounts.Message) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	dial := func(dialing context.Context, network, address string) (net.Conn, error) {
		opened, err := s.dial(dialing, network, address)
		if err == nil {
			// go-mail waits for answers although ctx has ended, and leaves the connection open if
			// the server has no STARTTLS.
			context.AfterFunc(ctx, func() { _ = opened.Close() })
		}
		return opened, err
	}
	client, err := mail.NewClient(s.host, append(slices.Clip(s.options), mail.WithDialContextFunc(dial))...)
	if err != nil {
		return err
	}
	written := mail.NewMsg(mail.WithNoDefaultUserAgent())
	written.FromMailAddress(s.from)
	if err := written.To(m.To); err != nil {
		return err
	}
	written.Subject(m.Subject)
	written.SetDate()
	written.SetMessageID()
	written.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: no automatic replies
	written.SetBodyString(mail.TypeTextPlain, m.Text)
	err = client.DialAndSendWithContext(ctx, written)
	if written.IsDelivered() { // a server that hangs up without a farewell would get it again and again
		return nil
	}
	return withoutAddress(err, m.To)
}

// withoutAddress returns an error that may be logged: go-mail names the recipient, and SMTP servers
// repeat the address.
func withoutAddress(err error, address string) error {
	if err == nil {
		return nil
	}
	text := regexp.MustCompile(`(?i)`+regexp.QuoteMeta(address)).ReplaceAllString(err.Error(), "…")
	const permanent = 500 // RFC 5321, section 4.2.1
	if refused, ok := errors.AsType[*mail.SendError](err); ok && refused.Reason == mail.ErrSMTPRcptTo && refused.ErrorCode() >= permanent {
		return fmt.Errorf("%w: %s", accounts.ErrNoSuchMailbox, text)
	}
	return errors.New(text)
}

func (s *SMTP) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if s.tls != nil {
		return (&tls.Dialer{Config: s.tls}).DialContext(ctx, network, address)
	}
	return (&net.Dialer{}).DialContext(ctx, network, address)
}
