package threads

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// listAuthors makes the entries of all live comments in buckets of a version that had no entries.
func (t inBuckets) listAuthors(ctx context.Context, buckets *mongo.Collection) error {
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

func (t inBuckets) addAuthors(ctx context.Context, comments []Document) error {
	_, err := t.authors.InsertMany(ctx, authorsOf(comments))
	return err
}

func (t inBuckets) removeAuthor(ctx context.Context, c *Document) error {
	_, err := t.authors.DeleteOne(ctx, mdb.Doc("_id", c.ID, "author", c.Author))
	return err
}

func (t inBuckets) removeAuthors(ctx context.Context, post social.PostID) error {
	_, err := t.authors.DeleteMany(ctx, mdb.Doc("post", post), options.DeleteMany().SetHint(byPost))
	return err
}

func (t inBuckets) CountBy(ctx context.Context, author social.UserID, upTo social.CommentID) (int, error) {
	return countUpTo(ctx, t.authors, author, upTo)
}

// By reads the entries of the authors, and then the comments themselves: two commands. It reads on
// to replace comments that were deleted between the two, because a page that is not full means that
// the list has ended.
func (t inBuckets) By(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Comment, error) {
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

// partialList is a page of an author's comments that is being filled.
type partialList struct {
	list  social.List[social.UserID]
	rest  social.Page
	read  []*social.Comment
	ended bool
}

func (t inBuckets) advanceLists(ctx context.Context, open []*partialList) error {
	queries := make([]mdb.ListQuery, len(open))
	for i, p := range open {
		queries[i] = writtenBy(mdb.Doc("author", p.list.Of), p.rest)
	}
	pages, err := mdb.ReadLists[authorDoc](ctx, t.authors, queries)
	if err != nil {
		return err
	}
	ids := []social.CommentID{{}} // an id of no comment, so that an empty list takes as long as one whose comments are hidden
	for _, page := range pages {
		ids = append(ids, mdb.Map(page, func(d *authorDoc) social.CommentID { return d.ID })...)
	}
	docs, err := t.ByID(ctx, ids)
	if err != nil {
		return err
	}
	comments := make(map[social.CommentID]*social.Comment, len(docs))
	for i := range docs {
		if !docs[i].Deleted {
			comments[docs[i].ID] = docs[i].Comment()
		}
	}
	for i, p := range open {
		p.add(pages[i], comments)
	}
	return nil
}

// add takes what was read of a page, and notes what is still missing.
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
