package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"plaza/internal/app"
	"plaza/internal/plazatest"
)

// uglyText has what breaks careless writers of JSON Lines.
const uglyText = "\"quotes\\\" <b>&\nnew line\u2028 \U0001F600 \u202eשלום"

// TestWholeExport: everything that a user has made is in the export exactly once, without data of
// others, and each cursor continues it with the same rest.
func TestWholeExport(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada, bob := plaza.As(t, "ada"), plaza.As(t, "bob")
		plaza.As(t, "cy")
		plaza.As(t, "dot")
		want := map[string]int{
			"profile": 1, "circle": 1, "circleMember": 1, "follow": 1, "mute": 1, "block": 1, "post": 23, "comment": 2, "reaction": 2, "end": 1,
		}
		for range want["post"] {
			ada.Status(t, uglyText, plazatest.Public)
		}
		others, hidden := bob.Status(t, "by bob", plazatest.Public), bob.Status(t, "secret of bob", plazatest.Public)
		bob.Comment(t, others, "private words of bob")
		for _, post := range []string{others, hidden} {
			ada.Comment(t, post, uglyText)
			ada.Mutate(t, "addReaction", "", map[string]any{"postId": post, "kind": "LIKE"})
		}
		bob.Mutate(t, "setPostAudience", "", map[string]any{"postId": hidden, "audience": map[string]any{"kind": "ONLY_ME"}})
		ada.Follow(t, "bob")
		ada.Mutate(t, "muteUser", "", map[string]any{"userId": ada.IDOf(t, "cy")})
		ada.Mutate(t, "blockUser", "", map[string]any{"userId": ada.IDOf(t, "dot")})

		lines := linesOf(t, plaza.URL, ada, "")
		checkWholeExport(t, lines, want)
		for i, line := range lines[:len(lines)-1] {
			// The members of lists that are read as a whole may change in between, but did not.
			if rest := linesOf(t, plaza.URL, ada, line.Cursor); !slices.Equal(rest, lines[i+1:]) {
				t.Fatalf("behind line %d, a %s, the export has %d lines, want %d", i, line.Type, len(rest), len(lines)-i-1)
			}
		}
		// What is written meanwhile neither doubles nor hides what was there.
		ada.Status(t, "newer", plazatest.Public)
		first := slices.IndexFunc(lines, func(l exportedLine) bool { return l.Type == "post" })
		if rest := linesOf(t, plaza.URL, ada, lines[first].Cursor); !slices.Equal(rest, lines[first+1:]) {
			t.Error("a newer post changes the rest of an export")
		}
		var operators bytes.Buffer
		if err := app.ExportUser(t.Context(), &operators, plaza.Store, "@Ada", nil); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(operators.String(), "\n"); n != len(lines)+1 {
			t.Errorf("the operator gets %d lines, want %d", n, len(lines)+1)
		}
		refusesChangedCursors(t, plaza, ada, lines)
		refusesExports(t, plaza, ada, bob, lines[0].Cursor)
	})
}

// refusesChangedCursors changes a cursor of a line of each type. Each change makes it invalid.
func refusesChangedCursors(t *testing.T, plaza *plazatest.Plaza, ada plazatest.Person, lines []exportedLine) {
	t.Helper()
	tried := map[string]bool{"end": true} // it has no cursor
	for _, line := range lines {
		if tried[line.Type] {
			continue
		}
		tried[line.Type] = true
		whole := line.Cursor
		for _, changed := range []string{
			whole + "A", whole + "AA", whole + "AAAA", whole + "AAAAAAAA", whole + "=", whole[1:], whole[:len(whole)-1], whole[:len(whole)-4],
			changeAt(whole, len(whole)-3), changeAt(whole, len(whole)-9), changeAt(whole, 4),
		} {
			if status, text := getExport(t, plaza.URL, "Bearer "+ada.Token, changed); status != http.StatusBadRequest || !strings.HasPrefix(text, "INVALID: after") {
				t.Errorf("%d for %s instead of %s, the cursor of a %s", status, changed, whole, line.Type)
			}
		}
	}
}

// changeAt replaces a character of a cursor with another one that cursors may have.
func changeAt(cursor string, i int) string {
	other := "A"
	if cursor[i:i+1] == other {
		other = "B"
	}
	return cursor[:i] + other + cursor[i+1:]
}

func refusesExports(t *testing.T, plaza *plazatest.Plaza, ada, bob plazatest.Person, cursor string) {
	t.Helper()
	for _, c := range []struct {
		authorization, cursor string
		want                  int
	}{
		{"", "", http.StatusUnauthorized},
		{"Bearer x", "", http.StatusUnauthorized},
		{"Bearer " + bob.Token, cursor, http.StatusBadRequest}, // ada's
		{"Bearer " + ada.Token, "x", http.StatusBadRequest},
	} {
		status, text := getExport(t, plaza.URL, c.authorization, c.cursor)
		if status != c.want || status != http.StatusOK && strings.Contains(text, "user_") {
			t.Errorf("%q with the cursor %q: %d, want %d: %s", c.authorization, c.cursor, status, c.want, text)
		}
		if wrongToken := c.authorization == "Bearer x"; wrongToken != strings.HasPrefix(text, "The token is not valid") {
			t.Errorf("%q is answered by %q", c.authorization, text)
		}
		if status == http.StatusBadRequest && !strings.HasPrefix(text, "INVALID: after") {
			t.Errorf("a wrong cursor: %s", text)
		}
	}
	ada.Do(t, "mutation { signOut { userErrors { code } } }", nil, &struct{}{})
	if status, text := getExport(t, plaza.URL, "Bearer "+ada.Token, cursor); status != http.StatusUnauthorized {
		t.Errorf("signed out: %d %s", status, text)
	}
}

type exportedLine struct{ Type, Cursor, text string }

func checkWholeExport(t *testing.T, lines []exportedLine, want map[string]int) {
	t.Helper()
	got, seen := map[string]int{}, map[string]bool{}
	for _, line := range lines {
		got[line.Type]++
		if seen[line.Cursor] {
			t.Errorf("twice: %s", line.text)
		}
		seen[line.Cursor] = true
		var fields struct {
			Text    string
			Content struct{ Text string }
		}
		if err := json.Unmarshal([]byte(line.text), &fields); err != nil {
			t.Fatal(err)
		}
		if line.Type == "post" && fields.Content.Text != uglyText || line.Type == "comment" && fields.Text != uglyText {
			t.Errorf("a text has changed: %s", line.text)
		}
		for _, secret := range []string{"by bob", "secret of bob", "private words", "hash", "password"} {
			if strings.Contains(line.text, secret) {
				t.Errorf("this is in the export: %s", line.text)
			}
		}
	}
	for name, n := range want {
		if got[name] != n {
			t.Errorf("%d lines have the type %s, want %d", got[name], name, n)
		}
	}
	if got["session"] == 0 || got["notificationSetting"] == 0 || lines[len(lines)-1].Type != "end" {
		t.Errorf("types: %v", got)
	}
}

func linesOf(t *testing.T, address string, p plazatest.Person, cursor string) []exportedLine {
	t.Helper()
	status, text := getExport(t, address, "Bearer "+p.Token, cursor)
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, text)
	}
	var lines []exportedLine
	for text := range strings.Lines(text) {
		line := exportedLine{text: text}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		lines = append(lines, line)
	}
	return lines
}

func getExport(t *testing.T, address, authorization, cursor string) (status int, text string) {
	t.Helper()
	return plazatest.Get(t, exportAt(address, cursor), authorization)
}

// exportAt returns the URL of the export after a cursor ("": from the start).
func exportAt(address, cursor string) string {
	if cursor == "" {
		return address + "/export"
	}
	return address + "/export?after=" + url.QueryEscape(cursor)
}
