package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"plaza/fault"
	"plaza/id"
	"plaza/internal/plazatest"
	"plaza/social"
	"plaza/social/accounts"
	"plaza/social/network"
	"plaza/storage"
	"plaza/storage/sqlite"
)

func TestUserCommands(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	openSQLite(t, data).Close()
	date, identity := `\d{4}-\d\d-\d\d`, `user_\w+`
	for _, c := range []struct {
		args  []string
		stdin string
		out   string // a regular expression
		err   string
	}{
		{[]string{"user", "list"}, "", `There are no users yet: plaza user add HANDLE creates an account.\n`, ""},
		{[]string{"user", "add", "@Ada", "--name", "Ada Lovelace"}, "analytical engine\n", "ada now has an account: " + identity + "\n", ""},
		{[]string{"user", "add", "support"}, "analytical engine\r\nignored", "support now has an account: " + identity + "\n", ""}, // a reserved handle
		{[]string{"user", "add", "ada"}, "analytical engine\n", "", "plaza: handle: This handle is taken.\n"},
		{[]string{"user", "add", "b-b"}, "analytical engine\n", "", "plaza: handle: A handle has 1 to 30 letters (a–z), digits or underscores.\n"},
		{[]string{"user", "add", "bob"}, "", "", "plaza: no password on the standard input: pipe one line into the command, or run it in a terminal\n"},
		{[]string{"user", "add", "bob"}, "not UTF-8: \xff\n", "", "plaza: the password on the standard input is not valid UTF-8\n"},
		{[]string{"user", "add", "bob", "--name", "B\xff"}, "analytical engine", "", "plaza: the argument \"B\\xff\" is not valid UTF-8\n"},
		{[]string{"user", "add", "bob"}, "short", "", "plaza: password: This has 5 characters; at least 8 are needed.\n"},
		{[]string{"user", "list"}, "", "ada\t" + date + "\t" + identity + "\tAda Lovelace\nsupport\t" + date + "\t" + identity + "\tsupport\n", ""},
		{[]string{"user", "password", "ada"}, "difference engine", "ada has a new password, and is signed out everywhere.\n", ""},
		{[]string{"user", "password", "unknown"}, "difference engine", "", "plaza: There is no such user.\n"},
		{[]string{"user", "sign-out", "ADA"}, "", "ada is signed out everywhere.\n", ""},
		{[]string{"user", "suspend", "ada", "--for", "72h", "--reason", "Adverts"}, "", `ada is suspended until \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ.\n`, ""},
		{[]string{"user", "suspend", "ada", "--until", "2099-01-31T12:00:00Z", "--reason", "Adverts"}, "", "", "plaza: --until: A suspension lasts for at most ten years: ban the account instead.\n"},
		{[]string{"user", "suspend", "ada", "--for=-1h", "--reason", "Adverts"}, "", "", "plaza: --for: A suspension needs an end in the future.\n"},
		{[]string{"user", "ban", "ada", "--reason", "  "}, "", "", "plaza: reason: This must not be empty.\n"},
		{[]string{"user", "ban", "@ada", "--reason", "More adverts"}, "", "ada is banned, and signed out everywhere.\n", ""},
		{[]string{"user", "list", "--json"}, "", `.*"handle":"ada".*"standing":"BANNED".*\n.*"standing":"ACTIVE".*\n`, ""},
		{[]string{"user", "ban", "ada", "--reason", "x"}, "", "", "plaza: This account is banned already.\n"},
		{[]string{"user", "reinstate", "ada", "--reason", "Sorry"}, "", "ada is reinstated.\n", ""},
		{[]string{"user", "reinstate", "ada", "--reason", "x"}, "", "", "plaza: This account is neither suspended nor banned.\n"},
		{[]string{"user", "ban", "unknown", "--reason", "x"}, "", "", "plaza: There is no such user.\n"},
		{[]string{"user", "sign-out", "unknown"}, "", "", "plaza: There is no such user.\n"},
	} {
		command, stdout, stderr := plazatest.Command(t.Context(), data, c.args...)
		command.Stdin = strings.NewReader(c.stdin)
		err := command.Run()
		if !regexp.MustCompile(`^`+c.out+`$`).MatchString(stdout.String()) || stderr.String() != c.err || (err == nil) != (c.err == "") {
			t.Errorf("plaza %q: %v, says %q and %q, want %q and %q", c.args, err, stdout, stderr, c.out, c.err)
		}
	}
	st := openSQLite(t, data)
	defer st.Close()
	requireSignIn(t, network.New(st, network.Options{}), map[string]bool{"difference engine": true, "analytical engine": false})
}

// TestReadmit lets a user of another site come back who has deleted the account.
func TestReadmit(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	ada := social.Assertion{Issuer: "https://site.example", Subject: "7", ExpiresAt: time.Now().Add(time.Hour)}
	withSQLite(t, data, func(service *network.Service) {
		session, err := service.AuthenticateAs(t.Context(), "a.b.c", ada)
		if err != nil {
			t.Fatal(err)
		}
		if err := service.DeleteUser(t.Context(), session.User); err != nil {
			t.Fatal(err)
		}
		if _, err := service.AuthenticateAs(t.Context(), "a.b.c", ada); !errors.Is(err, social.ErrAccountGone) {
			t.Errorf("the token of a deleted account: %v", err)
		}
	})
	for _, c := range []struct{ subject, out, err string }{
		{"8", "", "plaza: No account of this user of https://site.example was deleted here.\n"},
		{"7", "The user is readmitted: the next token creates an account.\n", ""},
		{"7", "", "plaza: No account of this user of https://site.example was deleted here.\n"},
	} {
		command, stdout, stderr := plazatest.Command(t.Context(), data, "user", "readmit", ada.Issuer, c.subject)
		if err := command.Run(); stdout.String() != c.out || stderr.String() != c.err || (err == nil) != (c.err == "") {
			t.Errorf("plaza user readmit %s: %v, says %q and %q", c.subject, err, stdout, stderr)
		}
	}
	withSQLite(t, data, func(service *network.Service) {
		if _, err := service.AuthenticateAs(t.Context(), "a.b.c", ada); err != nil {
			t.Errorf("a token of a readmitted user: %v", err)
		}
	})
}

func withSQLite(t *testing.T, data string, do func(*network.Service)) {
	t.Helper()
	st := openSQLite(t, data)
	defer st.Close()
	do(network.New(st, network.Options{}))
}

func openSQLite(t *testing.T, data string) storage.Store {
	t.Helper()
	st, err := sqlite.Open(t.Context(), filepath.Join(data, "plaza.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// requireSignIn signs in as ada with passwords, and checks whether that succeeds.
func requireSignIn(t *testing.T, service *network.Service, passwords map[string]bool) {
	t.Helper()
	for password, want := range passwords {
		if _, _, err := service.SignIn(t.Context(), accounts.Credentials{Handle: "ada", Password: password}); (err == nil) != want {
			t.Errorf("signing in with %q: %v", password, err)
		}
	}
}

// TestListingUsers lists more users than one batch has, in both formats.
func TestListingUsers(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	st := openSQLite(t, data)
	const many = 1003
	users := make([]social.NewUser, many)
	for i := range users {
		user := social.UserID{ID: id.New()}
		users[i] = social.NewUser{
			User:      social.User{ID: user, Handle: fmt.Sprintf("user%d", i), Name: fmt.Sprintf("Name %d", i%7), WallPolicy: social.WallEveryone},
			Following: social.NewBuiltInCircle(user),
		}
	}
	if _, err := st.ImportUsers(t.Context(), users); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	list := func(flags ...string) string {
		command, stdout, stderr := plazatest.Command(t.Context(), data, append([]string{"user", "list"}, flags...)...)
		if err := command.Run(); err != nil {
			t.Fatalf("%v: %s", err, stderr)
		}
		return stdout.String()
	}
	seen := map[string]bool{}
	for line := range strings.Lines(list("--json")) {
		var user struct {
			ID, Handle, Name string
			Rights           []string
			Standing         social.StandingKind
		}
		if err := json.Unmarshal([]byte(line), &user); err != nil || user.ID == "" || user.Name == "" || user.Rights == nil || user.Standing != social.StandingActive {
			t.Fatalf("%q: %v", line, err)
		}
		seen[user.Handle] = true
	}
	if len(seen) != many || strings.Count(list(), "\n") != many {
		t.Errorf("lists %d users, want %d", len(seen), many)
	}
}

// TestOperatorsChangeAccounts: the sessions of a user end when operators set a new password and
// when they sign the user out. Sessions of others stay.
func TestOperatorsChangeAccounts(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		service := network.New(e.Open(t), plazatest.Cheap)
		for _, handle := range []string{"ada", "bob"} {
			if _, err := service.AddUser(t.Context(), accounts.SignUpInput{Handle: handle, Name: handle, Password: "analytical engine"}); err != nil {
				t.Fatal(err)
			}
		}
		signIn := func(handle, password string) string {
			_, token, err := service.SignIn(t.Context(), accounts.Credentials{Handle: handle, Password: password})
			if err != nil {
				t.Fatal(err)
			}
			return token
		}
		others := signIn("bob", "analytical engine")
		for _, c := range []struct {
			password string // with which ada signs in
			act      func() error
		}{
			{"analytical engine", func() error { _, err := service.ReplacePassword(t.Context(), "ada", "difference engine"); return err }},
			{"difference engine", func() error { _, err := service.EndAllSessions(t.Context(), "ada"); return err }},
		} {
			token := signIn("ada", c.password)
			if err := c.act(); err != nil {
				t.Fatal(err)
			}
			if _, err := service.Authenticate(t.Context(), token); err == nil {
				t.Error("ada's session still works")
			}
			if _, err := service.Authenticate(t.Context(), others); err != nil {
				t.Errorf("bob's session: %v", err)
			}
		}
		requireSignIn(t, service, map[string]bool{"difference engine": true, "analytical engine": false})
		_, err := service.AddUser(t.Context(), accounts.SignUpInput{Handle: "Ada", Name: "Ada", Password: "analytical engine"})
		if mistake, ok := errors.AsType[*fault.Error](err); !ok || mistake.Code != fault.CodeTaken {
			t.Errorf("a taken handle: %v", err)
		}
	})
}
