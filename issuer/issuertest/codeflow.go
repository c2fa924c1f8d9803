package issuertest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"plaza/issuer"
)

// codeFlow is the authorization code flow with PKCE (RFC 6749, section 4.1; RFC 7636), for the client
// Audience. Its user, mira, is always signed in.
type codeFlow struct {
	site *Site
	t    testing.TB

	mu    sync.Mutex
	begun map[string]url.Values // by code
}

// authorize sends the browser back with a code.
func (f *codeFlow) authorize(w http.ResponseWriter, r *http.Request) {
	asked := r.URL.Query()
	back, err := url.Parse(asked.Get("redirect_uri"))
	isOpenID := strings.Contains(" "+asked.Get("scope")+" ", " openid ")
	if err != nil || !isOpenID || asked.Get("client_id") != Audience || asked.Get("response_type") != "code" || asked.Get("code_challenge_method") != "S256" {
		http.Error(w, "invalid_request", http.StatusBadRequest)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	code := "code for " + asked.Get("code_challenge")
	f.begun[code] = asked
	back.RawQuery = url.Values{"code": {code}, "state": {asked.Get("state")}}.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound) //nolint:gosec // a test says where to
}

// token exchanges a code for an ID token.
func (f *codeFlow) token(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	begun := f.begun[r.FormValue("code")]
	delete(f.begun, r.FormValue("code"))
	// A challenge is computed as a nonce is.
	if begun == nil || r.FormValue("grant_type") != "authorization_code" || r.FormValue("client_id") != Audience ||
		r.FormValue("redirect_uri") != begun.Get("redirect_uri") || issuer.NonceOf(r.FormValue("code_verifier")) != begun.Get("code_challenge") {
		http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
		return
	}
	token := f.site.Token(f.t, "mira", map[string]any{"nonce": begun.Get("nonce"), "azp": Audience, "preferred_username": "mira", "name": "Mira"})
	if err := json.NewEncoder(w).Encode(map[string]string{"id_token": token, "access_token": "opaque", "token_type": "Bearer"}); err != nil {
		f.t.Error(err)
	}
}
