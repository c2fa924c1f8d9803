package mongodb

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// authorDoc is a document of commentAuthors: who wrote a live comment that lies in a bucket. An index over the buckets themselves
// could not list an author's comments by time: they lie in buckets of many posts.
type authorDoc struct {
	ID      social.CommentID `bson:"_id"`
	Version int              `bson:"v"`
	Seq     social.CommentID `bson:"seq"` // the id again: see indexes
	Author  social.UserID    `bson:"author"`
	Post    social.PostID    `bson:"post"`
}

func (d *authorDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.ID(v, &d.ID.ID)
	case "v":
		r.Int(v, &d.Version)
	case "seq":
		r.ID(v, &d.Seq.ID)
	case "author":
		r.ID(v, &d.Author.ID)
	case "post":
		r.ID(v, &d.Post.ID)
	}
}

// authorsIn is a layout's collection of who wrote what.
func authorsIn(db *mongo.Database, layout string) *mongo.Collection {
	return db.Collection(allAuthors + "." + layout)
}

const allAuthors = "commentAuthors"

func authorIndexes() []mongo.IndexModel {
	return []mongo.IndexModel{
		mdb.Index(byAuthor, mdb.Doc("author", 1, "seq", -1)),
		mdb.Index(byPost, mdb.Doc("post", 1, "seq", 1)),
	}
}

func newAuthorDoc(c *commentDoc) authorDoc {
	return authorDoc{ID: c.ID, Version: mdb.FirstVersion, Seq: c.ID, Author: c.Author, Post: c.Post}
}

// authorsOf are the entries of a thread's live comments.
func authorsOf(comments []commentDoc) []authorDoc {
	var authors []authorDoc
	for i := range comments {
		if !comments[i].Deleted {
			authors = append(authors, newAuthorDoc(&comments[i]))
		}
	}
	return authors
}

// listAuthors makes the entries of all live comments in buckets that are older than entries are.
func (t bucketThreads) listAuthors(ctx context.Context, buckets *mongo.Collection) error {
	cursor, err := buckets.Aggregate(ctx, bson.A{
		mdb.Doc("$match", mdb.Doc("main", true)),
		mdb.Doc("$unwind", "$comments"),
		mdb.Doc("$match", mdb.Doc("comments.deleted", mdb.Doc("$exists", false))),
		mdb.Doc("$project", mdb.Doc("_id", "$comments._id", "v", mdb.Doc("$literal", mdb.FirstVersion), "seq", "$comments._id",
			"author", "$comments.author", "post", "$post")),
		mdb.Doc("$merge", t.authors.Name()),
	})
	if err != nil {
		return err
	}
	return cursor.Close(ctx)
}

func (t bucketThreads) addAuthors(ctx context.Context, comments []commentDoc) error {
	_, err := t.authors.InsertMany(ctx, authorsOf(comments))
	return err
}

func (t bucketThreads) removeAuthor(ctx context.Context, c *commentDoc) error {
	_, err := t.authors.DeleteOne(ctx, mdb.Doc("_id", c.ID, "author", c.Author))
	return err
}

func (t bucketThreads) removeAuthors(ctx context.Context, post social.PostID) error {
	_, err := t.authors.DeleteMany(ctx, mdb.Doc("post", post), options.DeleteMany().SetHint(byPost))
	return err
}

// writtenBy lists what an author wrote, newest first.
func writtenBy(filter bson.D, page social.Page) mdb.ListQuery {
	return mdb.ListQuery{Filter: filter, Key: "seq", Value: mdb.IDKey, Desc: true, Hint: byAuthor, Page: page}
}

// upToID matches an author's entries with ids up to one.
func upToID(author social.UserID, upTo social.CommentID) bson.D {
	return mdb.Doc("author", author, "seq", mdb.Doc("$lte", upTo))
}

func countUpTo(ctx context.Context, c *mongo.Collection, author social.UserID, upTo social.CommentID) (int, error) {
	n, err := c.CountDocuments(ctx, upToID(author, upTo), options.Count().SetHint(byAuthor))
	return int(n), err
}

func (t documentThreads) by(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Comment, error) {
	query := func(list social.List[social.UserID]) mdb.ListQuery {
		return writtenBy(mdb.Doc("author", list.Of), list.Page)
	}
	return mdb.Pages(ctx, t.comments, lists, query, (*commentDoc).comment)
}

func (t documentThreads) countBy(ctx context.Context, author social.UserID, upTo social.CommentID) (int, error) {
	return countUpTo(ctx, t.comments, author, upTo)
}

func (t bucketThreads) countBy(ctx context.Context, author social.UserID, upTo social.CommentID) (int, error) {
	return countUpTo(ctx, t.authors, author, upTo)
}

// by reads what the authors wrote, and then the comments themselves: two commands. What was deleted between the two is made up
// for by reading on, for a page that is not full says that the list has ended.
func (t bucketThreads) by(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Comment, error) {
	answer := make(map[social.List[social.UserID]][]*social.Comment, len(lists))
	open := make([]*partialList, len(lists))
	for i, list := range lists {
		open[i] = &partialList{list: list, rest: list.Page}
	}
	for len(open) > 0 {
		if err := t.advanceLists(ctx, open); err != nil {
			return nil, err
		}
		var next []*partialList
		for _, p := range open {
			answer[p.list] = p.read
			if !p.ended {
				next = append(next, p)
			}
		}
		open = next
	}
	return answer, nil
}

// partialList is a page of what somebody wrote on its way to being full.
type partialList struct {
	list  social.List[social.UserID]
	rest  social.Page
	read  []*social.Comment
	ended bool
}

func (t bucketThreads) advanceLists(ctx context.Context, open []*partialList) error {
	queries := make([]mdb.ListQuery, len(open))
	for i, p := range open {
		queries[i] = writtenBy(mdb.Doc("author", p.list.Of), p.rest)
	}
	pages, err := mdb.ReadLists[authorDoc](ctx, t.authors, queries)
	if err != nil {
		return err
	}
	ids := []social.CommentID{{}} // nobody's: to find nothing takes as long as to find what is hidden afterwards
	for _, page := range pages {
		ids = append(ids, mdb.Map(page, func(d *authorDoc) social.CommentID { return d.ID })...)
	}
	docs, err := t.byID(ctx, ids)
	if err != nil {
		return err
	}
	comments := make(map[social.CommentID]*social.Comment, len(docs))
	for i := range docs {
		if !docs[i].Deleted {
			comments[docs[i].ID] = docs[i].comment()
		}
	}
	for i, p := range open {
		p.add(pages[i], comments)
	}
	return nil
}

// add takes what was read of a page, and says what of it is missing.
func (p *partialList) add(page []authorDoc, comments map[social.CommentID]*social.Comment) {
	var some []*social.Comment
	for i := range page {
		if c := comments[page[i].ID]; c != nil {
			some = append(some, c)
		}
	}
	p.ended = len(page) < p.rest.Limit || len(some) == p.rest.Limit
	p.rest.Limit -= len(some)
	if p.rest.Last {
		p.read = append(some, p.read...)
	} else {
		p.read = append(p.read, some...)
	}
	switch {
	case len(page) == 0:
	case p.rest.Last:
		p.rest.Before = social.Key(page[0].ID.Bytes())
	default:
		p.rest.After = social.Key(page[len(page)-1].ID.Bytes())
	}
}
