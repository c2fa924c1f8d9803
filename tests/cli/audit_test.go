package cli

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plaza/internal/app"
	"plaza/internal/plazatest"
	"plaza/issuer/issuertest"
	"plaza/social"
	"plaza/social/accounts"
	"plaza/social/network"
)

// audited is a record of the audit log, as a test expects it.
type audited struct{ Act, By, Handle, How, Issuer, Right, Code, Invitation string }

// auditOf returns the records of the audit log, and checks their ids.
func auditOf(t *testing.T, log string) (records []audited) {
	t.Helper()
	for line := range strings.Lines(log) {
		var r struct {
			audited

			Msg, Level, RequestID, User, Session, AccessToken string
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if r.Msg != "audit" {
			continue
		}
		records = append(records, r.audited)
		isSession := r.Act == "signed in" && r.How != "token of another site" || r.Act == "signed out" || r.Act == "session revoked"
		if r.Level != "INFO" || (r.User == "") != (r.Handle == "") || isSession != strings.HasPrefix(r.Session, "session_") || strings.HasPrefix(r.Act, "access token") != (r.AccessToken != "") {
			t.Errorf("a record is %s", line)
		}
		if (r.RequestID == "") != (r.By == "operator") {
			t.Errorf("the request of a record is %s", line)
		}
	}
	return records
}

// TestAuditLog does all that changes an account, and reads the log: each act is one record, without
// passwords, tokens, texts and addresses.
func TestAuditLog(t *testing.T) {
	t.Parallel()
	site := issuertest.New(t)
	const nonce = "the secret that a sign-in began with"
	server := plazatest.StartProcess(t, "--drain-delay=0s", "--access-log=on",
		"--jwt-issuer="+site.URL, "--jwt-audience="+issuertest.Audience, "--oidc-provider=issuer="+site.URL+",client-id="+issuertest.Audience)
	anyone := plazatest.Person{URL: server.URL(t)}
	secrets := []string{secretPassword, secretText, nonce, "127.0.0.1\""}
	signIn := func(handle, password string) plazatest.Person {
		p := plazatest.Person{URL: anyone.URL}
		p.Token = field(anyone.Raw(t, fmt.Sprintf(`mutation { signIn(input: {handle: %q, password: %q}) { token userErrors { code } } }`, handle, password)), "token")
		secrets = append(secrets, p.Token)
		return p
	}
	ada := signedUp(t, anyone)
	secrets = append(secrets, ada.Token)
	signIn("ADA", secretPassword+"!")
	signIn(secretPassword, "ada")
	phone, tablet := signIn("ADA", secretPassword), signIn("ada", secretPassword)
	session := field(phone.Raw(t, `{ viewer { sessions { isCurrent id } } }`), `isCurrent": true,
          "id`)
	for _, step := range []struct {
		who   plazatest.Person
		query string
	}{
		{ada, fmt.Sprintf(`mutation { revokeSession(input: {sessionId: %q}) { userErrors { code } } }`, session)},
		{tablet, `mutation { signOut { userErrors { code } } }`},
		{ada, `mutation { revokeOtherSessions { userErrors { code } } }`},
		{ada, `mutation { changePassword(input: {currentPassword: "wrong password", newPassword: "` + secretText + `"}) { userErrors { code } } }`},
		{ada, `mutation { changePassword(input: {currentPassword: "` + secretPassword + `", newPassword: "` + secretText + `"}) { userErrors { code } } }`},
		{ada, `mutation { setEmail(input: {email: null, currentPassword: "` + secretText + `"}) { userErrors { code } } }`},
	} {
		if answer := step.who.Raw(t, step.query); strings.Contains(answer, `"errors"`) {
			t.Errorf("%s: %s", step.query, answer)
		}
	}
	made := ada.Raw(t, `mutation { createAccessToken(input: {name: "`+secretText+`", scopes: [READ_FEED], expiresInDays: 1}) { token accessToken { id } userErrors { code } } }`)
	secrets = append(secrets, field(made, "token"))
	ada.Raw(t, fmt.Sprintf(`mutation { revokeAccessToken(input: {accessTokenId: %q}) { userErrors { code } } }`, field(made, "id")))
	ada.Raw(t, `mutation { deleteAccount(input: {password: "`+secretText+`"}) { userErrors { code } } }`)
	enter := func(token string) {
		secrets = append(secrets, token)
		run(t, anyone, `mutation($in: SignInWithIdTokenInput!) { signInWithIdToken(input: $in) { userErrors { code } } }`, map[string]any{"in": map[string]any{"idToken": token, "nonce": nonce}})
	}
	enter(site.IDToken(t, "1", nonce, map[string]any{"preferred_username": "ben"}))
	enter(site.IDToken(t, "1", "another secret", nil))
	for _, subject := range []string{"1", "2"} {
		bearer := plazatest.Person{URL: anyone.URL, Token: site.Token(t, subject, map[string]any{"preferred_username": "eve"})}
		secrets = append(secrets, bearer.Token)
		bearer.Raw(t, `{ viewer { id } }`)
		bearer.Raw(t, `{ viewer { id } }`)
	}
	server.Terminate(t)

	want := []audited{
		{Act: "account created", By: "user", Handle: "ada", How: "password"},
		{Act: "signed in", By: "user", Handle: "ada", How: "password"},
		{Act: "sign-in failed", By: "user", Handle: "ada", How: "password", Code: "BAD_CREDENTIALS"},
		{Act: "sign-in failed", By: "user", How: "password", Code: "BAD_CREDENTIALS"},
		{Act: "signed in", By: "user", Handle: "ada", How: "password"},
		{Act: "signed in", By: "user", Handle: "ada", How: "password"},
		{Act: "session revoked", By: "user", Handle: "ada"},
		{Act: "signed out", By: "user", Handle: "ada"},
		{Act: "other sessions revoked", By: "user", Handle: "ada"},
		{Act: "password refused", By: "user", Handle: "ada", Code: "BAD_CREDENTIALS"},
		{Act: "password changed", By: "user", Handle: "ada"},
		{Act: "e-mail address removed", By: "user", Handle: "ada"},
		{Act: "access token created", By: "user", Handle: "ada"},
		{Act: "access token revoked", By: "user", Handle: "ada"},
		{Act: "account deleted", By: "user", Handle: "ada"},
		{Act: "account created", By: "user", Handle: "ben", How: "ID token", Issuer: site.URL},
		{Act: "signed in", By: "user", Handle: "ben", How: "ID token", Issuer: site.URL},
		{Act: "sign-in failed", By: "user", How: "ID token", Code: "BAD_CREDENTIALS"},
		{Act: "signed in", By: "user", Handle: "ben", How: "token of another site", Issuer: site.URL},
		{Act: "account created", By: "user", Handle: "eve", How: "token of another site", Issuer: site.URL},
		{Act: "signed in", By: "user", Handle: "eve", How: "token of another site", Issuer: site.URL},
	}
	log := server.Log.String()
	if diff := cmp.Diff(want, auditOf(t, log)); diff != "" {
		t.Errorf("the audit log (-want +got):\n%s", diff)
	}
	for _, secret := range secrets {
		if secret != "" && strings.Contains(log, secret) {
			t.Errorf("the log contains %q", secret)
		}
	}
}

// field returns the first text of that name in an answer; "" if there is none.
func field(answer, name string) string {
	_, rest, _ := strings.Cut(answer, `"`+name+`": "`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// TestAuditLogOfOperators: what operators do is recorded as theirs, once.
func TestAuditLogOfOperators(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	options := plazatest.Cheap
	options.Accounts.Audit = app.Audit(slog.New(slog.NewJSONHandler(&log, nil)))
	service := network.New(openSQLite(t, t.TempDir()), options)
	ada, err := service.AddUser(t.Context(), accounts.SignUpInput{Handle: "ada", Name: "Ada", Password: secretPassword})
	if err != nil {
		t.Fatal(err)
	}
	for _, act := range []func() error{
		func() error { _, err := service.GrantRight(t.Context(), "ada", social.RightAdmin); return err },
		func() error { _, err := service.GrantRight(t.Context(), "ada", social.RightAdmin); return err },
		func() error { _, err := service.RevokeRight(t.Context(), "ada", social.RightAdmin); return err },
		func() error { _, err := service.RevokeRight(t.Context(), "ada", social.RightAdmin); return err },
		func() error { _, err := service.ReplacePassword(t.Context(), "ada", secretText); return err },
		func() error { _, err := service.EndAllSessions(t.Context(), "ada"); return err },
		func() error { return service.DeleteUser(t.Context(), ada.ID) },
	} {
		if err := act(); err != nil {
			t.Error(err)
		}
	}
	want := []audited{
		{Act: "account created", By: "operator", Handle: "ada", How: "password"},
		{Act: "right granted", By: "operator", Handle: "ada", Right: "admin"},
		{Act: "right revoked", By: "operator", Handle: "ada", Right: "admin"},
		{Act: "password replaced", By: "operator", Handle: "ada"},
		{Act: "everything revoked", By: "operator", Handle: "ada"},
		{Act: "account deleted", By: "operator", Handle: "ada"},
	}
	if diff := cmp.Diff(want, auditOf(t, log.String())); diff != "" {
		t.Errorf("the audit log (-want +got):\n%s", diff)
	}
	if strings.Contains(log.String(), secretPassword) || strings.Contains(log.String(), secretText) {
		t.Errorf("a password is in the log: %s", log.String())
	}
}

// TestAuditLogOfCommands: a command that opens the database itself records what it does, if asked.
func TestAuditLogOfCommands(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	openSQLite(t, data).Close()
	if out := do(t, data, secretPassword, "user", "add", "ada"); out.ExitCode != 0 || out.Stderr != "" {
		t.Errorf("without the flag: %+v", out)
	}
	out := do(t, data, "", "grant", "admin", "ada", "--audit-log=on")
	want := []audited{{Act: "right granted", By: "operator", Handle: "ada", Right: "admin"}}
	if diff := cmp.Diff(want, auditOf(t, out.Stderr)); diff != "" || out.Stdout != "ada now has the right admin.\n" {
		t.Errorf("%+v: %s", out, diff)
	}
}
