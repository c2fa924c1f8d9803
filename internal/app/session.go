package app

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"plaza/fault"
	"plaza/live"
	"plaza/resolvers/gate"
	"plaza/social/network"
)

// sessionPath is the path of sessionCookie.
const sessionPath = "/session"

// maxCookieToken is how long a token in a cookie may be, in bytes. Browsers keep cookies of up to
// 4,096 bytes (RFC 6265, section 6.1) and silently drop longer ones.
const maxCookieToken = 3800

// sessionCookie is a handler. POST moves the session of the request's token into a cookie. DELETE
// ends the sessions of the request's cookie and token, and removes the cookie. A token of another
// site stays valid until it expires: DELETE only removes the cookie.
type sessionCookie struct {
	service      *network.Service
	hub          *live.Hub
	authenticate authenticator
	cookies      *cookies
}

// ServeHTTP implements http.Handler. 204: done; 401: the token is not that of a session; 403: the
// request comes from a page of another origin, or the token is a program's, or is too long for a
// cookie; 503: try again.
func (s *sessionCookie) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case r.Method != http.MethodPost && r.Method != http.MethodDelete:
		w.Header().Set("Allow", "POST, DELETE")
		http.Error(w, "POST sets the cookie of a session, DELETE ends the session.", http.StatusMethodNotAllowed)
	case !s.cookies.isFromOwnPage(r):
		http.Error(w, "Pages of this origin may not use cookies: the server must allow the origin by name.", http.StatusForbidden)
	case r.Method == http.MethodPost:
		s.keep(w, r)
	default:
		s.end(w, r)
	}
}

func (s *sessionCookie) keep(w http.ResponseWriter, r *http.Request) {
	authorization := r.Header.Get("Authorization")
	ctx, err := s.authenticate(r.Context(), authorization)
	switch {
	case err != nil || gate.UserOf(ctx).IsZero():
		refuseSignedOut(w, err)
		return
	case gate.SessionOf(ctx).Grant != nil:
		http.Error(w, "An access token is for programs: sign in.", http.StatusForbidden)
		return
	}
	token, _ := gate.TokenOf(authorization) // it has one: it was authenticated
	if len(token) > maxCookieToken {
		http.Error(w, "The token is too long for a cookie: send it in the header Authorization.", http.StatusForbidden)
		return
	}
	s.cookies.set(w, token)
	w.WriteHeader(http.StatusNoContent)
}

func (s *sessionCookie) end(w http.ResponseWriter, r *http.Request) {
	if err := s.signOut(r); err != nil {
		refuseSignedOut(w, err) // with the cookie the browser would lose a session that goes on
		return
	}
	s.cookies.clear(w)
	w.WriteHeader(http.StatusNoContent)
}

// signOut ends the session of a request's token, and that of its cookie, which is about to go. They
// are the same unless the request brings a token of its own.
func (s *sessionCookie) signOut(r *http.Request) error {
	authorizations := []string{r.Header.Get("Authorization")}
	if kept := s.cookies.token(r); kept != "" {
		authorizations = append(authorizations, bearer+kept)
	}
	for _, authorization := range slices.Compact(authorizations) {
		if err := s.signOutOf(r.Context(), authorization); err != nil && !isRefused(err) {
			return err
		}
	}
	return nil
}

// signOutOf ends the session of an Authorization header, if it has one. An access token is not
// ended, and neither is a token of another site, which Plaza can't end.
func (s *sessionCookie) signOutOf(ctx context.Context, authorization string) error {
	ctx, err := s.authenticate(ctx, authorization)
	session := gate.SessionOf(ctx)
	if err != nil || session.User.IsZero() || session.Grant != nil || session.IsIssued() {
		return err
	}
	if err := s.service.SignOut(ctx, session); err != nil {
		return err
	}
	s.hub.EndSession(session.TokenHash)
	return nil
}

// refuseSignedOut refuses a request that needs a session, and has none or, as err says, could not be
// authenticated.
func refuseSignedOut(w http.ResponseWriter, err error) {
	if err != nil && !isRefused(err) {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "The database is not responding; try again.", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	reason := "Sign in first: send the header Authorization: Bearer <token>."
	if refused, ok := errors.AsType[*fault.Error](err); ok {
		reason = refused.Message
	}
	http.Error(w, reason, http.StatusUnauthorized)
}

// isRefused reports whether a session or token is not valid, or not any more.
func isRefused(err error) bool {
	refused, ok := errors.AsType[*fault.Error](err)
	return ok && refused.Code == fault.CodeUnauthenticated
}
