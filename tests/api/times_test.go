package api

import (
	"fmt"
	"testing"
	"time"

	"plaza/id"
	"plaza/internal/plazatest"
	"plaza/social"
)

// TestListOfOneMonth reads one month of a user's posts, page by page. hasNextPage refers to the
// month, but the cursors belong to the whole list.
func TestListOfOneMonth(t *testing.T) {
	t.Parallel()
	plaza := plazatest.Start(t, plazatest.Engines[0])
	ada := plaza.As(t, "ada")
	author, err := social.ParseUserID(ada.IDOf(t, "ada"))
	if err != nil {
		t.Fatal(err)
	}
	writeThreeMonths(t, plaza, author)
	const february = `since: "2025-02-01T00:00:00Z", until: "2025-03-01T00:00:00Z"`
	read := func(bounds, what string, want ...string) (start, end string) {
		t.Helper()
		return readPosts(t, ada, bounds, what, want)
	}
	after := func(cursor string) string { return fmt.Sprintf(", after: %q", cursor) }
	before := func(cursor string) string { return fmt.Sprintf(", before: %q", cursor) }

	newest, oldest := read("first: 9", "everything", "Mar 31", "Mar 15", "Mar 1", "Feb 28", "Feb 15", "Feb 1", "Jan 31", "Jan 15", "Jan 1", "next false, previous false")
	read(february, "February", "Feb 28", "Feb 15", "Feb 1", "next false, previous false")
	_, end := read(february+", first: 2", "a page", "Feb 28", "Feb 15", "next true, previous false")
	read(february+", first: 2"+after(end), "the next page", "Feb 1", "next false, previous true")
	start, _ := read(february+", last: 2", "the last page", "Feb 15", "Feb 1", "next false, previous true")
	read(february+", last: 2"+before(start), "the page before", "Feb 28", "next true, previous false")
	read("first: 2"+after(end), "a cursor of February in the whole list", "Feb 1", "Jan 31", "next true, previous true")
	read(february+after(newest), "behind a cursor that is later than February", "Feb 28", "Feb 15", "Feb 1", "next false, previous false")
	read(february+after(oldest), "behind a cursor that is earlier", "next false, previous true")
	read(february+", last: 9"+before(oldest), "before a cursor that is earlier", "Feb 28", "Feb 15", "Feb 1", "next false, previous false")
	read(february+", last: 9"+before(newest), "before a cursor that is later", "next true, previous false")
}

// writeThreeMonths creates posts at the first moment, on the 15th and at the last moment of
// January, February and March.
func writeThreeMonths(t *testing.T, plaza *plazatest.Plaza, author social.UserID) {
	t.Helper()
	for month := range time.Month(3) {
		for _, at := range []time.Time{
			time.Date(2025, 1+month, 1, 0, 0, 0, 0, time.UTC),
			time.Date(2025, 1+month, 15, 0, 0, 0, 0, time.UTC),
			time.Date(2025, 2+month, 1, 0, 0, 0, -1e6, time.UTC),
		} {
			p := &social.Post{
				ID: social.PostID{ID: id.At(at)}, Author: author, WallOwner: author, Audience: social.Audience{Kind: social.AudiencePublic},
				Content: social.Content{Status: &social.Status{Text: at.Format("Jan 2")}},
			}
			if err := plaza.Store.InsertPost(t.Context(), p, social.Event{Kind: social.EventPostCreated, Post: p.ID}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// readPosts checks a page of ada's posts, and whether there are more.
func readPosts(t *testing.T, ada plazatest.Person, bounds, what string, want []string) (start, end string) {
	t.Helper()
	var data struct {
		User struct {
			Posts struct {
				Nodes    []struct{ Text string }
				PageInfo struct {
					StartCursor, EndCursor       string
					HasNextPage, HasPreviousPage bool
				}
			}
		}
	}
	ada.Do(t, `{ user(handle: "ada") { posts(`+bounds+`) { nodes { text } pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } } }`, nil, &data)
	posts := data.User.Posts
	var got []string
	for _, node := range posts.Nodes {
		got = append(got, node.Text)
	}
	got = append(got, fmt.Sprintf("next %t, previous %t", posts.PageInfo.HasNextPage, posts.PageInfo.HasPreviousPage))
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
	return posts.PageInfo.StartCursor, posts.PageInfo.EndCursor
}
