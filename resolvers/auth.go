package resolvers

import (
	"context"
	"encoding/hex"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"plaza/fault"
	"plaza/loaders"
	"plaza/social"
)

type sessionKey struct{}

// SignedOut are the mutations that need no session, and work although a request has one that has
// ended.
var SignedOut = []string{"signIn", "signUp"}

var errUnauthenticated = &fault.Error{Code: fault.CodeUnauthenticated, Message: "Sign in first: send the header Authorization: Bearer <token>."}

// Authenticate stores the session of an Authorization header ("" if signed out) in ctx. Error:
// UNAUTHENTICATED.
func (r *Resolver) Authenticate(ctx context.Context, authorization string) (context.Context, error) {
	if authorization == "" {
		return ctx, nil
	}
	scheme, token, ok := strings.Cut(authorization, " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return ctx, errUnauthenticated
	}
	session, err := r.Social.Authenticate(ctx, strings.TrimSpace(token))
	if err != nil {
		return ctx, err
	}
	return context.WithValue(ctx, sessionKey{}, &session), nil
}

// SessionUser returns the user whom ctx was authenticated as; the zero id if signed out.
func SessionUser(ctx context.Context) social.UserID { return sessionOf(ctx).User }

// sessionOf returns the session that ctx was authenticated with; the zero value if signed out, also
// earlier in the operation.
func sessionOf(ctx context.Context) social.Session {
	if session, ok := ctx.Value(sessionKey{}).(*social.Session); ok {
		return *session
	}
	return social.Session{}
}

// forgetSession signs the rest of an operation out. Only mutations call it, whose fields run one
// after another.
func forgetSession(ctx context.Context) {
	if session, ok := ctx.Value(sessionKey{}).(*social.Session); ok {
		*session = social.Session{}
	}
}

// SessionKey identifies a session to code that must know when it ends; "" if signed out.
func SessionKey(ctx context.Context) string {
	session := sessionOf(ctx)
	if session.User.IsZero() {
		return ""
	}
	return KeyOf(session.TokenHash)
}

// KeyOf returns the SessionKey of a token's hash.
func KeyOf(tokenHash [32]byte) string { return hex.EncodeToString(tokenHash[:]) }

func signedIn(ctx context.Context) (social.UserID, error) {
	session := sessionOf(ctx)
	if session.User.IsZero() {
		return social.UserID{}, errUnauthenticated
	}
	return session.User, nil
}

// viewerOf returns the viewer of ctx; the zero id if signed out.
func viewerOf(ctx context.Context) social.UserID { return loaders.For(ctx).Viewer.ID }

// OperationLoaders gives each operation loaders of its own.
func (r *Resolver) OperationLoaders(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	return next(r.withLoaders(ctx))
}

func (r *Resolver) withLoaders(ctx context.Context) context.Context {
	return loaders.Install(ctx, r.newLoaders(ctx, sessionOf(ctx).User))
}
