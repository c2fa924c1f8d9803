package mailer

import (
	"context"
	"log/slog"

	"plaza/social/accounts"
)

// Log logs the links of mails instead of sending them, for servers without SMTP. Those who read the
// log can use the links.
type Log struct{ Logger *slog.Logger }

var _ accounts.Mailer = Log{}

// Deliver implements accounts.Mailer.
func (l Log) Deliver(ctx context.Context, m accounts.Message) error {
	for _, link := range m.Links {
		l.Logger.WarnContext(ctx, "THIS LINK IS SECRET: it would have been sent by mail, but there is no SMTP server", "mail", m.Subject, "handle", link.Handle, "link", link.URL)
	}
	return nil
}
