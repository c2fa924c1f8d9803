package threads

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// Fill stores whole threads in the form that they would have if each comment had been inserted by
// itself, in the order of time: documents that were written at about the same time are next to each
// other, whichever thread they belong to. The posts must exist, and have no comments yet. Fill
// counts the replies. Load generators and tests use it. It returns ErrThreadFull if a thread does
// not fit into the layout.
func (t *Threads) Fill(ctx context.Context, threads map[social.PostID][]*social.Comment) error {
	var all filling
	var updates []mongo.WriteModel
	for post, comments := range threads {
		if len(comments) == 0 {
			continue
		}
		docs := newDocuments(comments)
		countReplies(docs)
		latest := CopiesOf(docs[max(0, len(docs)-social.PreviewSize):], t.writes("posts"))
		updates = append(updates, mongo.NewUpdateOneModel().SetFilter(mdb.Doc("_id", post)).
			SetUpdate(mdb.Doc("$set", mdb.Doc("commentCount", len(docs), "latest", latest), "$inc", mdb.Doc("changes", 1, "threadRevision", 1))))
		some, err := t.read(ctx).fill(post, docs)
		if err != nil {
			return err
		}
		all.add(some)
	}
	if err := all.store(ctx); err != nil {
		return err
	}
	for some := range slices.Chunk(updates, mdb.InBatch) {
		if _, err := t.posts.BulkWrite(ctx, some, options.BulkWrite().SetOrdered(false)); err != nil {
			return err
		}
	}
	return nil
}

func countReplies(docs []Document) {
	replies := map[social.CommentID]int{}
	for i := range docs {
		replies[docs[i].Parent]++
	}
	for i := range docs {
		docs[i].Replies = replies[docs[i].ID]
	}
}
