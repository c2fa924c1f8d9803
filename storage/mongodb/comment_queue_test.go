package mongodb_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"plaza/social"
	"plaza/storage/mongodb"
)

// TestHotThreadsShareTransactions lets 64 writers write one thread, every fourth of them with a slug that is taken: only those are
// refused, and the others need far fewer transactions than they are.
func TestHotThreadsShareTransactions(t *testing.T) {
	for _, layout := range []string{mongodb.CommentsDocuments, mongodb.TinyAdaptive} {
		t.Run(layout, func(t *testing.T) {
			r := new(recorder)
			w := newTownIn(t, r, layout)
			ada := w.people(1)[0].User.ID
			p := w.post(status(ada, ada, public))
			taken := w.comment(p, nil, ada)
			hot := func(bad int) (refused int) {
				errs := make([]error, 64)
				atOnce(len(errs), func(i int) {
					c := newComment(p, nil, ada)
					if bad > 0 && i%bad == 0 {
						c.Slug, c.Path = taken.Slug, taken.Slug
					}
					errs[i] = w.InsertComment(w.ctx, c, happened(social.EventCommentAdded))
				})
				for i, err := range errs {
					switch isBad := bad > 0 && i%bad == 0; {
					case isBad && errors.Is(err, social.ErrTaken):
						refused++
					case isBad || err != nil:
						t.Errorf("writer %d: %v", i, err)
					}
				}
				return refused
			}
			r.take()
			hot(0)
			if n := strings.Count(names(r.take()), "commitTransaction"); n == 0 || n > 32 {
				t.Errorf("64 comments took %d transactions", n)
			}
			wantCount(t, w, p.ID, 65)
			if n := hot(4); n != 16 {
				t.Errorf("%d were refused, want 16", n)
			}
			wantCount(t, w, p.ID, 65+48)
		})
	}
}

// TestACallerWhoLeavesTakesNobodyAlong ends the contexts of half of the writers while they wait.
func TestACallerWhoLeavesTakesNobodyAlong(t *testing.T) {
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
	w.comment(p, nil, ada) // behind all that still waited
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
