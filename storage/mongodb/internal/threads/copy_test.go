package threads

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/mdbtest"
)

// branchOf returns a comment, a reply to it, a reply to that, and so on, with the slugs that SetID
// gives, or else with these.
func branchOf(post social.PostID, depth int, slugs ...string) []*social.Comment {
	var branch []*social.Comment
	for level := range depth {
		c := &social.Comment{Post: post, Author: social.UserID{ID: id.New()}, Text: "text"}
		if level < len(slugs) {
			c.Slug = slugs[level]
		}
		if level > 0 {
			c.ReplyTo(branch[level-1])
		}
		c.SetID(social.CommentID{ID: id.New()})
		branch = append(branch, c)
	}
	return branch
}

// TestCopiesMeanTheSame in full and short, at each depth, with slugs that follow from the ids and
// with others, also of the parent alone, and with a slug that is not in the path. Copies of an
// earlier version may be copied again.
func TestCopiesMeanTheSame(t *testing.T) {
	t.Parallel()
	post := social.PostID{ID: id.New()}
	comments := slices.Concat(branchOf(post, 5), branchOf(post, 4, "a", "b", "c", "d"), branchOf(post, 3, "a"))
	comments[3].Slug, comments[4].Replies = "another", 7
	for first := ShortCopies - 1; first <= ShorterCopies; first++ {
		for second := first; second <= ShorterCopies; second++ {
			again := CopiesOf(stored(t, Copies(comments, first)), second)
			if diff := cmp.Diff(comments, Copied(post, stored(t, again))); diff != "" {
				t.Errorf("versions %d and %d (-comments +copies):\n%s", first, second, diff)
			}
			if again := fieldsOf(t, again); first >= ShortCopies && !cmp.Equal(again, fieldsOf(t, Copies(comments, second))) {
				t.Errorf("copies of version %d that are copied to version %d have the fields %q", first, second, again)
			}
		}
	}
}

// stored returns what can be read after the copies were written.
func stored(t *testing.T, copies []Document) []Document {
	t.Helper()
	read := make([]Document, len(copies))
	for i := range copies {
		if err := mdbtest.Read(mdbtest.Encode(t, &copies[i]), &read[i]); err != nil {
			t.Fatal(err)
		}
	}
	return read
}

func fieldsOf(t *testing.T, copies []Document) [][]string {
	t.Helper()
	return mdb.Map(copies, func(d *Document) []string {
		elements, err := bson.Raw(mdbtest.Encode(t, d)).Elements()
		if err != nil {
			t.Fatal(err)
		}
		return mdb.Map(elements, func(e *bson.RawElement) string { return e.Key() })
	})
}

// TestShortCopiesAreShort: most comments reply to the post or to such a comment. A slug that SetID
// did not give needs the path.
func TestShortCopiesAreShort(t *testing.T) {
	t.Parallel()
	post := social.PostID{ID: id.New()}
	for _, test := range []struct {
		version int
		slugs   []string
		want    [][]string
	}{
		{ShortCopies, nil, [][]string{{"_id", "path", "author", "text"}, {"_id", "parent", "path", "author", "text"}, {"_id", "parent", "path", "treePath", "author", "text"}}},
		{ShorterCopies, nil, [][]string{{"_id", "author", "text"}, {"_id", "parent", "author", "text"}, {"_id", "parent", "treePath", "author", "text"}}},
		{ShorterCopies, []string{"a"}, [][]string{{"_id", "path", "author", "text"}, {"_id", "parent", "path", "author", "text"}}},
	} {
		got := fieldsOf(t, Copies(branchOf(post, len(test.want), test.slugs...), test.version))
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("version %d, slugs %q: the fields of short copies (-want +got):\n%s", test.version, test.slugs, diff)
		}
	}
}
