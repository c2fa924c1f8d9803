package threads

import (
	"strings"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// A post has copies of its newest comments. Since version ShortCopies of posts, they are short:
// without what the post or the rest of the copy says. Since version ShorterCopies, they are also
// without the path, if it follows from the ids. So a page of posts is a fifth shorter.

// ShortCopies and ShorterCopies are the first versions of posts that may have such copies. Servers
// that know only earlier versions cannot read them.
const (
	ShortCopies   = 3
	ShorterCopies = 4
)

// Copies returns the copies of comments for a post of a version.
func Copies(comments []*social.Comment, version int) []Document {
	return CopiesOf(newDocuments(comments), version)
}

// CopiesOf does the same with documents, which may be copies in a post of an earlier version.
func CopiesOf(docs []Document, version int) []Document {
	copies := make([]Document, len(docs)) // an array also if it is empty
	for i, d := range docs {
		d.Seq = social.CommentID{}
		if version >= ShortCopies {
			d = d.short(version)
		}
		copies[i] = d
	}
	return copies
}

// Copied returns the comments that a post has copies of. It completes the short ones.
func Copied(post social.PostID, copies []Document) []*social.Comment {
	return mdb.Map(copies, func(d *Document) *social.Comment {
		d.complete(post)
		return d.Comment()
	})
}

// short leaves out what complete adds.
func (d Document) short(version int) Document {
	d.complete(d.Post)
	if d.Slug == d.lastOfPath() {
		d.Slug = ""
	}
	if version >= ShorterCopies && d.Path == social.PathOf(social.Key(d.TreePath)) {
		d.Path = ""
	}
	if d.TreePath == d.shortTreePath() {
		d.TreePath = ""
	}
	d.Version, d.Post = 0, social.PostID{}
	return d
}

// complete adds what short leaves out.
func (d *Document) complete(post social.PostID) {
	d.Post = post
	if d.TreePath == "" {
		d.TreePath = d.shortTreePath()
	}
	if d.Path == "" {
		d.Path = social.PathOf(social.Key(d.TreePath))
	}
	if d.Slug == "" {
		d.Slug = d.lastOfPath()
	}
}

func (d *Document) lastOfPath() string { return d.Path[strings.LastIndexByte(d.Path, '/')+1:] }

// shortTreePath returns the TreePath of a comment that has at most one ancestor.
func (d *Document) shortTreePath() string {
	if d.Parent.IsZero() {
		return d.ID.ID.String()
	}
	return d.Parent.ID.String() + d.ID.ID.String()
}
