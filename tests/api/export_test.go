package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"plaza/internal/app"
	"plaza/internal/plazatest"
)

// pageOfExport is how many comments an export reads at a time.
const pageOfExport = 100

// TestExport writes more comments than one page of an export has, some of which their author may no
// longer see. The author downloads the visible ones, and the operator all of them.
func TestExport(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada, bob := plaza.As(t, "ada"), plaza.As(t, "bob")
		post, hidden := ada.Status(t, "one", plazatest.Public), ada.Status(t, "two", plazatest.Public)
		bob.Comment(t, hidden, "on what will be hidden")
		for i := range pageOfExport + 3 {
			bob.Comment(t, post, fmt.Sprintf("<%d>\n\u2028", i))
		}
		ada.Comment(t, post, "by another user")
		ada.Mutate(t, "setPostAudience", "", map[string]any{"postId": hidden, "audience": map[string]any{"kind": "ONLY_ME"}})

		status, own := download(t, plaza.URL, "Bearer "+bob.Token)
		if status != http.StatusOK {
			t.Fatalf("status %d: %s", status, own)
		}
		checkExport(t, own, pageOfExport+3, post)
		var all bytes.Buffer
		if err := app.ExportComments(t.Context(), &all, plaza.Store, "@Bob"); err != nil {
			t.Fatal(err)
		}
		if lines := strings.Split(strings.TrimSpace(all.String()), "\n"); len(lines) != pageOfExport+4 || !strings.Contains(lines[pageOfExport+3], "hidden") {
			t.Errorf("the operator gets %d lines", len(lines))
		}
		if err := app.ExportComments(t.Context(), io.Discard, plaza.Store, "unknown"); err == nil {
			t.Error("an export of an unknown user succeeded")
		}
		for _, authorization := range []string{"", "Bearer x", "Basic x"} {
			if status, text := download(t, plaza.URL, authorization); status != http.StatusUnauthorized || strings.Contains(text, "comment_") {
				t.Errorf("with %q: status %d: %s", authorization, status, text)
			}
		}
	})
}

func download(t *testing.T, url, authorization string) (status int, text string) {
	t.Helper()
	return plazatest.Get(t, url+"/export/comments", authorization)
}

func checkExport(t *testing.T, text string, n int, post string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) != n {
		t.Fatalf("%d lines, want %d", len(lines), n)
	}
	for i, line := range lines {
		var c struct {
			PostID, ParentID, Slug, Path, Text string
			CreatedAt                          time.Time
			EditedAt                           *time.Time
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatalf("line %d: %v", i, err)
		}
		if want := fmt.Sprintf("<%d>\n\u2028", n-1-i); c.Text != want || c.PostID != post || c.Path != c.Slug || c.CreatedAt.IsZero() || c.ParentID != "" || c.EditedAt != nil {
			t.Fatalf("line %d: %+v, want the text %q", i, c, want)
		}
	}
}
