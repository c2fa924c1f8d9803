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
	*c = *own.stored
	return nil
}

// insertComments stores comments, as a part of a transaction. Those on the same post follow one
// another.
func (s *Store) insertComments(ctx context.Context, comments []*newComment) error {
	threads := batch.Runs(comments, func(c **newComment) social.PostID { return (*c).given.Post })
	if err := s.numberComments(ctx, threads); err != nil {
		return err
	}
	stored := mdb.Map(comments, func(c **newComment) *social.Comment { return (*c).stored })
	if err := s.threads.Insert(ctx, stored); err != nil {
		return err
	}
	events := mdb.Map(comments, func(c **newComment) social.Event {
		e := (*c).event
		if (*c).given.ID.IsZero() {
			e.Comment = (*c).stored.ID
		}
		return e
	})
	if err := s.log.Append(ctx, events...); err != nil {
		return err
	}
	return s.feeds.PostsChanged(ctx, mdb.Map(threads, func(t *[]*newComment) social.PostID { return (*t)[0].given.Post })...)
}

// numberComments gives ids to comments that have none: greater than all ids that their threads have
// had, and than their parents'. It returns ErrNotFound if a post is missing.
func (s *Store) numberComments(ctx context.Context, threads [][]*newComment) error {
	next, err := serials.NextOfEach(ctx, s.posts, mdb.Map(threads, serialsFor))
	if err != nil {
		return err
	}
	for i, thread := range threads {
		for _, c := range thread {
			stored := c.given // a copy for each attempt
			c.stored = &stored
			if c.given.ID.IsZero() {
				stored.SetID(social.CommentID{ID: id.WithSerial(next[i])})
				next[i]++
			}
		}
	}
	return nil
}

// serialsFor asks for the serials of a post's new comments.
func serialsFor(thread *[]*newComment) serials.Request {
	r := serials.Request{Post: (*thread)[0].given.Post}
	for _, c := range *thread {
		r.Floor = max(r.Floor, c.given.ID.Serial(), c.given.Parent.Serial())
		if c.given.ID.IsZero() {
			r.N++
		}
	}
	return r
}
