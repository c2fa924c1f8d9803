package mongodb_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"plaza/social"
	"plaza/storage/mongodb"
)

// TestHotThreadsShareTransactions lets 64 writers comment and reply in one thread. Some of them use
// a slug that is taken, or the slug of another writer, or reply to a tombstone. Only those are
// refused, and there are far fewer transactions than comments.
func TestHotThreadsShareTransactions(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{mongodb.CommentsDocuments, mongodb.CommentsEmbedded, mongodb.TinyAdaptive} {
		t.Run(layout, func(t *testing.T) {
			r := new(recorder)
			w := newTownIn(t, r, layout)
			ada := w.people(1)[0].User.ID
			p := w.post(status(ada, ada, public))
			parents := []*social.Comment{nil, w.comment(p, nil, ada), w.comment(p, nil, ada)}
			tombstone := w.comment(p, nil, ada)
			w.comment(p, tombstone, ada)
			w.ok(w.DeleteComment(w.ctx, tombstone.ID, happened(social.EventCommentDeleted)))
			replies := map[social.CommentID]int{tombstone.ID: 1}
			hot := func(change func(i int, c *social.Comment) (want error)) {
				made, errs, wants := make([]*social.Comment, 64), make([]error, 64), make([]error, 64)
				for i := range made {
					made[i] = newComment(p, parents[i%3], ada)
					wants[i] = change(i, made[i])
				}
				atOnce(len(errs), func(i int) { errs[i] = w.InsertComment(w.ctx, made[i], happened(social.EventCommentAdded)) })
				for i, err := range errs {
					if !errors.Is(err, wants[i]) {
						t.Errorf("writer %d: %v, want %v", i, err, wants[i])
					}
					if err == nil && !made[i].Parent.IsZero() {
						replies[made[i].Parent]++
					}
				}
			}
			r.take()
			hot(func(int, *social.Comment) error { return nil })
			if n := strings.Count(names(r.take()), "commitTransaction"); n == 0 || n > 32 {
				t.Errorf("64 comments took %d transactions", n)
			}
			wantCounts(t, w, p.ID, 3+64, 1)
			hot(func(i int, c *social.Comment) error {
				return spoil(i, c, parents[1], tombstone)
			})
			wantCounts(t, w, p.ID, 3+64+48, 1)
			for _, c := range w.thread(p.ID, social.OrderOldest) {
				if c.Replies != replies[c.ID] {
					t.Errorf("a comment has %d replies, want %d", c.Replies, replies[c.ID])
				}
			}
		})
	}
}

// TestCommentsOnDifferentPostsShareTransactions lets 64 writers comment on a post each. There are far fewer
// transactions than comments. Then some of them use a slug that is taken, or reply to a tombstone.
// Only those are refused.
func TestCommentsOnDifferentPostsShareTransactions(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{mongodb.CommentsDocuments, mongodb.CommentsEmbedded, mongodb.TinyAdaptive} {
		t.Run(layout, func(t *testing.T) {
			r := new(recorder)
			w := newTownIn(t, r, layout)
			ada := w.people(1)[0].User.ID
			const writers = 64
			posts, parents, tombstones := make([]*social.Post, writers), make([]*social.Comment, writers), make([]*social.Comment, writers)
			for i := range posts {
				posts[i] = w.post(status(ada, ada, public))
				parents[i], tombstones[i] = w.comment(posts[i], nil, ada), w.comment(posts[i], nil, ada)
				w.comment(posts[i], tombstones[i], ada)
				w.ok(w.DeleteComment(w.ctx, tombstones[i].ID, happened(social.EventCommentDeleted)))
			}
			everyone := func(change func(i int, c *social.Comment) (want error)) {
				atOnce(writers, func(i int) {
					c := newComment(posts[i], parents[i], ada)
					want := change(i, c)
					if err := w.InsertComment(w.ctx, c, happened(social.EventCommentAdded)); !errors.Is(err, want) {
						t.Errorf("writer %d: %v, want %v", i, err, want)
					}
				})
			}
			r.take()
			everyone(func(int, *social.Comment) error { return nil })
			if n := strings.Count(names(r.take()), "commitTransaction"); n == 0 || n > writers/2 {
				t.Errorf("%d comments took %d transactions", writers, n)
			}
			everyone(func(i int, c *social.Comment) error {
				return spoil(i, c, parents[i], tombstones[i])
			})
			for i, p := range posts {
				replies := 2
				if i%4 == 0 {
					replies = 1
				}
				wantCounts(t, w, p.ID, 2+replies, 1)
				comments, err := w.Comments(w.ctx, []social.CommentID{parents[i].ID})
				w.ok(err)
				if got := comments[parents[i].ID].Replies; got != replies {
					t.Errorf("the parent on post %d has %d replies, want %d", i, got, replies)
				}
			}
		})
	}
}

// spoil gives some comments the slug of another one, and makes others replies to a tombstone. It
// returns the error that such a comment must get.
func spoil(i int, c, taken, tombstone *social.Comment) (want error) {
	switch i % 8 {
	case 0:
		c.Slug, c.Path = taken.Slug, taken.Slug
		return social.ErrTaken
	case 4:
		c.ReplyTo(tombstone)
		c.SetID(c.ID)
		return social.ErrNotFound
	}
	return nil
}

// TestTwinSlugsInOneTransaction checks that of waiting comments with the same slug one is stored,
// together with all that have a slug of their own.
func TestTwinSlugsInOneTransaction(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{mongodb.CommentsDocuments, mongodb.CommentsEmbedded} {
		t.Run(layout, func(t *testing.T) {
			w := newTownIn(t, nil, layout)
			ada := w.people(1)[0].User.ID
			p := w.post(status(ada, ada, public))
			w.comment(p, nil, ada)
			var stored atomic.Int32
			atOnce(32, func(i int) {
				c := newComment(p, nil, ada)
				if i%2 == 0 {
					c.Slug, c.Path = "twin", "twin"
				}
				switch err := w.InsertComment(w.ctx, c, happened(social.EventCommentAdded)); {
				case err == nil:
					stored.Add(1)
				case i%2 == 1 || !errors.Is(err, social.ErrTaken):
					t.Errorf("writer %d: %v", i, err)
				}
			})
			if n := stored.Load(); n != 17 {
				t.Errorf("%d are stored, want 17", n)
			}
			wantCount(t, w, p.ID, 1+17)
		})
	}
}

// TestCanceledCallersDoNotAffectOthers cancels half of the writers while they wait.
func TestCanceledCallersDoNotAffectOthers(t *testing.T) {
	t.Parallel()
	w := newTown(t, nil)
	ada := w.people(1)[0].User.ID
	p := w.post(status(ada, ada, public))
	leaving, leave := context.WithCancel(w.ctx)
	stored := make([]*social.Comment, 64)
	atOnce(len(stored), func(i int) {
		ctx := w.ctx
		if i%2 == 0 {
			ctx = leaving
		}
		c := newComment(p, nil, ada)
		err := w.InsertComment(ctx, c, happened(social.EventCommentAdded))
		switch {
		case err == nil:
			stored[i] = c
		case i%2 == 1 || !errors.Is(err, context.Canceled):
			t.Errorf("writer %d: %v", i, err)
		}
		if i == 1 {
			leave()
		}
	})
	w.comment(p, nil, ada) // queued behind all that still wait
	thread := map[social.CommentID]bool{}
	for _, c := range w.thread(p.ID, social.OrderOldest) {
		thread[c.ID] = true
	}
	for i, c := range stored {
		if c != nil && !thread[c.ID] {
			t.Errorf("comment %d was acknowledged, and is lost", i)
		}
	}
	wantCount(t, w, p.ID, len(thread))
}
