package threads

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/social"
	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/mdb"
)

// Document is a comment: a document of comments, an element of a bucket, or a copy in a post
// ("latest", see copy.go).
type Document struct {
	ID       social.CommentID `bson:"_id"`
	Version  int              `bson:"v,omitempty"`    // not in short copies
	Seq      social.CommentID `bson:"seq,omitempty"`  // the id again: see the indexes of mongodb; not in copies
	Post     social.PostID    `bson:"post,omitempty"` // not in buckets and short copies
	Parent   social.CommentID `bson:"parent,omitempty"`
	Slug     string           `bson:"slug,omitempty"`     // in short copies only if it is not the end of the path
	Path     string           `bson:"path,omitempty"`     // in short copies only if it does not follow from the ids
	TreePath string           `bson:"treePath,omitempty"` // a text: binaries would sort by their length first; in short copies only from the third level on
	Author   social.UserID    `bson:"author,omitempty"`
	Text     string           `bson:"text,omitempty"`
	EditedAt time.Time        `bson:"editedAt,omitempty"`
	Replies  int              `bson:"replies,omitempty"`
	Deleted  bool             `bson:"deleted,omitempty"`
	Hidden   bool             `bson:"hidden,omitempty"` // never in copies
}

// SetField implements mdb.Document.
func (d *Document) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.ID(v, &d.ID.ID)
	case "v":
		r.Int(v, &d.Version)
	case "seq":
		r.ID(v, &d.Seq.ID)
	case "post":
		r.ID(v, &d.Post.ID)
	case "parent":
		r.ID(v, &d.Parent.ID)
	case "slug":
		r.Text(v, &d.Slug)
	case "path":
		r.Text(v, &d.Path)
	case "treePath":
		r.Text(v, &d.TreePath)
	case "author":
		r.ID(v, &d.Author.ID)
	case "text":
		r.Text(v, &d.Text)
	case "editedAt":
		r.Time(v, &d.EditedAt)
	case "replies":
		r.Int(v, &d.Replies)
	case "deleted":
		r.Bool(v, &d.Deleted)
	case "hidden":
		r.Bool(v, &d.Hidden)
	}
}

// Evolve refuses a document of a newer version.
func (d *Document) Evolve() error { return cluster.Versions{}.Known("comments", d.Version) }

func newDocument(c *social.Comment) Document {
	return Document{
		ID: c.ID, Version: mdb.FirstVersion, Post: c.Post, Parent: c.Parent, Slug: c.Slug, Path: c.Path,
		TreePath: string(c.TreePath), Author: c.Author, Text: c.Text, EditedAt: c.EditedAt,
		Replies: c.Replies, Deleted: c.Deleted, Hidden: c.Hidden,
	}
}

func newDocuments(comments []*social.Comment) []Document {
	return mdb.Map(comments, func(c **social.Comment) Document { return newDocument(*c) })
}

// Comment returns the comment as the domain knows it.
func (d *Document) Comment() *social.Comment {
	return &social.Comment{
		ID: d.ID, Post: d.Post, Parent: d.Parent, Slug: d.Slug, Path: d.Path, TreePath: social.Key(d.TreePath),
		Author: d.Author, Text: d.Text, EditedAt: mdb.UTC(d.EditedAt), Replies: d.Replies, Deleted: d.Deleted,
		Hidden: d.Hidden,
	}
}

// live matches only comments that are not tombstones.
func live(filter bson.D) bson.D {
	return append(filter, bson.E{Key: "deleted", Value: mdb.Doc("$exists", false)})
}

// shown matches only comments that are neither tombstones nor hidden.
func shown(filter bson.D) bson.D {
	return append(live(filter), bson.E{Key: "hidden", Value: mdb.Doc("$exists", false)})
}

// hiding is the update that hides a comment, or shows it again, where field leads to it.
func hiding(field string, hide bool) bson.D {
	if hide {
		return mdb.Doc("$set", mdb.Doc(field, true))
	}
	return mdb.Doc("$unset", mdb.Doc(field, 1))
}

// The indexes of documents of one comment, and of entries of authors.
const (
	byAuthor     = "author_seq"
	byPost       = "post_seq"
	byPostTree   = "post_treePath"
	byPostSlug   = "post_slug"
	byPostParent = "post_parent_seq"
)
