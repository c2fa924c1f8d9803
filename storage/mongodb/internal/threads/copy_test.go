package threads

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/mdbtest"
)

// branchOf returns a comment, a reply to it, a reply to that, and so on.
func branchOf(post social.PostID, depth int) []*social.Comment {
	var branch []*social.Comment
	for level := range depth {
		c := &social.Comment{Post: post, Slug: "slug" + string(rune('0'+level)), Author: social.UserID{ID: id.New()}, Text: "text"}
		c.Path = c.Slug
		if level > 0 {
			parent := branch[level-1]
			c.Parent, c.TreePath, c.Path = parent.ID, parent.TreePath, parent.Path+"/"+c.Slug
		}
		c.SetID(social.CommentID{ID: id.New()})
		branch = append(branch, c)
	}
	return branch
}

// TestCopiesMeanTheSame in full and short, at each depth, and with a slug that is not in the path.
func TestCopiesMeanTheSame(t *testing.T) {
	t.Parallel()
	post := social.PostID{ID: id.New()}
	comments := branchOf(post, 5)
	comments[3].Slug, comments[4].Replies = "another", 7
	for version := ShortCopies - 1; version <= ShortCopies; version++ {
		copies := make([]Document, len(comments))
		for i, d := range Copies(comments, version) {
			if err := mdbtest.Read(mdbtest.Encode(t, &d), &copies[i]); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(comments, Copied(post, copies)); diff != "" {
			t.Errorf("version %d (-comments +copies):\n%s", version, diff)
		}
	}
}

// TestShortCopiesAreShort: most comments reply to the post or to such a comment.
func TestShortCopiesAreShort(t *testing.T) {
	t.Parallel()
	comments := branchOf(social.PostID{ID: id.New()}, 3)
	for i, want := range [][]string{{"_id", "path", "author", "text"}, {"_id", "parent", "path", "author", "text"}, {"_id", "parent", "path", "treePath", "author", "text"}} {
		elements, err := bson.Raw(mdbtest.Encode(t, &Copies(comments, ShortCopies)[i])).Elements()
		if err != nil {
			t.Fatal(err)
		}
		got := mdb.Map(elements, func(e *bson.RawElement) string { return e.Key() })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("level %d: the fields of a short copy (-want +got):\n%s", i+1, diff)
		}
	}
}
