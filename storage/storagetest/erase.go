package storagetest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"plaza/social"
)

func commentsByListsAcrossPosts(w *world) {
	people := w.users(4)
	ada, ben, cem, silent := people[0], people[1], people[2], people[3]
	var posts []*social.Post
	for range 7 {
		posts = append(posts, w.status(ada))
	}
	want := map[social.UserID][]*social.Comment{ada.ID: nil, silent.ID: nil, newUserID(): nil}
	var gaps []social.Key
	for i := range 60 {
		author := people[i%3]
		c := w.comment(posts[i*i%len(posts)], nil, author)
		switch {
		case author == cem && i%5 == 0: // removed
			w.deleteComment(c)
			gaps = append(gaps, keyOf(c.ID.ID))
			continue
		case author == cem && i%5 == 1: // a tombstone, because there is a reply
			want[ben.ID] = append(want[ben.ID], w.comment(posts[i*i%len(posts)], c, ben))
			w.deleteComment(c)
			gaps = append(gaps, keyOf(c.ID.ID))
			continue
		}
		want[author.ID] = append(want[author.ID], c)
	}
	w.ok(w.DeletePost(w.ctx, posts[1].ID, event(social.EventPostDeleted)), "DeletePost")
	for author := range want {
		want[author] = slices.DeleteFunc(want[author], func(c *social.Comment) bool { return c.Post == posts[1].ID })
		slices.Reverse(want[author])
	}
	edited := want[ben.ID][3]
	edited.Text, edited.EditedAt = "edited", now()
	w.ok(w.EditComment(w.ctx, edited.ID, edited.Text, edited.EditedAt, event(social.EventCommentEdited)), "EditComment")
	lists := listing[social.UserID, *social.Comment]{
		w: w, name: "CommentsBy", call: w.CommentsBy, key: commentKey, gaps: gaps[:2], descending: true, want: want,
	}
	lists.check()
}

// erase calls EraseComments for all comments of an author.
func (w *world) erase(author person) {
	w.t.Helper()
	remaining, err := w.EraseComments(w.ctx, author.ID, newCommentID(), event(social.EventErasureBegun))
	w.ok(err, "EraseComments")
	if remaining > 0 {
		w.ok(settle(w.ctx, w.Store), "background work")
	}
}

// shape describes a thread without its ids.
func shape(thread []*social.Comment) []string {
	var shapes []string
	for _, c := range thread {
		shapes = append(shapes, fmt.Sprintf("depth %d, %d replies, deleted %t, author %v", c.Depth(), c.Replies, c.Deleted, c.Author.ID))
	}
	return shapes
}

// chatter writes the same threads each time: two people reply to each other and to themselves, on
// several posts.
func (w *world) chatter(posts []*social.Post, one, other person) (byOne []*social.Comment) {
	w.t.Helper()
	for _, p := range posts {
		var all []*social.Comment
		for i := range 24 {
			author := one
			if i%5 < 2 {
				author = other
			}
			var parent *social.Comment
			if i%4 > 0 && len(all) > 0 {
				parent = all[(i*7+i/3)%len(all)]
			}
			c := w.comment(p, parent, author)
			all = append(all, c)
			if author == one {
				byOne = append(byOne, c)
			}
		}
	}
	return byOne
}

func eraseCommentsDeletesAll(w *world) {
	ada, ben, twin := w.user(), w.user(), w.user()
	posts, twins := []*social.Post{w.status(ada), w.status(ben)}, []*social.Post{w.status(ada), w.status(ada)}
	w.chatter(posts, ben, ada)
	for _, c := range slices.Backward(w.chatter(twins, twin, ada)) {
		w.deleteComment(c)
	}
	_, err := w.CommentErasure(w.ctx, ben.ID)
	w.fails(err, social.ErrNotFound, "an erasure that never began")
	w.erase(ben)
	for i, p := range posts {
		thread := whole(w, w.Thread, social.Thread{Post: p.ID, Order: social.OrderThreaded})
		want := whole(w, w.Thread, social.Thread{Post: twins[i].ID, Order: social.OrderThreaded})
		w.same(shape(thread), shape(want), "the thread, and one in which they were deleted one by one")
		w.checkThread(p.ID, len(want))
	}
	w.same(len(whole(w, w.CommentsBy, ben.ID)), 0, "the number of comments that are left")
	_, err = w.CommentErasure(w.ctx, ben.ID)
	w.fails(err, social.ErrNotFound, "an erasure that is over")
	w.erase(ben) // again: nothing is left
	w.erase(person{ID: newUserID()})
	w.comment(posts[0], nil, ben) // the thread continues
	w.same(len(whole(w, w.CommentsBy, ben.ID)), 1, "the number of comments after one more")
}

func eraseCommentsKeepsLaterOnes(w *world) {
	ada := w.user()
	p := w.status(ada)
	early, border := w.comment(p, nil, ada), w.comment(p, nil, ada)
	late := w.comment(p, border, ada)
	remaining, err := w.EraseComments(w.ctx, ada.ID, border.ID, event(social.EventErasureBegun))
	w.ok(err, "EraseComments")
	w.same(remaining, 0, "what remains")
	w.same(w.checkThread(p.ID, 2), []*social.Comment{tombstone(border, 1), late}, "what is left")
	absent(w, "erased comment", w.Comments, early.ID)
}

func eraseCommentsResumes(w *world) {
	ada, ben := w.user(), w.user()
	var posts []*social.Post
	for range 3 {
		posts = append(posts, w.status(ada))
	}
	w.chatter(posts, ben, ada)
	for range 20 {
		w.comment(posts[0], nil, ben)
	}
	tail := w.tail()
	ctx, leave := context.WithCancel(w.ctx)
	done := make(chan error, 1)
	go func() {
		_, err := w.EraseComments(ctx, ben.ID, newCommentID(), event(social.EventErasureBegun))
		done <- err
	}()
	for e := tail.next(); e.Kind != social.EventErasureBegun; { // once this is stored, nothing stops the erasure
		e = tail.next()
	}
	leave()
	if err := <-done; err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, social.ErrUnavailable) {
		w.t.Fatalf("EraseComments: %v", err)
	}
	w.ok(settle(w.ctx, w.Store), "background work")
	w.same(len(whole(w, w.CommentsBy, ben.ID)), 0, "the number of comments that are left")
	for _, p := range posts {
		thread := whole(w, w.Thread, social.Thread{Post: p.ID, Order: social.OrderOldest})
		w.checkThread(p.ID, len(thread))
	}
}

func eraseCommentsAppendsAnEventForEach(w *world) {
	ada := w.user()
	p := w.status(ada)
	want := map[social.CommentID]bool{}
	for range 5 {
		want[w.comment(p, nil, ada).ID] = true
	}
	tail := w.tail()
	begun := event(social.EventErasureBegun)
	_, err := w.EraseComments(w.ctx, ada.ID, newCommentID(), begun)
	w.ok(err, "EraseComments")
	w.ok(settle(w.ctx, w.Store), "background work")
	events := tail.rest()
	w.same(events[0].ID, begun.ID, "the first event")
	reported := map[social.CommentID]bool{}
	for _, e := range events[1:] {
		reported[e.Comment] = true
		w.same([]any{e.Kind, e.Actor, e.Target, e.Post}, []any{social.EventCommentDeleted, ada.ID, ada.ID, p.ID}, "the event")
	}
	w.same(reported, want, "the comments that events report")
	w.same(len(events), 1+len(want), "the number of events")
}
