package storagetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"plaza/fault"
	"plaza/id"
	"plaza/social"
	"plaza/social/network"
)

var commentCases = []testCase{
	{"InsertCommentStoresAndCounts", insertCommentStoresAndCounts},
	{"InsertCommentNeedsPostAndParent", insertCommentNeedsPostAndParent},
	{"SlugsAreUniqueInTheirThread", slugsAreUniqueInTheirThread},
	{"SlugsFollowFromIDs", slugsFollowFromIDs},
	{"TakenSlugsAreReplaced", takenSlugsAreReplaced},
	{"TakenIDsAreNotReplaced", takenIDsAreNotReplaced},
	{"EditCommentEditsThePreviewToo", editCommentEditsThePreviewToo},
	{"DeleteCommentRemovesOneWithoutReplies", deleteCommentRemovesOneWithoutReplies},
	{"DeleteCommentLeavesATombstone", deleteCommentLeavesATombstone},
	{"HiddenCommentsAreRestored", hiddenCommentsAreRestored},
	{"HiddenCommentsStayAsTheyAre", hiddenCommentsStayAsTheyAre},
	{"DeleteCommentPrunesTombstonesUpTheChain", deleteCommentPrunesTombstones},
	{"DeleteCommentStopsPruningAtALiveOne", deleteCommentStopsPruning},
	{"LatestListsTheNewestLiveComments", latestListsTheNewestLiveComments},
	{"LatestIsOrderedByID", latestIsOrderedByID},
	{"DeepChainsWork", deepChainsWork},
	{"CommentsReadsByID", commentsReadsByID},
	{"CommentsBySlugReadsByPermalink", commentsBySlugReadsByPermalink},
	{"ThreadListsInAllOrders", threadListsInAllOrders},
	{"ThreadListsDirectReplies", threadListsDirectReplies},
	{"ThreadListsDiscussions", threadListsDiscussions},
	{"ThreadReadsMixedSelectionsInOneCall", threadReadsMixedSelections},
	{"LatestCommentsSkipsAuthors", latestCommentsSkipsAuthors},
	{"RandomThreadsStayExact", randomThreadsStayExact},
	{"ThreadsHaveRangesOfTime", threadsHaveRangesOfTime},
	{"CommentsByListsAcrossPosts", commentsByListsAcrossPosts},
	{"EraseCommentsDeletesAllOfOneAuthor", eraseCommentsDeletesAll},
	{"EraseCommentsKeepsLaterOnes", eraseCommentsKeepsLaterOnes},
	{"EraseCommentsResumes", eraseCommentsResumes},
	{"EraseCommentsAppendsAnEventForEach", eraseCommentsAppendsAnEventForEach},
}

// orders are the three ways to list a thread.
var orders = []social.CommentOrder{social.OrderOldest, social.OrderNewest, social.OrderThreaded}

// checkThread reads everything stored about a thread of n comments, tombstones included, and checks
// that it agrees: the orders with each other, counts with comments, tombstones with replies,
// previews with the newest.
func (w *world) checkThread(post social.PostID, size int) []*social.Comment {
	w.t.Helper()
	oldest := whole(w, w.Thread, social.Thread{Post: post, Order: social.OrderOldest})
	w.same(len(oldest), size, "the number of comments in the thread, tombstones included")
	w.checkOrders(post, oldest)
	w.checkFamily(oldest)
	w.checkReads(post, oldest)
	w.checkAuthors(post, oldest)
	w.checkPreview(post, oldest)
	return oldest
}

// checkOrders compares the other two orders with the oldest first.
func (w *world) checkOrders(post social.PostID, oldest []*social.Comment) {
	w.t.Helper()
	if !slices.IsSortedFunc(oldest, func(a, b *social.Comment) int { return a.ID.Compare(b.ID.ID) }) {
		w.t.Errorf("the thread is not in the order of its comments' ids")
	}
	newest := slices.Clone(oldest)
	slices.Reverse(newest)
	w.same(whole(w, w.Thread, social.Thread{Post: post, Order: social.OrderNewest}), newest, "the thread, newest first")
	threaded := slices.Clone(oldest)
	slices.SortFunc(threaded, func(a, b *social.Comment) int { return strings.Compare(string(a.TreePath), string(b.TreePath)) })
	w.same(whole(w, w.Thread, social.Thread{Post: post, Order: social.OrderThreaded}), threaded, "the thread as a tree")
}

// checkFamily checks parents, replies and tombstones.
func (w *world) checkFamily(thread []*social.Comment) {
	w.t.Helper()
	replies, there := map[social.CommentID]int{}, map[social.CommentID]*social.Comment{}
	for _, c := range thread {
		there[c.ID] = c
		replies[c.Parent]++
	}
	for _, c := range thread {
		w.same(c.Replies, replies[c.ID], "Replies of %v", c.ID)
		parent := there[c.Parent]
		if !c.Parent.IsZero() && parent == nil {
			w.t.Errorf("the parent %v of %v is absent", c.Parent, c.ID)
		}
		placed := social.Comment{Slug: c.Slug}
		placed.ReplyTo(parent)
		placed.SetID(c.ID)
		w.same([]any{c.TreePath, c.Path}, []any{placed.TreePath, placed.Path}, "the TreePath and path of %v", c.ID)
		if c.Deleted && (c.Replies == 0 || c.Text != "" || !c.Author.IsZero()) {
			w.t.Errorf("a tombstone without replies, or with text or author: %+v", c)
		} else if !c.Deleted && c.Author.IsZero() {
			w.t.Errorf("a live comment without an author: %+v", c)
		}
	}
}

// checkReads reads the comments in the other ways.
func (w *world) checkReads(post social.PostID, thread []*social.Comment) {
	w.t.Helper()
	var ids []social.CommentID
	var links []social.Permalink
	byID, bySlug := map[social.CommentID]*social.Comment{}, map[social.Permalink]*social.Comment{}
	for _, c := range thread {
		ids, byID[c.ID] = append(ids, c.ID), c
		link := social.Permalink{Post: post, Slug: c.Slug}
		links, bySlug[link] = append(links, link), c
	}
	w.same(lookup(w, w.Comments, ids), byID, "the comments by id")
	w.same(lookup(w, w.CommentsBySlug, links), bySlug, "the comments by slug")
}

// checkAuthors looks for the live comments among those of their authors.
func (w *world) checkAuthors(post social.PostID, thread []*social.Comment) {
	w.t.Helper()
	want := map[social.UserID][]*social.Comment{}
	for _, c := range slices.Backward(thread) {
		if !c.Deleted {
			want[c.Author] = append(want[c.Author], c)
		}
	}
	for author, comments := range want {
		elsewhere := func(c *social.Comment) bool { return c.Post != post }
		w.same(slices.DeleteFunc(whole(w, w.CommentsBy, author), elsewhere), comments, "the author's comments on the post")
	}
}

// checkPreview checks what the post contains of its thread.
func (w *world) checkPreview(post social.PostID, thread []*social.Comment) {
	w.t.Helper()
	live := slices.DeleteFunc(slices.Clone(thread), func(c *social.Comment) bool { return c.Deleted })
	p := w.getPost(post)
	w.same(p.CommentCount, len(live), "CommentCount")
	live = slices.DeleteFunc(live, func(c *social.Comment) bool { return c.Hidden })
	w.same(p.Latest, last(live, social.PreviewSize), "Post.Latest")
	for _, n := range []int{1, 3, 20} {
		latest, err := w.LatestComments(w.ctx, []social.PostID{post}, nil, n)
		w.ok(err, "LatestComments")
		w.same(latest[post], last(live, n), "LatestComments %d", n)
	}
}

// last takes the n last of a list.
func last[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }

func insertCommentStoresAndCounts(w *world) {
	ada, ben := w.user(), w.user()
	p, other := w.status(ada), w.status(ada)
	root := w.comment(p, nil, ben)
	w.same(w.getComment(root.ID), root, "a reply to the post")
	w.checkThread(p.ID, 1)

	edited := newComment(p, root, ada)
	edited.EditedAt = now()
	w.ok(w.insertComment(edited), "InsertComment")
	w.same(w.getComment(edited.ID), edited, "a reply to a comment")
	w.comment(p, root, ben)
	w.comment(p, edited, ben)
	w.checkThread(p.ID, 4)
	root.Replies = 2
	w.same(w.getComment(root.ID), root, "the parent")
	if read := w.getComment(root.ID); !read.EditedAt.IsZero() {
		w.t.Errorf("EditedAt of a comment that was never edited is %v", read.EditedAt)
	}
	w.checkThread(other.ID, 0)
}

func insertCommentNeedsPostAndParent(w *world) {
	ada := w.user()
	p, other := w.status(ada), w.status(ada)
	root, stranger := w.comment(p, nil, ada), w.comment(other, nil, ada)
	w.comment(p, root, ada)
	gone, reply := w.comment(p, nil, ada), w.comment(p, nil, ada)
	w.deleteComment(gone)
	w.comment(p, reply, ada)
	w.deleteComment(reply) // a tombstone: it keeps its replies, but takes no new ones

	nowhere := statusBy(ada)
	never := newComment(p, nil, ada)
	for name, c := range map[string]*social.Comment{
		"an absent post":                  newComment(nowhere, nil, ada),
		"a parent that never was":         newComment(p, never, ada),
		"a parent that was removed":       newComment(p, gone, ada),
		"a parent that is a tombstone":    newComment(p, reply, ada),
		"a parent in another post":        newComment(p, stranger, ada),
		"a parent, but of an absent post": newComment(nowhere, root, ada),
	} {
		w.fails(w.insertComment(c), social.ErrNotFound, "a comment on %s", name)
		absent(w, "refused comment", w.Comments, c.ID)
	}
	w.checkThread(p.ID, 4)
	w.checkThread(other.ID, 1)
}

func slugsAreUniqueInTheirThread(w *world) {
	ada := w.user()
	p, other := w.status(ada), w.status(ada)
	root := w.comment(p, nil, ada)
	again := func(post *social.Post, parent, like *social.Comment) error {
		return w.insertComment(commentWithSlug(like.Slug, newCommentID(), post, parent, ada))
	}
	w.fails(again(p, nil, root), social.ErrTaken, "the slug of a sibling")
	w.fails(again(p, root, root), social.ErrTaken, "the slug of the parent")
	w.checkThread(p.ID, 1)
	w.ok(again(other, nil, root), "the slug of a comment of another post")
	w.checkThread(other.ID, 1)

	w.comment(p, root, ada)
	w.deleteComment(root)
	w.fails(again(p, nil, root), social.ErrTaken, "the slug of a tombstone")
	w.checkThread(p.ID, 2)
}

// slugsFollowFromIDs: the store gives ids, slugs and paths to comments that have none, below parents
// whose slugs follow from their ids, and below others.
func slugsFollowFromIDs(w *world) {
	ada := w.user()
	for _, slug := range []string{"", "earlier"} {
		p := w.status(ada)
		var parent *social.Comment
		for level := range 4 {
			c := &social.Comment{Post: p.ID, Author: ada.ID, Text: "hello"}
			if level == 0 {
				c.Slug = slug
			}
			c.ReplyTo(parent)
			w.ok(w.insertComment(c), "InsertComment")
			if end := c.ID.String()[len(c.ID.String())-8:]; c.Slug != end && (c.Slug != slug || level > 0) {
				w.t.Errorf("the slug of %v is %q", c.ID, c.Slug)
			}
			w.same(only(w, w.Comments, c.ID), c, "the comment with a given slug and path")
			parent = c
		}
		w.same(parent.Depth(), 4, "the depth of the last reply")
		w.checkThread(p.ID, 4)
	}
}

// takenSlugsAreReplaced: ids that differ may end alike, and would then give the same slug. The
// service tries another id, and reports one comment with one event.
func takenSlugsAreReplaced(w *world) {
	ada := w.user()
	p := w.status(ada)
	root := w.comment(p, nil, ada)
	store := &namesakes{Store: w.Store}
	service := network.New(store, network.Options{})
	tail := w.tail()
	for i, parent := range []social.CommentID{{}, root.ID} {
		store.slug = root.Slug
		c, err := service.AddComment(w.ctx, ada.ID, network.NewComment{Post: p.ID, Parent: parent, Text: "hello"})
		w.ok(err, "AddComment")
		w.same(store.calls, 2*(i+1), "the calls of InsertComment")
		w.same(only(w, w.Comments, c.ID), c, "the comment")
		events := tail.rest()
		if len(events) != 1 || events[0].Comment != c.ID {
			w.t.Errorf("the events of the comment %v are %+v", c.ID, events)
		}
	}
	w.checkThread(p.ID, 3)
}

// takenIDsAreNotReplaced: a service that is given ids stores the comment of each once.
func takenIDsAreNotReplaced(w *world) {
	ada := w.user()
	p := w.status(ada)
	given := id.New()
	service := network.New(w.Store, network.Options{NewID: func() id.ID { return given }})
	add := func() error {
		_, err := service.AddComment(w.ctx, ada.ID, network.NewComment{Post: p.ID, Text: "hello"})
		return err
	}
	w.ok(add(), "AddComment")
	var refused *fault.Error
	if err := add(); !errors.As(err, &refused) || refused.Code != fault.CodeConflict {
		w.t.Errorf("AddComment with an id that is taken: %v", err)
	}
	w.checkThread(p.ID, 1)
}

// namesakes is a store that gives every other comment the slug of the comment before, as if their
// ids ended alike.
type namesakes struct {
	social.Store
	slug  string // of the comment before
	calls int
}

func (n *namesakes) InsertComment(ctx context.Context, c *social.Comment, e social.Event) error {
	given := *c
	if n.calls%2 == 0 {
		given.Slug = n.slug
	}
	n.calls++
	if err := n.Store.InsertComment(ctx, &given, e); err != nil {
		return err
	}
	*c, n.slug = given, given.Slug
	return nil
}

func editCommentEditsThePreviewToo(w *world) {
	ada := w.user()
	p := w.status(ada)
	root := w.comment(p, nil, ada)
	reply := w.comment(p, root, ada)
	edit := func(c *social.Comment, text string, at time.Time) error {
		return w.EditComment(w.ctx, c.ID, text, at, event(social.EventCommentEdited))
	}
	for _, text := range []string{"once", "twice", ""} {
		root.Text, root.EditedAt, root.Replies = text, now(), 1
		w.ok(edit(root, text, root.EditedAt), "EditComment")
		w.same(w.getComment(root.ID), root, "the edited comment")
		w.same(w.getPost(p.ID).Latest, []*social.Comment{root, reply}, "the preview")
		w.checkThread(p.ID, 2)
	}
	for range social.PreviewSize + 2 { // the old one leaves the preview
		w.comment(p, nil, ada)
	}
	w.ok(edit(root, "thrice", now()), "EditComment")
	w.checkThread(p.ID, 2+social.PreviewSize+2)
	w.same(w.getComment(root.ID).Text, "thrice", "the text")

	w.deleteComment(root)
	w.fails(edit(root, "no", now()), social.ErrNotFound, "editing a tombstone")
	w.deleteComment(reply)
	w.fails(edit(reply, "no", now()), social.ErrNotFound, "editing what was removed")
	w.fails(edit(newComment(p, nil, ada), "no", now()), social.ErrNotFound, "editing what never was")
	w.checkThread(p.ID, social.PreviewSize+2)
}

func deleteCommentRemovesOneWithoutReplies(w *world) {
	ada := w.user()
	p := w.status(ada)
	one, two, three := w.comment(p, nil, ada), w.comment(p, nil, ada), w.comment(p, nil, ada)
	w.deleteComment(two)
	w.same(w.checkThread(p.ID, 2), []*social.Comment{one, three}, "what is left")
	err := w.DeleteComment(w.ctx, two.ID, event(social.EventCommentDeleted))
	w.fails(err, social.ErrNotFound, "deleting again")
	err = w.DeleteComment(w.ctx, newCommentID(), event(social.EventCommentDeleted))
	w.fails(err, social.ErrNotFound, "deleting what never was")
	w.deleteComment(three)
	w.deleteComment(one)
	w.checkThread(p.ID, 0)
	w.comment(p, w.comment(p, nil, ada), ada) // the thread continues
	w.checkThread(p.ID, 2)
}

// tombstone is what is left of a comment.
func tombstone(c *social.Comment, replies int) *social.Comment {
	left := *c
	left.Author, left.Text, left.Deleted, left.Replies = social.UserID{}, "", true, replies
	return &left
}

func deleteCommentLeavesATombstone(w *world) {
	ada, ben := w.user(), w.user()
	p := w.status(ada)
	root := w.comment(p, nil, ben)
	middle := w.comment(p, root, ben)
	leaf, sibling := w.comment(p, middle, ben), w.comment(p, middle, ben)
	w.ok(w.EditComment(w.ctx, middle.ID, "edited", now(), event(social.EventCommentEdited)), "EditComment") // does not remain

	w.deleteComment(middle)
	w.same(w.getComment(middle.ID), tombstone(middle, 2), "the tombstone")
	w.same(w.getComment(root.ID).Replies, 1, "Replies of the tombstone's parent")
	w.same(w.getComment(leaf.ID), leaf, "a reply under the tombstone")
	w.checkThread(p.ID, 4)
	err := w.DeleteComment(w.ctx, middle.ID, event(social.EventCommentDeleted))
	w.fails(err, social.ErrNotFound, "deleting a tombstone")
	w.checkThread(p.ID, 4)

	w.deleteComment(leaf) // the tombstone still has the other reply
	w.same(w.getComment(middle.ID), tombstone(middle, 1), "the tombstone")
	w.checkThread(p.ID, 3)
	w.comment(p, sibling, ada) // one may still reply below it
	w.checkThread(p.ID, 4)
}

func deleteCommentPrunesTombstones(w *world) {
	ada := w.user()
	p := w.status(ada)
	var chain []*social.Comment
	for parent := (*social.Comment)(nil); len(chain) < 6; {
		parent = w.comment(p, parent, ada)
		chain = append(chain, parent)
	}
	bystander := w.comment(p, nil, ada)
	for _, c := range chain[:5] {
		w.deleteComment(c)
		w.checkThread(p.ID, 7)
	}
	w.deleteComment(chain[5])
	w.same(w.checkThread(p.ID, 1), []*social.Comment{bystander}, "what is left")
}

func deleteCommentStopsPruning(w *world) {
	ada := w.user()
	p := w.status(ada)
	live := w.comment(p, nil, ada)
	forked := w.comment(p, live, ada)
	side := w.comment(p, forked, ada)
	upper := w.comment(p, forked, ada)
	lower := w.comment(p, upper, ada)
	leaf := w.comment(p, lower, ada)
	for _, c := range []*social.Comment{forked, upper, lower} {
		w.deleteComment(c)
	}
	w.checkThread(p.ID, 6)
	w.deleteComment(leaf) // also removes lower and upper, but not forked, which has another reply
	w.same(w.getComment(forked.ID), tombstone(forked, 1), "the tombstone with another reply")
	w.checkThread(p.ID, 3)
	w.deleteComment(side) // also removes forked, but not the live one
	live.Replies = 0
	w.same(w.checkThread(p.ID, 1), []*social.Comment{live}, "what is left")
	w.deleteComment(live)
	w.checkThread(p.ID, 0)
}

func latestListsTheNewestLiveComments(w *world) {
	ada := w.user()
	p := w.status(ada)
	var all []*social.Comment
	for i := range 12 {
		all = append(all, w.comment(p, nil, ada))
		w.checkThread(p.ID, i+1)
	}
	// When one of the newest is deleted, an older one takes its place.
	for _, i := range []int{8, 11, 4} {
		w.deleteComment(all[i])
	}
	w.checkThread(p.ID, 9)
	w.same(len(w.getPost(p.ID).Latest), social.PreviewSize, "the size of a preview of 9 comments")
	w.comment(p, all[10], ada)
	w.deleteComment(all[10]) // a tombstone leaves the preview too
	w.checkThread(p.ID, 10)
	w.deleteComment(all[9])
	w.checkThread(p.ID, 9)
	for _, i := range []int{0, 1, 2, 3, 5, 6, 7} {
		w.deleteComment(all[i])
		w.checkPreview(p.ID, whole(w, w.Thread, social.Thread{Post: p.ID, Order: social.OrderOldest}))
	}
	w.checkThread(p.ID, 2) // the tombstone and its reply
	w.same(len(w.getPost(p.ID).Latest), 1, "the size of the preview of what is left")
}

func latestIsOrderedByID(w *world) {
	ada := w.user()
	p := w.status(ada)
	var later []*social.Comment
	for range 12 {
		later = append(later, newComment(p, nil, ada))
	}
	w.dice.Shuffle(len(later), func(i, j int) { later[i], later[j] = later[j], later[i] })
	for i, c := range later {
		w.ok(w.insertComment(c), "InsertComment")
		w.checkThread(p.ID, i+1)
	}
}

func deepChainsWork(w *world) {
	ada := w.user()
	p := w.status(ada)
	var chain []*social.Comment
	var parent *social.Comment
	for range 64 {
		parent = w.comment(p, parent, ada)
		chain = append(chain, parent)
	}
	w.checkThread(p.ID, 64)
	leaf := w.getComment(chain[63].ID)
	w.same(leaf.Depth(), 64, "the depth")
	w.same(leaf, chain[63], "the deepest comment")
	w.same(len(leaf.AncestorIDs()), 63, "the number of ancestors")
	for _, c := range chain[:63] {
		w.deleteComment(c)
	}
	w.deleteComment(leaf)
	w.checkThread(p.ID, 0)
}

func commentsReadsByID(w *world) {
	ada := w.user()
	ids := []social.CommentID{newCommentID(), {}}
	want := map[social.CommentID]*social.Comment{}
	for i := range 6 {
		p := w.status(ada)
		for range 9 {
			c := w.comment(p, nil, ada)
			ids = append(ids, c.ID)
			want[c.ID] = c
			if i == 0 {
				ids = append(ids, newCommentID())
			}
		}
	}
	ids = append(ids, ids[2], ids[4])
	w.same(lookup(w, w.Comments, ids), want, "54 comments")
}

func commentsBySlugReadsByPermalink(w *world) {
	ada := w.user()
	var links []social.Permalink
	want := map[social.Permalink]*social.Comment{}
	for range 6 {
		p := w.status(ada)
		for _, slug := range []string{"a", "A", "b-1", "b_1", "long" + p.ID.ID.String()} {
			c := commentWithSlug(slug, newCommentID(), p, nil, ada)
			w.ok(w.insertComment(c), "InsertComment")
			link := social.Permalink{Post: p.ID, Slug: slug}
			links, want[link] = append(links, link), c
			for _, wrong := range []string{"x", "y", "z"} { // more links than one query of MongoDB has
				links = append(links, social.Permalink{Post: p.ID, Slug: slug + wrong})
			}
		}
	}
	first := links[0]
	links = append(links, first, social.Permalink{Post: newPostID(), Slug: "a"}, social.Permalink{Post: first.Post},
		social.Permalink{Post: first.Post, Slug: "long" + links[len(links)-1].Post.ID.String()}) // of another post
	w.same(lookup(w, w.CommentsBySlug, links), want, "30 comments by slug")
}

// forest fills a post with a few trees of comments, some of them tombstones, and returns them as a
// thread reads them.
func (w *world) forest(p *social.Post, author person) []*social.Comment {
	w.t.Helper()
	var roots [3]*social.Comment
	for i := range roots {
		roots[i] = w.comment(p, nil, author)
	}
	// Replies come in turns, so that the time order and the tree order have little in common.
	var middles []*social.Comment
	for range 3 {
		for _, root := range roots[1:] {
			middles = append(middles, w.comment(p, root, author))
		}
	}
	for i, middle := range middles {
		if i%3 != 1 {
			w.comment(p, middle, author)
		}
	}
	w.comment(p, roots[1], author)
	w.deleteComment(roots[1])
	w.deleteComment(middles[0])
	return w.checkThread(p.ID, 14)
}

// inTree sorts comments by their TreePaths.
func inTree(comments []*social.Comment) []*social.Comment {
	return slices.SortedFunc(slices.Values(comments), func(a, b *social.Comment) int {
		return strings.Compare(string(a.TreePath), string(b.TreePath))
	})
}

func reversed[T any](list []T) []T {
	turned := slices.Clone(list)
	slices.Reverse(turned)
	return turned
}

// selection selects the thread of a post, in an order.
func selection(p *social.Post, order social.CommentOrder) social.Thread {
	return social.Thread{Post: p.ID, Order: order}
}

func threadListsInAllOrders(w *world) {
	ada := w.user()
	p, other, empty := w.status(ada), w.status(ada), w.status(ada)
	thread := w.forest(p, ada)
	gap := newComment(p, thread[2], ada) // a comment that does not exist
	short := []*social.Comment{w.comment(other, nil, ada), w.comment(other, nil, ada)}

	for _, order := range orders {
		lists := listing[social.Thread, *social.Comment]{
			w: w, name: "Thread " + string(order), call: w.Thread, key: commentKey, gaps: []social.Key{keyOf(gap.ID.ID)},
			want: map[social.Thread][]*social.Comment{
				selection(p, order): thread, selection(other, order): short, selection(empty, order): nil,
				{Post: newPostID(), Order: order}: nil,
			},
		}
		switch order {
		case social.OrderOldest:
		case social.OrderNewest:
			lists.descending = true
			lists.want[selection(p, order)], lists.want[selection(other, order)] = reversed(thread), reversed(short)
		case social.OrderThreaded:
			lists.key, lists.gaps, lists.origin = commentTreeKey, []social.Key{gap.TreePath}, treeOrigin
			lists.want[selection(p, order)] = inTree(thread)
		}
		lists.check()
	}
}

// treeOrigin is before all tree paths.
var treeOrigin = social.Key(id.ID{}.String())

func threadListsDirectReplies(w *world) {
	ada := w.user()
	p, other := w.status(ada), w.status(ada)
	thread := w.forest(p, ada)
	lists := listing[social.Thread, *social.Comment]{
		w: w, name: "Thread of direct replies", call: w.Thread, key: commentKey, gaps: []social.Key{keyOf(newCommentID().ID)},
		want: map[social.Thread][]*social.Comment{},
	}
	for _, parent := range thread[:6] {
		replies := slices.DeleteFunc(slices.Clone(thread), func(c *social.Comment) bool { return c.Parent != parent.ID })
		lists.want[social.Thread{Post: p.ID, Order: social.OrderOldest, Parent: parent.ID}] = replies
	}
	lists.want[social.Thread{Post: p.ID, Order: social.OrderOldest, Parent: newCommentID()}] = nil
	lists.want[social.Thread{Post: other.ID, Order: social.OrderOldest, Parent: thread[2].ID}] = nil // not in that post
	lists.check()
}

func threadListsDiscussions(w *world) {
	ada := w.user()
	p, other := w.status(ada), w.status(ada)
	thread := w.forest(p, ada)
	gap := newComment(p, thread[2], ada)
	lists := listing[social.Thread, *social.Comment]{
		w: w, name: "Thread under a comment", call: w.Thread, key: commentTreeKey,
		gaps: []social.Key{gap.TreePath, thread[0].TreePath}, origin: treeOrigin, want: map[social.Thread][]*social.Comment{},
	}
	for _, top := range thread[:5] {
		under := slices.DeleteFunc(inTree(thread), func(c *social.Comment) bool {
			return !strings.HasPrefix(string(c.TreePath), string(top.TreePath))
		})
		lists.want[social.Thread{Post: p.ID, Order: social.OrderThreaded, Under: top.TreePath}] = under
	}
	lists.want[social.Thread{Post: p.ID, Order: social.OrderThreaded, Under: gap.TreePath}] = nil
	lists.want[social.Thread{Post: other.ID, Order: social.OrderThreaded, Under: thread[2].TreePath}] = nil
	lists.check()
}

func threadReadsMixedSelections(w *world) {
	ada := w.user()
	p, other := w.status(ada), w.status(ada)
	thread, others := w.forest(p, ada), w.forest(other, ada)
	top := thread[2]
	under := slices.DeleteFunc(inTree(thread), func(c *social.Comment) bool {
		return !strings.HasPrefix(string(c.TreePath), string(top.TreePath))
	})
	replies := slices.DeleteFunc(slices.Clone(thread), func(c *social.Comment) bool { return c.Parent != top.ID })
	list := func(of social.Thread, page social.Page) social.List[social.Thread] {
		return social.List[social.Thread]{Of: of, Page: page}
	}
	want := map[social.List[social.Thread]][]*social.Comment{
		list(selection(p, social.OrderOldest), social.Page{Limit: 3}):                                            thread[:3],
		list(selection(p, social.OrderOldest), social.Page{Limit: 4, Last: true}):                                last(thread, 4),
		list(selection(p, social.OrderNewest), social.Page{Limit: 3}):                                            reversed(thread)[:3],
		list(selection(p, social.OrderThreaded), social.Page{Limit: 5, After: inTree(thread)[1].TreePath}):       inTree(thread)[2:7],
		list(selection(other, social.OrderOldest), social.Page{Limit: 3}):                                        others[:3],
		list(selection(other, social.OrderNewest), social.Page{Limit: 2, Before: commentKey(others[0])}):         reversed(others)[:2],
		list(social.Thread{Post: p.ID, Order: social.OrderThreaded, Under: top.TreePath}, social.Page{Limit: 2}): under[:2],
		list(social.Thread{Post: p.ID, Order: social.OrderOldest, Parent: top.ID}, social.Page{Limit: 2}):        replies[:2],
	}
	var lists []social.List[social.Thread]
	for l := range want {
		lists = append(lists, l)
	}
	got, err := w.Thread(w.ctx, lists)
	w.ok(err, "Thread")
	for l, comments := range want {
		w.same(got[l], comments, "the page %+v", l)
	}
}

func latestCommentsSkipsAuthors(w *world) {
	people := w.users(4)
	p, other, empty := w.status(people[0]), w.status(people[0]), w.status(people[0])
	var live, others []*social.Comment
	for i := range 40 {
		live = append(live, w.comment(p, nil, people[i%4]))
	}
	others = append(others, w.comment(other, nil, people[1]))
	w.deleteComment(live[39])
	w.comment(p, live[38], people[3])
	w.deleteComment(live[38]) // a tombstone has no author
	live = append(live[:38], w.checkThread(p.ID, 40)[39])

	posts := []social.PostID{p.ID, other.ID, empty.ID, newPostID(), p.ID}
	for _, c := range []struct {
		without []social.UserID
		n       int
	}{
		{nil, 3},
		{[]social.UserID{people[0].ID}, 3},
		{[]social.UserID{people[1].ID, people[2].ID, people[3].ID}, 3},
		{[]social.UserID{people[1].ID, people[2].ID, people[3].ID}, 30},
		{[]social.UserID{people[3].ID, newUserID(), people[3].ID}, 10},
		{userIDs(people), 5},
	} {
		left := func(from []*social.Comment) []*social.Comment {
			return last(slices.DeleteFunc(slices.Clone(from), func(comment *social.Comment) bool {
				return slices.Contains(c.without, comment.Author)
			}), c.n)
		}
		got, err := w.LatestComments(w.ctx, posts, c.without, c.n)
		w.ok(err, "LatestComments")
		w.same(got[p.ID], left(live), "the %d newest without %d authors", c.n, len(c.without))
		w.same(got[other.ID], left(others), "the %d newest of the other post without %d authors", c.n, len(c.without))
		w.same(got[empty.ID], []*social.Comment(nil), "the newest of a post without comments")
		w.same(got[posts[3]], []*social.Comment(nil), "the newest of an absent post")
	}
}

func randomThreadsStayExact(w *world) {
	ada := w.user()
	p := w.status(ada)
	for range 8 {
		live := w.liveComments(p.ID)
		for range 15 {
			switch n := w.dice.IntN(10); {
			case n < 2 || len(live) == 0:
				live = append(live, w.comment(p, nil, ada))
			case n < 6:
				live = append(live, w.comment(p, live[w.dice.IntN(len(live))], ada))
			default:
				i := w.dice.IntN(len(live))
				w.deleteComment(live[i])
				live = slices.Delete(live, i, i+1)
			}
		}
		w.checkThread(p.ID, len(whole(w, w.Thread, selection(p, social.OrderOldest))))
		w.same(len(w.liveComments(p.ID)), len(live), "the number of live comments")
	}
	for _, c := range w.liveComments(p.ID) {
		w.deleteComment(c)
	}
	w.checkThread(p.ID, 0)
}

// liveComments reads a thread without its tombstones.
func (w *world) liveComments(post social.PostID) []*social.Comment {
	w.t.Helper()
	thread := whole(w, w.Thread, social.Thread{Post: post, Order: social.OrderOldest})
	return slices.DeleteFunc(thread, func(c *social.Comment) bool { return c.Deleted })
}
