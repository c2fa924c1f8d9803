package cli

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plaza/internal/plazatest"
)

// TestClosedRegistration: sign-ups fail, whatever the input. People who have an account can
// sign in.
func TestClosedRegistration(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	openSQLite(t, data).Close()
	command, _, stderr := plazatest.Command(t.Context(), data, "user", "add", "ada")
	command.Stdin = strings.NewReader("analytical engine")
	if err := command.Run(); err != nil {
		t.Fatal(err, stderr)
	}
	server := plazatest.StartProcess(t, "--data", data, "--registration=closed", "--drain-delay=0s")
	anyone := plazatest.Person{URL: server.URL(t)}
	for query, want := range map[string]string{
		`{ registration }`: `"registration": "CLOSED"`,
		`mutation { signUp(input: {handle: "bob", name: "Bob", password: "analytical engine"}) { token userErrors { code path } } }`: `"NOT_ALLOWED"`,
		`mutation { signUp(input: {handle: "ada", name: "", password: "x"}) { token userErrors { code path } } }`:                    `"NOT_ALLOWED"`,
		`mutation { signIn(input: {handle: "ada", password: "analytical engine"}) { viewer { user { handle } } } }`:                  `"handle": "ada"`,
		`{ user(handle: "bob") { handle } }`: `"NOT_FOUND"`,
	} {
		if answer := anyone.Raw(t, query); !strings.Contains(answer, want) || strings.Contains(query, "signUp") && !strings.Contains(answer, `"token": null`) {
			t.Errorf("%s: %s", query, answer)
		}
	}
}

// TestRegistrationByInvitation: an operator invites someone while the server runs, who invites
// someone else. The audit log says who came by which invitation, and contains no code.
func TestRegistrationByInvitation(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	server := plazatest.StartProcess(t, "--data", data, "--registration=invitation", "--member-invitations=1", "--drain-delay=0s")
	anyone := plazatest.Person{URL: server.URL(t)}
	plaza := func(args ...string) string {
		t.Helper()
		command, stdout, stderr := plazatest.Command(t.Context(), data, args...)
		if err := command.Run(); err != nil {
			t.Fatalf("plaza %q: %v, %s", args, err, stderr)
		}
		return stdout.String()
	}
	enter := func(handle, code string) string {
		t.Helper()
		return field(anyone.Raw(t, fmt.Sprintf(`mutation { signUp(input: {handle: %q, name: "New", password: "analytical engine", invitation: %q}) { token userErrors { code } } }`, handle, code)), "token")
	}
	created := plaza("invitation", "create")
	code, _, _ := strings.Cut(created, "\n")
	which := regexp.MustCompile(`invitation_\w{26}`).FindString(created)
	ada := plazatest.Person{URL: anyone.URL, Token: enter("ada", code)}
	if ada.Token == "" || enter("eve", code) != "" {
		t.Fatalf("the first invitation does not create one account: %s", created)
	}
	if list := plaza("invitation", "list"); !strings.HasPrefix(list, which+"\t") || !strings.HasSuffix(list, "\t1 of 1\n") {
		t.Errorf("the list is %q", list)
	}
	made := ada.Raw(t, `mutation { createInvitation(input: {expiresInDays: 2}) { code invitation { id } userErrors { code } } }`)
	second, hers := regexp.MustCompile(`invite_\w{26}`).FindString(made), regexp.MustCompile(`invitation_\w{26}`).FindString(made)
	if enter("bob", second) == "" {
		t.Errorf("ada's invitation creates no account: %s", made)
	}
	if list := plaza("invitation", "list", "--by", "ada"); !strings.HasPrefix(list, hers+"\t") {
		t.Errorf("ada's list is %q", list)
	}
	for _, by := range []string{"invitation", "invite"} { // its id, its code
		created := plaza("invitation", "create", "--uses", "2")
		plaza("invitation", "revoke", regexp.MustCompile(by+`_\w{26}`).FindString(created))
		if code, _, _ := strings.Cut(created, "\n"); enter("cyn", code) != "" {
			t.Errorf("an invitation that was revoked by its %s creates an account", by)
		}
	}
	server.Terminate(t)
	log := server.Log.String()
	acts := slices.DeleteFunc(auditOf(t, log), func(r audited) bool { return r.Act == "signed in" })
	if diff := cmp.Diff([]audited{
		{Act: "invitation created", By: "operator", Invitation: which},
		{Act: "account created", By: "user", Handle: "ada", How: "password", Invitation: which},
		{Act: "invitation created", By: "user", Handle: "ada", Invitation: hers},
		{Act: "account created", By: "user", Handle: "bob", How: "password", Invitation: hers},
	}, acts[:min(4, len(acts))]); diff != "" || strings.Contains(log, code) || strings.Contains(log, second) {
		t.Errorf("the audit log (-want +got):\n%s", diff)
	}
}
