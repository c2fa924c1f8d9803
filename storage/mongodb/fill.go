package mongodb

import (
	"context"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// Fill stores a whole thread at once; see FillAll.
func (s *Store) Fill(ctx context.Context, post social.PostID, comments []*social.Comment) error {
	return s.FillAll(ctx, map[social.PostID][]*social.Comment{post: comments})
}

// FillAll stores whole threads at once, as their layout would have them after so many single comments, and in the order of time: what
// was written at about the same time lies together, whichever thread it belongs to. The posts must be there, and have no
// comments yet. Replies are counted here. It is for load generators and tests. ErrThreadFull: the layout does not take so many.
func (s *Store) FillAll(ctx context.Context, threads map[social.PostID][]*social.Comment) error {
	var all []filling
	var updates []mongo.WriteModel
	var to *mongo.Collection
	var authors []authorDoc
	for post, comments := range threads {
		if len(comments) == 0 {
			continue
		}
		docs := newCommentDocs(comments)
		countReplies(docs)
		latest := slices.Clone(docs[max(0, len(docs)-social.PreviewSize):])
		updates = append(updates, mongo.NewUpdateOneModel().SetFilter(mdb.Doc("_id", post)).
			SetUpdate(mdb.Doc("$set", mdb.Doc("commentCount", len(docs), "latest", latest), "$inc", mdb.Doc("changes", 1))))
		collection, some, err := s.filled(ctx, post, docs)
		if err != nil {
			return err
		}
		to, all, authors = collection, append(all, some...), append(authors, authorsOf(docs)...)
	}
	slices.SortFunc(all, func(a, b filling) int { return a.at.Compare(b.at.ID) })
	if err := insertMany(ctx, to, mdb.Map(all, func(f *filling) any { return f.doc }), filledTogether); err != nil {
		return err
	}
	if t, ok := s.inUse(ctx).threads.read.(bucketThreads); ok {
		if err := insertMany(ctx, t.authors, authors, filledTogether); err != nil {
			return err
		}
	}
	for some := range slices.Chunk(updates, mdb.InBatch) {
		if _, err := s.posts.BulkWrite(ctx, some, options.BulkWrite().SetOrdered(false)); err != nil {
			return err
		}
	}
	return nil
}

// filledTogether is how many documents are stored at once: so many that the write concern's wait stays short beside it.
const filledTogether = 10 * mdb.InBatch

// filling is a document, and the first comment in it.
type filling struct {
	at  social.CommentID
	doc any
}

func countReplies(docs []commentDoc) {
	replies := map[social.CommentID]int{}
	for i := range docs {
		replies[docs[i].Parent]++
	}
	for i := range docs {
		docs[i].Replies = replies[docs[i].ID]
	}
}

// filled are the documents of one thread, and where they go.
func (s *Store) filled(ctx context.Context, post social.PostID, docs []commentDoc) (*mongo.Collection, []filling, error) {
	switch t := s.inUse(ctx).threads.read.(type) {
	case documentThreads:
		return t.comments, mdb.Map(docs, func(d *commentDoc) filling {
			d.Seq = d.ID
			return filling{d.ID, *d}
		}), nil
	case bucketThreads:
		const grown = 70 // percent of a bucket in the tree, which grows in its middle
		partly := bucketLimit{max(1, t.page.comments*grown/100), t.page.bytes}
		buckets, err := t.bucketsOf(post, docs, partly)
		return t.buckets, mdb.Map(buckets, func(b *bucketDoc) filling { return filling{b.Comments[0].ID, *b} }), err
	}
	return nil, nil, fmt.Errorf("no layout is known as %T", s.inUse(ctx).threads.read)
}

// insertMany stores documents, so many of them at once.
func insertMany[D any](ctx context.Context, c *mongo.Collection, docs []D, together int) error {
	for some := range slices.Chunk(docs, together) {
		if _, err := c.InsertMany(ctx, some); err != nil {
			return err
		}
	}
	return nil
}
