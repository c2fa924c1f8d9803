package mongodb

import (
	"context"
	"errors"
	"testing"
	"time"

	"plaza/social"
)

// TestCommentOfCanceledCallerIsNotStored lets a comment wait behind an open transaction until its
// caller cancels.
func TestCommentOfCanceledCallerIsNotStored(t *testing.T) {
	t.Parallel()
	s := openInside(t, Options{})
	author, _ := fans(t, s, 0)
	p := newStatus(author)
	ok(t, s.InsertPost(t.Context(), p, anEvent(social.EventPostCreated)))
	insert := func(ctx context.Context) <-chan error {
		c := &social.Comment{Post: p.ID, Author: author, Text: "hello"}
		done := make(chan error, 1)
		go func() { done <- s.InsertComment(ctx, c, anEvent(social.EventCommentAdded)) }()
		return done
	}
	waits := func(n int) {
		t.Helper()
		again := time.NewTicker(time.Millisecond)
		defer again.Stop()
		for {
			if running, waiting := s.newComments.State(p.ID.ID); running && waiting == n {
				return
			}
			<-again.C
		}
	}
	release := holdPost(t, s, p.ID)
	first := insert(t.Context())
	waits(0)
	leaving, leave := context.WithCancel(t.Context())
	second := insert(leaving)
	waits(1)
	leave()
	if err := <-second; !errors.Is(err, context.Canceled) {
		t.Errorf("the canceled caller gets %v", err)
	}
	release()
	ok(t, <-first)
	ok(t, <-insert(t.Context()))
	if n := must(s.Posts(t.Context(), []social.PostID{p.ID}))(t)[p.ID].CommentCount; n != 2 {
		t.Errorf("there are %d comments, want those of the two callers that waited", n)
	}
}
