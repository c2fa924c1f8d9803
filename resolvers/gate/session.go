package gate

import (
	"context"
	"encoding/hex"
	"strings"

	"plaza/fault"
	"plaza/social"
)

type sessionKey struct{}

// SignedOut are the mutations that need no session, and that work even if the request's session has
// ended.
var SignedOut = []string{"signIn", "signInWithIdToken", "signUp", "requestPasswordReset", "resetPassword", "confirmEmail"}

// ErrUnauthenticated refuses signed-out requests for what needs a session.
var ErrUnauthenticated = &fault.Error{Code: fault.CodeUnauthenticated, Message: "Sign in first: send Authorization: Bearer <token>, as a header or in the payload of connection_init."}

// Authenticate stores the session of an Authorization header ("" if signed out) in ctx. Error:
// UNAUTHENTICATED.
func (g *Gate) Authenticate(ctx context.Context, authorization string) (context.Context, error) {
	if authorization == "" {
		return ctx, nil
	}
	token, ok := TokenOf(authorization)
	if !ok {
		return ctx, ErrUnauthenticated
	}
	session, err := g.session(ctx, token)
	if err != nil {
		return ctx, err
	}
	return context.WithValue(ctx, sessionKey{}, &session), nil
}

// TokenOf returns the token of an Authorization header; false if it has another scheme.
func TokenOf(authorization string) (token string, ok bool) {
	scheme, token, ok := strings.Cut(authorization, " ")
	return strings.TrimSpace(token), ok && strings.EqualFold(scheme, "Bearer")
}

// Issuer is another site, whose users sign in there and bring its tokens.
type Issuer interface {
	// LooksIssued reports whether a token may be one of the site's. It is false for Plaza's own
	// tokens.
	LooksIssued(token string) bool
	// Verify verifies a token, and returns its claims. Errors: UNAUTHENTICATED;
	// social.ErrIssuerUnavailable.
	Verify(ctx context.Context, token string) (social.Assertion, error)
}

// session returns the session of a token, of Plaza's own or of the issuer's. Error: UNAUTHENTICATED.
func (g *Gate) session(ctx context.Context, token string) (social.Session, error) {
	if g.Issuer == nil || !g.Issuer.LooksIssued(token) {
		return g.Social.Authenticate(ctx, token)
	}
	assertion, err := g.Issuer.Verify(ctx, token)
	if err != nil {
		return social.Session{}, err
	}
	return g.Social.AuthenticateAs(ctx, token, assertion)
}

// UserOf returns the user that ctx was authenticated as; the zero id if signed out.
func UserOf(ctx context.Context) social.UserID { return SessionOf(ctx).User }

// SessionOf returns the session that ctx was authenticated with; the zero value if signed out, also
// earlier in the operation.
func SessionOf(ctx context.Context) social.Session {
	if session, ok := ctx.Value(sessionKey{}).(*social.Session); ok {
		return *session
	}
	return social.Session{}
}

// ForgetSession signs the rest of an operation out. Only mutations call it, whose fields run one
// after another.
func ForgetSession(ctx context.Context) {
	if session, ok := ctx.Value(sessionKey{}).(*social.Session); ok {
		*session = social.Session{}
	}
}

// SessionKey identifies a session to code that must know when it ends; "" if signed out.
func SessionKey(ctx context.Context) string {
	session := SessionOf(ctx)
	if session.User.IsZero() {
		return ""
	}
	return KeyOf(session.TokenHash)
}

// IdentityKey identifies the identity of another site that a token belongs to; "" if there is none.
func IdentityKey(ctx context.Context) string {
	session := SessionOf(ctx)
	if !session.IsIssued() {
		return ""
	}
	return KeyOf(session.Identity)
}

// KeyOf returns the SessionKey of a token's hash, or the IdentityKey of an identity.
func KeyOf(tokenHash [32]byte) string { return hex.EncodeToString(tokenHash[:]) }

// SignedIn returns the user of ctx. Errors: UNAUTHENTICATED; SUSPENDED, in a mutation behind others.
func SignedIn(ctx context.Context) (social.UserID, error) {
	session := SessionOf(ctx)
	if session.User.IsZero() {
		return social.UserID{}, ErrUnauthenticated
	}
	return session.User, checkMutation(ctx, session)
}
