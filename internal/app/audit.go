package app

import (
	"context"
	"log/slog"

	"plaza/internal/accesslog"
	"plaza/social/accounts"
)

// Audit returns what logs acts, for accounts.Options.
func Audit(logger *slog.Logger) func(context.Context, accounts.Act) {
	return func(ctx context.Context, a accounts.Act) {
		by := "user"
		if a.Operator {
			by = "operator"
		}
		attrs := []slog.Attr{
			slog.String("act", string(a.Kind)), slog.String("by", by), slog.String("handle", a.Handle), slog.String("how", a.How),
			slog.String("issuer", a.Issuer), slog.String("right", string(a.Right)), slog.String("code", string(a.Code)),
		}
		if !a.User.IsZero() {
			attrs = append(attrs, slog.String("user", a.User.String()))
		}
		if !a.Session.IsZero() {
			attrs = append(attrs, slog.String("session", a.Session.String()))
		}
		if !a.AccessToken.IsZero() {
			attrs = append(attrs, slog.String("accessToken", a.AccessToken.String()))
		}
		if !a.Invitation.IsZero() {
			attrs = append(attrs, slog.String("invitation", a.Invitation.String()))
		}
		accesslog.Audit(ctx, logger, attrs...)
	}
}
