package app

import (
	"net/http"
	"strings"
	"time"

	"plaza/social"
)

// cookies lets browsers sign requests in by a cookie that no script can read, instead of the header
// Authorization. Scripts of other origins cannot use it: the cookie of a request counts only if the
// page that sends it has the server's own origin, or one that --allowed-origin names. "*" names
// none.
type cookies struct {
	name       string
	secure     bool
	protection *http.CrossOriginProtection
}

func newCookies(c *Config) *cookies {
	k := &cookies{name: "plaza-session", protection: http.NewCrossOriginProtection()}
	if strings.HasPrefix(strings.ToLower(c.PublicURL), "https:") {
		k.name, k.secure = "__Host-plaza-session", true
	}
	for _, origin := range c.origins() {
		_ = k.protection.AddTrustedOrigin(origin) // refuses "*", which does not count here
	}
	return k
}

// isFromOwnPage reports whether a request comes from a page that may use the cookie, or not from a
// browser. The protection trusts every GET, but here even reading needs a page of one's own.
func (k *cookies) isFromOwnPage(r *http.Request) bool {
	return k.protection.Check(&http.Request{Method: http.MethodPost, Host: r.Host, Header: r.Header, URL: r.URL}) == nil
}

// token returns the token of a request's cookie; "" if it has none, or must not use it.
func (k *cookies) token(r *http.Request) string {
	cookie, err := r.Cookie(k.name)
	if err != nil || !k.isFromOwnPage(r) {
		return ""
	}
	return cookie.Value
}

// bearer is what a token has before it in the header Authorization.
const bearer = "Bearer "

// signIn adds the token of a request's cookie as the header Authorization. A request that has the
// header keeps it.
func (k *cookies) signIn(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := r.Cookie(k.name); err == nil { // a cache must not answer the own page as it did a foreign one
			w.Header().Add("Vary", "Sec-Fetch-Site, Origin")
		}
		if r.Header.Get("Authorization") == "" {
			if token := k.token(r); token != "" {
				r = r.Clone(r.Context())
				r.Header.Set("Authorization", bearer+token)
			}
		}
		next.ServeHTTP(w, r)
	})
}

// set stores a token in the browser for as long as a session can last. The server decides when the
// session ends.
func (k *cookies) set(w http.ResponseWriter, token string) {
	http.SetCookie(w, k.cookie(token, int(social.MaxSessionLifetime/time.Second)))
}

// clear removes the token from the browser.
func (k *cookies) clear(w http.ResponseWriter) { http.SetCookie(w, k.cookie("", -1)) }

func (k *cookies) cookie(token string, maxAge int) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // without TLS a Secure cookie would not come back
		Name: k.name, Value: token, Path: "/", MaxAge: maxAge, Secure: k.secure, HttpOnly: true, SameSite: http.SameSiteStrictMode,
	}
}
