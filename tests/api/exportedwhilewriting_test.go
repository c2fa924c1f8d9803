package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"plaza/internal/plazatest"
)

// TestExportsWhileWriting: while others and the user themself write, edit and delete, each export
// has everything from before once, and nothing twice.
func TestExportsWhileWriting(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada, bob := plaza.As(t, "ada"), plaza.As(t, "bob")
		ada.Follow(t, "bob")
		other := bob.Status(t, "by bob", plazatest.Public)
		ada.Comment(t, other, "before")
		ada.Mutate(t, "muteThread", "", map[string]any{"postId": other})
		var old []string
		for i := range 41 { // three pages
			old = append(old, ada.Status(t, fmt.Sprintf("before %d", i), plazatest.Public))
			if i < 3 {
				ada.Mutate(t, "addReaction", "", map[string]any{"postId": old[i], "kind": "LIKE"})
			}
		}
		before := entriesOf(t, linesOf(t, plaza.URL, ada, ""))
		var writers sync.WaitGroup
		for _, write := range []func(i int){
			func(i int) {
				post := ada.Status(t, "new", plazatest.Public)
				ada.Mutate(t, "addReaction", "", map[string]any{"postId": post, "kind": "LIKE"})
				if i%2 == 0 {
					ada.Mutate(t, "deletePost", "", map[string]any{"postId": post})
				}
			},
			func(i int) {
				ada.Mutate(t, "setPostAudience", "", map[string]any{"postId": old[5*i], "audience": map[string]any{"kind": "ONLY_ME"}})
				ada.Mutate(t, "editPost", "", map[string]any{"postId": old[5*i+1], "content": map[string]any{"status": map[string]any{"text": "edited"}}})
			},
			func(int) { ada.Comment(t, other, "new") },
			func(i int) {
				circle := ada.Mutate(t, "createCircle", "circle { id }", map[string]any{"name": fmt.Sprintf("Circle %d", i)})
				ada.Mutate(t, "addToCircle", "", map[string]any{"circleId": circle, "userId": ada.IDOf(t, "bob")})
			},
		} {
			writers.Go(func() {
				for i := range 8 {
					write(i)
				}
			})
		}
		for range 4 {
			during := entriesOf(t, linesOf(t, plaza.URL, ada, ""))
			for entry := range before {
				if during[entry] != 1 {
					t.Errorf("%d times, was there before: %s", during[entry], entry)
				}
			}
			for entry, n := range during {
				if n > 1 {
					t.Errorf("%d times: %s", n, entry)
				}
			}
		}
		writers.Wait()
	})
}

// entriesOf counts the lines of an export by what they are about.
func entriesOf(t *testing.T, lines []exportedLine) map[string]int {
	t.Helper()
	if len(lines) == 0 || lines[len(lines)-1].Type != "end" {
		t.Fatalf("an export without an end: %v", lines)
	}
	entries := map[string]int{}
	for _, line := range lines {
		var about struct{ ID, Kind, CircleID, UserID, PostID string }
		if err := json.Unmarshal([]byte(line.text), &about); err != nil {
			t.Fatal(err)
		}
		entries[strings.Join([]string{line.Type, about.ID, about.Kind, about.CircleID, about.UserID, about.PostID}, " ")]++
	}
	return entries
}
