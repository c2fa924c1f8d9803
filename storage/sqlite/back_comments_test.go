package sqlite

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plaza/id"
	"plaza/social"
	"plaza/storage/sqlite/internal/sqldb"
)

// TestGoingBackBuriesHiddenComments: versions that can't hide comments have tombstones instead, or
// nothing.
func TestGoingBackBuriesHiddenComments(t *testing.T) {
	t.Parallel()
	path := earlierFile(t, 23)
	store, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ada, err := store.UsersByHandle(t.Context(), []string{"ada"})
	if err != nil || ada["ada"] == nil {
		t.Fatalf("ada is gone: %v", err)
	}
	author := ada["ada"].ID
	p := &social.Post{
		Author: author, WallOwner: author, Audience: social.Audience{Kind: social.AudiencePublic},
		Content: social.Content{Status: &social.Status{Text: "a post"}},
	}
	happened := func(kind social.EventKind) social.Event {
		return social.Event{ID: social.EventID{ID: id.New()}, Kind: kind}
	}
	if err := store.InsertPost(t.Context(), p, happened(social.EventPostCreated)); err != nil {
		t.Fatal(err)
	}
	ids := map[string]*social.Comment{}
	for _, c := range [][2]string{{"root", ""}, {"reply", "root"}, {"buried", "reply"}, {"leaf", "buried"}, {"alone", ""}} {
		own := &social.Comment{Post: p.ID, Author: author, Slug: c[0], Text: c[0]}
		own.ReplyTo(ids[c[1]])
		if err := store.InsertComment(t.Context(), own, happened(social.EventCommentAdded)); err != nil {
			t.Fatal(err)
		}
		ids[c[0]] = own
	}
	if err := store.DeleteComment(t.Context(), ids["buried"].ID, happened(social.EventCommentDeleted)); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	execute(t, path, `UPDATE comments SET hidden = 1 WHERE slug IN ('root', 'leaf', 'alone')`)
	if err := GoBack(t.Context(), path, 23); err != nil {
		t.Fatal(err)
	}
	var left []string
	query(t, path, fmt.Sprintf(`SELECT c.slug, c.text, c.deleted, c.author IS NULL, c.replies, posts.comment_count
		FROM comments AS c JOIN posts ON posts.id = c.post WHERE posts.id = x'%s' ORDER BY c.id`, sqldb.Hex(p.ID)), func(scan sqldb.Scan) {
		var slug, text string
		var deleted, nameless bool
		var replies, count int
		if err := scan(&slug, &text, &deleted, &nameless, &replies, &count); err != nil {
			t.Fatal(err)
		}
		left = append(left, fmt.Sprint(slug, text, deleted, nameless, replies, count))
	})
	want := []string{fmt.Sprint("root", "", true, true, 1, 1), fmt.Sprint("reply", "reply", false, false, 0, 1)}
	if diff := cmp.Diff(want, left); diff != "" {
		t.Errorf("what is left (-want +got):\n%s", diff)
	}
}
