//go:build clients

package clients_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"plaza/internal/plazatest"
	"plaza/issuer"
	"plaza/social/accounts"
)

const clientID = "plaza-web"

// identities are the addresses of an OpenID provider and of a site that issues tokens.
type identities struct{ Provider, Site string }

// startIdentities runs identity.mjs until the test ends.
func startIdentities(t *testing.T) (addresses identities) {
	t.Helper()
	command := exec.Command("node", "identity.mjs") // it ends when its standard input does
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(in.Close(), command.Wait()); err != nil {
			t.Errorf("identity.mjs: %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(line, &addresses); err != nil {
		t.Fatal(err)
	}
	return addresses
}

// answerOf reads an answer that must be OK.
func answerOf(t *testing.T, response *http.Response, err error) []byte {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s answers %s: %s, %v", response.Request.URL, response.Status, body, err)
	}
	return body
}

// idToken signs in with the provider, as a browser does: the authorization code flow with PKCE.
func (i identities) idToken(t *testing.T, secret string) string {
	t.Helper()
	const back = "http://127.0.0.1/back"
	verifier := issuer.NonceOf("43 letters and digits")
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, earlier []*http.Request) error {
		if strings.HasPrefix(r.URL.String(), back) || len(earlier) == 10 {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	ask := url.Values{
		"client_id": {clientID}, "response_type": {"code"}, "scope": {"openid profile"}, "redirect_uri": {back}, "state": {"a state"},
		"nonce": {issuer.NonceOf(secret)}, "code_challenge": {issuer.NonceOf(verifier)}, "code_challenge_method": {"S256"},
	}
	response, err := browser.Get(i.Provider + "/auth?" + ask.Encode())
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	to, err := response.Location()
	if err != nil || to.Query().Get("code") == "" || to.Query().Get("state") != "a state" {
		t.Fatalf("the provider sends the browser to %v, %v", to, err)
	}
	response, err = http.PostForm(i.Provider+"/token", url.Values{
		"grant_type": {"authorization_code"}, "client_id": {clientID}, "code": {to.Query().Get("code")}, "redirect_uri": {back}, "code_verifier": {verifier},
	})
	var tokens struct {
		IDToken string `json:"id_token"`
	}
	if err := json.Unmarshal(answerOf(t, response, err), &tokens); err != nil {
		t.Fatal(err)
	}
	return tokens.IDToken
}

// TestProviderOfALibrary: a user of the library oidc-provider signs in, twice, and has one account.
func TestProviderOfALibrary(t *testing.T) {
	i := startIdentities(t)
	plaza := plazatest.ServeProviders(t, plazatest.Engines[0].Open(t), time.Now, accounts.RegistrationOpen, issuer.Provider{Issuer: i.Provider, ClientID: clientID})
	const operation = `mutation($in: SignInWithIdTokenInput!) { signInWithIdToken(input: $in) { token viewer { user { id handle name } } userErrors { code } } }`
	const secret = "the secret that a sign-in began with"
	var first string
	for range 2 {
		var answer struct {
			SignInWithIDToken struct {
				Token  string
				Viewer struct {
					User struct{ ID, Handle, Name string }
				}
				UserErrors []struct{ Code string }
			}
		}
		plazatest.Person{URL: plaza.URL}.Do(t, operation, map[string]any{"in": map[string]any{"idToken": i.idToken(t, secret), "nonce": secret}}, &answer)
		in := answer.SignInWithIDToken
		if user := in.Viewer.User; in.Token == "" || user.Handle != "mira" || user.Name != "Mira of the provider" || first != "" && user.ID != first {
			t.Fatalf("the sign-in: %+v", in)
		}
		first = in.Viewer.User.ID
	}
	refused := plazatest.Person{URL: plaza.URL}.Raw(t, `mutation { signInWithIdToken(input: {idToken: "`+i.idToken(t, secret)+`", nonce: "the secret of another sign-in, which failed"}) { token userErrors { code } } }`)
	if !strings.Contains(refused, "BAD_CREDENTIALS") {
		t.Errorf("a token with another secret: %s", refused)
	}
}

// TestSiteOfALibrary: a request with a token that the library jose has signed is its user's; one for
// another audience is refused.
func TestSiteOfALibrary(t *testing.T) {
	i := startIdentities(t)
	plaza := plazatest.ServeTrusting(t, plazatest.Engines[0].Open(t), issuer.Options{
		Issuer: i.Site, Audience: "plaza", Algorithms: issuer.Algorithms, Claims: issuer.ClaimNames{Handle: "preferred_username", Name: "name"},
	}, time.Now)
	as := func(subject, audience string) string {
		t.Helper()
		response, err := http.Get(i.Site + "/token?" + url.Values{"sub": {subject}, "aud": {audience}}.Encode())
		return plazatest.Person{URL: plaza.URL, Token: string(answerOf(t, response, err))}.Raw(t, `{ viewer { user { handle name } } }`)
	}
	if answer := as("noor", "plaza"); !strings.Contains(answer, `"handle": "noor"`) || !strings.Contains(answer, "Noor of the site") {
		t.Errorf("a token of the site: %s", answer)
	}
	if answer := as("noor", "another"); !strings.Contains(answer, "UNAUTHENTICATED") {
		t.Errorf("a token for another audience: %s", answer)
	}
}
