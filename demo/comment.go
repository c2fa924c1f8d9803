package demo

import (
	"context"
	"fmt"
	"time"

	"plaza/social"
	"plaza/social/network"
)

// comment is one comment of the script, with its replies.
type comment struct {
	by      string
	minutes int // after its parent
	text    string
	replies []comment

	correction   string // its text some minutes later; "": unchanged
	deletedAfter int    // minutes; 0: never. Only one with replies: it stays as a tombstone
}

// say returns a comment, some minutes after its parent.
func say(by string, minutes int, text string, replies ...comment) comment {
	return comment{by: by, minutes: minutes, text: text, replies: replies}
}

// corrected returns the comment, edited by its author a little later.
func (c comment) corrected(text string) comment {
	c.correction = text
	return c
}

// deleted returns the comment, deleted by its author later.
func (c comment) deleted(afterMinutes int) comment {
	c.deletedAfter = afterMinutes
	return c
}

// postID returns the id of a post of the script.
type postID = func(*stage) social.PostID

// parent is the id of the comment's parent, if that is a comment.
type parent struct {
	name  string
	after time.Duration
}

// steps returns the steps of the comment, of everything that happens to it, and of the replies.
func (c comment) steps(on postID, to *parent, name string, since time.Duration) []step {
	own := parent{"comment/" + name, since + time.Duration(c.minutes)*time.Minute}
	steps := []step{{name: own.name, after: own.after, makes: aComment, do: c.write(on, to, own)}}
	if c.correction != "" {
		steps = append(steps, step{name: own.name + "/edit", after: own.after + 2*time.Minute, do: c.edit(own)})
	}
	if c.deletedAfter > 0 {
		at := own.after + time.Duration(c.deletedAfter)*time.Minute
		steps = append(steps, step{name: own.name + "/delete", after: at, do: c.remove(own)})
	}
	for i, reply := range c.replies {
		steps = append(steps, reply.steps(on, &own, fmt.Sprintf("%s/%d", name, i), own.after)...)
	}
	return steps
}

type action = func(ctx context.Context, s *stage) error

func (c comment) write(on postID, to *parent, own parent) action {
	return func(ctx context.Context, s *stage) error {
		in := network.NewComment{Post: on(s), Text: c.text}
		if to != nil {
			in.Parent = s.commentID(to.name, to.after)
		}
		made, err := s.social.AddComment(ctx, s.user(c.by), in)
		if err != nil {
			return err
		}
		return expect(made.ID, s.commentID(own.name, own.after))
	}
}

// stored reads the comment in its current state.
func (own parent) stored(ctx context.Context, s *stage) (*social.Comment, error) {
	id := s.commentID(own.name, own.after)
	stored, err := s.store.Comments(ctx, []social.CommentID{id})
	if err == nil && stored[id] == nil {
		err = fmt.Errorf("the comment %s is gone", own.name)
	}
	return stored[id], err
}

func (c comment) edit(own parent) action {
	return func(ctx context.Context, s *stage) error {
		stored, err := own.stored(ctx, s)
		if err != nil || !stored.EditedAt.IsZero() { // done already
			return err
		}
		return s.social.EditComment(ctx, s.user(c.by), stored.ID, c.correction)
	}
}

func (c comment) remove(own parent) action {
	return func(ctx context.Context, s *stage) error {
		stored, err := own.stored(ctx, s)
		if err != nil || stored.Deleted { // done already
			return err
		}
		_, err = s.social.DeleteComment(ctx, s.user(c.by), stored.ID)
		return err
	}
}
