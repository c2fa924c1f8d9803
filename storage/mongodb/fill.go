package mongodb

import (
	"context"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/social"
)

// Fill stores a whole thread at once, as its layout would have it after so many single comments. The post must be there, and
// have no comments yet. Replies are counted here. It is for load generators and tests. ErrThreadFull: the layout does not take so many.
func (s *Store) Fill(ctx context.Context, post social.PostID, comments []*social.Comment) error {
	if len(comments) == 0 {
		return nil
	}
	docs := newCommentDocs(comments)
	replies := map[social.CommentID]int{}
	for _, d := range docs {
		replies[d.Parent]++
	}
	for i := range docs {
		docs[i].Replies = replies[docs[i].ID]
	}
	latest := slices.Clone(docs[max(0, len(docs)-social.PreviewSize):])
	if err := s.fillThread(ctx, post, docs); err != nil {
		return err
	}
	return updateOne(ctx, s.posts, doc("_id", post), doc("$set", doc("commentCount", len(docs), "latest", latest)))
}

func (s *Store) fillThread(ctx context.Context, post social.PostID, docs []commentDoc) error {
	switch t := s.threads.(type) {
	case documentThreads:
		for i := range docs {
			docs[i].Seq = docs[i].ID
		}
		return fillAll(ctx, t.comments, docs)
	case bucketThreads:
		buckets, err := t.filled(post, docs)
		if err != nil {
			return err
		}
		return fillAll(ctx, t.buckets, buckets)
	}
	return fmt.Errorf("no layout is known as %T", s.threads)
}

// fillAll stores documents, so many at a time that the write concern's wait stays short.
func fillAll[D any](ctx context.Context, c *mongo.Collection, docs []D) error {
	for some := range slices.Chunk(docs, 10*inBatch) {
		if _, err := c.InsertMany(ctx, some); err != nil {
			return err
		}
	}
	return nil
}

func (t bucketThreads) filled(post social.PostID, docs []commentDoc) ([]bucketDoc, error) {
	bytes := 0
	for i := range docs {
		bytes += weight(&docs[i])
	}
	whole, inTime, inTree := newRun(post, runWhole), newRun(post, runInTime), newRun(post, runInTree)
	if len(docs) <= t.whole.comments && bytes <= t.whole.bytes {
		return whole.buckets(string(whole), whole.end(), docs, len(docs)), nil
	}
	if !t.paged {
		return nil, social.ErrThreadFull
	}
	const grown = 70 // percent of a bucket in the tree, which grows in its middle
	all := inTime.buckets(string(inTime), inTime.end(), docs, t.size)
	return append(all, inTree.buckets(string(inTree), inTree.end(), docs, max(1, t.size*grown/100))...), nil
}
