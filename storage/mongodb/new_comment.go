package mongodb

import (
	"context"

	"plaza/batch"
	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/serials"
)

// newComment is a comment on its way into the database.
type newComment struct {
	given  social.Comment
	event  social.Event
	stored *social.Comment // set by the transaction
}

// InsertComment implements social.Comments.
func (s *Store) InsertComment(ctx context.Context, c *social.Comment, e social.Event) error {
	own := &newComment{given: *c, event: e}
	if err := s.newComments.Do(ctx, c.Post.ID, own); err != nil {
		return err
	}
	c.ID, c.TreePath = own.stored.ID, own.stored.TreePath
	return nil
}

// insertComments stores comments, as a part of a transaction. Those on the same post follow one
// another.
func (s *Store) insertComments(ctx context.Context, batch []*newComment) error {
	events, err := s.numberComments(ctx, batch)
	if err != nil {
		return err
	}
	comments := mdb.Map(batch, func(c **newComment) *social.Comment { return (*c).stored })
	if err := s.threads.Insert(ctx, comments); err != nil {
		return err
	}
	if err := s.log.Append(ctx, events...); err != nil {
		return err
	}
	return s.feeds.PostsChanged(ctx, postsOf(comments)...)
}

func postsOf(comments []*social.Comment) []social.PostID {
	return batch.Unique(mdb.Map(comments, func(c **social.Comment) social.PostID { return (*c).Post }))
}

// numberComments gives ids to comments that have none: greater than all ids that their threads have
// had, and than their parents'. It returns ErrNotFound if a post is missing.
func (s *Store) numberComments(ctx context.Context, batch []*newComment) ([]social.Event, error) {
	var requests []serials.Request
	requestOf := make(map[social.PostID]int, len(batch))
	for _, c := range batch {
		i, ok := requestOf[c.given.Post]
		if !ok {
			i = len(requests)
			requestOf[c.given.Post] = i
			requests = append(requests, serials.Request{Post: c.given.Post})
		}
		r := &requests[i]
		r.Floor = max(r.Floor, c.given.ID.Serial(), c.given.Parent.Serial())
		if c.given.ID.IsZero() {
			r.N++
		}
	}
	next, err := serials.NextOfEach(ctx, s.posts, requests)
	if err != nil {
		return nil, err
	}
	events := make([]social.Event, len(batch))
	for i, c := range batch {
		stored := c.given // a copy for each attempt
		c.stored, events[i] = &stored, c.event
		if c.given.ID.IsZero() {
			serial := &next[requestOf[c.given.Post]]
			stored.SetID(social.CommentID{ID: id.WithSerial(*serial)})
			events[i].Comment = stored.ID
			*serial++
		}
	}
	return events, nil
}
