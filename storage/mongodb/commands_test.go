package mongodb_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// TestCommandCounts checks how many commands each read takes. A page of 100 takes as many as a page
// of 20.
func TestCommandCounts(t *testing.T) {
	t.Parallel()
	r := new(recorder)
	w := newTown(t, r)
	users := w.people(420)
	few, many := users[0], users[1]
	w.follow(few, users[2:12])
	w.follow(many, users[2:])
	var posts []social.PostID
	var authors []social.UserID
	for i := range 120 {
		author := users[2+i%10].User.ID
		posts = append(posts, w.post(status(author, author, public)).ID)
		authors = append(authors, author)
	}
	p := w.post(status(few.User.ID, few.User.ID, public))
	for range 120 {
		w.comment(p, nil, few.User.ID)
	}
	for name, c := range map[string]struct {
		want int
		call func(n int) error
	}{
		"Users":     {1, func(n int) error { _, err := w.Users(w.ctx, authors[:n]); return err }},
		"Posts":     {1, func(n int) error { _, err := w.Posts(w.ctx, posts[:n]); return err }},
		"Reactions": {1, func(n int) error { _, err := w.Reactions(w.ctx, few.User.ID, posts[:n]); return err }},
		"Votes":     {1, func(n int) error { _, err := w.Votes(w.ctx, few.User.ID, posts[:n]); return err }},
		"Relations": {1, func(n int) error {
			var pairs []social.Pair
			for _, u := range users[2 : n+2] {
				pairs = append(pairs, social.Pair{Viewer: few.User.ID, Other: u.User.ID})
			}
			_, err := w.Relations(w.ctx, pairs)
			return err
		}},
		"People":      {1, func(n int) error { _, err := w.People(w.ctx, few.User.ID, authors[:n]); return err }},
		"News of few": {3, func(n int) error { _, err := w.News(w.ctx, few.User.ID, social.Page{Limit: n + 1}); return err }},
		"News of many": {3, func(n int) error {
			_, err := w.News(w.ctx, many.User.ID, social.Page{Limit: n + 1})
			return err
		}},
		"Incoming": {2, func(n int) error { _, err := w.Incoming(w.ctx, few.User.ID, social.Page{Limit: n + 1}); return err }},
		"Wall": {1, func(n int) error {
			_, err := w.Wall(w.ctx, lists(social.Page{Limit: n + 1}, few.User.ID))
			return err
		}},
		"Walls": {1, func(n int) error { _, err := w.Wall(w.ctx, lists(social.Page{Limit: 3}, authors[:n]...)); return err }},
		"PostsBy": {1, func(n int) error {
			_, err := w.PostsBy(w.ctx, lists(social.Page{Limit: 3}, authors[:n]...))
			return err
		}},
		"Followers": {1, func(n int) error { _, err := w.Followers(w.ctx, lists(social.Page{Limit: n}, authors[0])); return err }},
		"Following": {1, func(n int) error {
			_, err := w.Following(w.ctx, lists(social.Page{Limit: n}, many.User.ID))
			return err
		}},
		"Members": {1, func(n int) error {
			_, err := w.Members(w.ctx, lists(social.Page{Limit: n}, many.Following.ID))
			return err
		}},
		"Thread": {1, func(n int) error {
			_, err := w.Thread(w.ctx, lists(social.Page{Limit: n + 1}, social.Thread{Post: p.ID, Order: social.OrderOldest}))
			return err
		}},
		"Threads": {1, func(n int) error {
			var threads []social.Thread
			for _, post := range posts[:n] {
				threads = append(threads, social.Thread{Post: post, Order: social.OrderThreaded})
			}
			_, err := w.Thread(w.ctx, lists(social.Page{Limit: 10}, threads...))
			return err
		}},
		"LatestComments": {1, func(n int) error {
			_, err := w.LatestComments(w.ctx, posts[:n], authors[:1], 3)
			return err
		}},
	} {
		w.ok(c.call(1)) // News reads the new posts
		for _, n := range []int{20, 100} {
			r.take()
			w.ok(c.call(n))
			if commands := r.take(); len(commands) != c.want {
				t.Errorf("%s of %d: %d commands, want %d: %s", name, n, len(commands), c.want, names(commands))
			}
		}
	}
}

// TestFanOutUpdatesOnce checks that the job of a new post changes all buckets in one command, and
// looks at closed ones only if a follower's open bucket did not take the post.
func TestFanOutUpdatesOnce(t *testing.T) {
	t.Parallel()
	r := new(recorder)
	w := newTownOf(t, r, mongodb.Options{Feeds: mongodb.FeedsBucket})
	users := w.people(4)
	author := users[0].User.ID
	updates := func() int {
		r.take()
		w.post(status(author, author, public))
		w.finish()
		return strings.Count(names(r.take()), "update newsBuckets")
	}
	for _, u := range users[1:] {
		w.follow(u, users[:1])
	}
	updates() // builds the feed of the author
	if n := updates(); n != 1 {
		t.Errorf("%d updates, want one for the author and all followers", n)
	}
	gone, err := mongotest.Connect(t, w.uri).Collection("newsBuckets").DeleteOne(w.ctx, stored(users[1]))
	w.ok(err)
	if gone.DeletedCount != 1 {
		t.Fatalf("%d open buckets were deleted", gone.DeletedCount)
	}
	if n := updates(); n != 2 {
		t.Errorf("%d updates without a follower's open bucket, want one more", n)
	}
}

// TestWritesAreDurable checks that the end of each write waits for the journals of a majority, and
// that every command has a time limit.
func TestWritesAreDurable(t *testing.T) {
	t.Parallel()
	r := new(recorder)
	w := newTownAt(t, r, mongotest.Reused(t), mongodb.Options{})
	r.take()
	callEverything(w)
	ends := 0
	for _, c := range r.take() {
		_, inTransaction := c.Lookup("txnNumber").AsInt64OK()
		_, isCommit := c.Lookup("commitTransaction").AsInt64OK()
		_, isInsert := c.Lookup("insert").StringValueOK()
		isAlone := isInsert && c.Lookup("autocommit").IsZero()
		if !isCommit && !isAlone {
			continue
		}
		ends++
		concern := c.Lookup("writeConcern")
		if want := `{"w": "majority","j": true}`; concern.String() != want && concern.String() != `{"j": true,"w": "majority"}` {
			t.Errorf("write concern %s of %s, want %s", concern, names([]bson.Raw{c}), want)
		}
		if !inTransaction {
			t.Errorf("%s is not retryable", names([]bson.Raw{c}))
		}
	}
	if ends < 20 {
		t.Errorf("only %d writes were seen", ends)
	}
}

// TestWriteCommandCounts checks how many commands each write takes, including its event and the
// commit.
func TestWriteCommandCounts(t *testing.T) {
	t.Parallel()
	r := new(recorder)
	w := newTown(t, r)
	users := w.people(3)
	ada, ben := users[0], users[1]
	p := status(ada.User.ID, ada.User.ID, public)
	var root *social.Comment
	m := social.Membership{Circle: ada.Following.ID, Owner: ada.User.ID, Member: ben.User.ID}
	for _, c := range []struct {
		name string
		want int
		call func() error
	}{
		{"InsertPost", 4, func() error { return w.InsertPost(w.ctx, p, happened(social.EventPostCreated)) }},
		{"InsertComment", 5, func() error {
			root = newComment(p, nil, ada.User.ID)
			return w.InsertComment(w.ctx, root, happened(social.EventCommentAdded))
		}},
		{"InsertComment, a reply", 6, func() error {
			return w.InsertComment(w.ctx, newComment(p, root, ada.User.ID), happened(social.EventCommentAdded))
		}},
		{"EditComment", 5, func() error {
			return w.EditComment(w.ctx, root.ID, "x", time.Now(), happened(social.EventCommentEdited))
		}},
		{"DeleteComment", 8, func() error { return w.DeleteComment(w.ctx, root.ID, happened(social.EventCommentDeleted)) }},
		{"PutReaction", 4, func() error {
			return w.PutReaction(w.ctx, p.ID, ben.User.ID, social.ReactionLike, happened(social.EventReactionAdded))
		}},
		{"MuteThread", 4, func() error {
			_, err := w.MuteThread(w.ctx, p.ID, ben.User.ID, happened(social.EventThreadMuted))
			return err
		}},
		{"AddToCircle", 6, func() error {
			_, err := w.AddToCircle(w.ctx, m, social.EdgeID{ID: id.New()}, happened(social.EventMemberAdded))
			return err
		}},
		{"AddToCircle, again", 2, func() error {
			_, err := w.AddToCircle(w.ctx, m, social.EdgeID{ID: id.New()}, happened(social.EventMemberAdded))
			return err
		}},
		{"Unfollow", 6, func() error {
			_, err := w.Unfollow(w.ctx, ada.User.ID, ben.User.ID, happened(social.EventUnfollowed))
			return err
		}},
		{"Block", 6, func() error {
			_, err := w.Block(w.ctx, edge(ada.User.ID, ben.User.ID), happened(social.EventBlocked))
			return err
		}},
	} {
		r.take()
		if err := c.call(); err != nil && !errors.Is(err, social.ErrNotFound) {
			t.Fatalf("%s: %v", c.name, err)
		}
		if commands := r.take(); len(commands) != c.want {
			t.Errorf("%s: %d commands, want %d: %s", c.name, len(commands), c.want, names(commands))
		}
	}
}

// TestThreadCommandCounts checks what threads cost in each layout. A page costs as much at the end
// of 10,000 comments as at the start, and examines no more documents than necessary.
func TestThreadCommandCounts(t *testing.T) {
	t.Parallel()
	for layout, most := range map[string]struct{ documents, writes int }{
		mongodb.CommentsDocuments: {57, 5},
		mongodb.CommentsEmbedded:  {1, 7}, // one for the index of authors
		mongodb.CommentsPages:     {2, 8}, // and one for new buckets
		mongodb.CommentsAdaptive:  {2, 8},
	} {
		t.Run(layout, func(t *testing.T) {
			r := new(recorder)
			w := newTownIn(t, r, layout)
			client := plainClient(t)
			ada := w.people(1)[0].User.ID
			p := w.post(status(ada, ada, public))
			all := forest(p, ada, 10_000)
			w.ok(w.Fill(w.ctx, p.ID, all))
			middle := all[5003]
			byAuthor := 2 // an index of its own, and then the comments
			if layout == mongodb.CommentsDocuments {
				byAuthor = 1
			}
			for name, page := range threadPages(p.ID, all) {
				r.take()
				threads, err := w.Thread(w.ctx, []social.List[social.Thread]{page})
				w.ok(err)
				if got := len(threads[page]); got == 0 || got > 57 || got < 57 && page.Of.Under == "" && page.Of.Parent.IsZero() {
					t.Errorf("%s: %d comments", name, got)
				}
				commands := r.take()
				if len(commands) != 1 {
					t.Fatalf("%s: %d commands: %s", name, len(commands), names(commands))
				}
				plan := explain(t, client, explainable(t, commands[0])[0], "executionStats")
				if n := total(plan["executionStats"], "totalDocsExamined"); n > most.documents {
					t.Errorf("%s: %d documents examined, want at most %d", name, n, most.documents)
				}
			}
			for name, c := range map[string]struct {
				want int
				call func() error
			}{
				"CommentsBySlug": {1, func() error {
					_, err := w.CommentsBySlug(w.ctx, []social.Permalink{{Post: p.ID, Slug: middle.Slug}})
					return err
				}},
				"CommentsBy": {byAuthor, func() error {
					_, err := w.CommentsBy(w.ctx, lists(social.Page{Limit: 57, After: social.Key(middle.ID.Bytes())}, ada))
					return err
				}},
				"CommentsBy, two authors": {byAuthor, func() error {
					_, err := w.CommentsBy(w.ctx, lists(social.Page{Limit: 57}, ada, social.UserID{ID: id.New()}))
					return err
				}},
				"Comments": {1, func() error { _, err := w.Comments(w.ctx, middle.AncestorIDs()); return err }},
				"LatestComments": {1, func() error {
					_, err := w.LatestComments(w.ctx, []social.PostID{p.ID}, []social.UserID{{ID: id.New()}}, 8)
					return err
				}},
				"InsertComment": {most.writes, func() error {
					return w.InsertComment(w.ctx, newComment(p, nil, ada), happened(social.EventCommentAdded))
				}},
			} {
				r.take()
				w.ok(c.call())
				if commands := r.take(); len(commands) > c.want {
					t.Errorf("%s: %d commands, want %d: %s", name, len(commands), c.want, names(commands))
				}
			}
		})
	}
}

// threadPages are pages of 57 candidates, as a page of 50 reads them, from all parts of a thread.
func threadPages(post social.PostID, all []*social.Comment) map[string]social.List[social.Thread] {
	middle, late := all[len(all)/2+3], all[len(all)*99/100]
	time := func(c *social.Comment) social.Key { return social.Key(c.ID.Bytes()) }
	list := func(t social.Thread, page social.Page) social.List[social.Thread] {
		t.Post, page.Limit = post, 57
		return social.List[social.Thread]{Of: t, Page: page}
	}
	oldest, newest := social.Thread{Order: social.OrderOldest}, social.Thread{Order: social.OrderNewest}
	tree := social.Thread{Order: social.OrderThreaded}
	under := social.Thread{Order: social.OrderThreaded, Under: middle.TreePath[:id.TextLen]}
	replies := social.Thread{Order: social.OrderOldest, Parent: middle.AncestorIDs()[0]}
	return map[string]social.List[social.Thread]{
		"oldest":                list(oldest, social.Page{}),
		"oldest, deep":          list(oldest, social.Page{After: time(middle)}),
		"oldest, at the end":    list(oldest, social.Page{Last: true}),
		"oldest, towards start": list(oldest, social.Page{Last: true, Before: time(middle)}),
		"oldest, between":       list(oldest, social.Page{After: time(middle), Before: time(late)}),
		"newest":                list(newest, social.Page{}),
		"newest, deep":          list(newest, social.Page{After: time(middle)}),
		"newest, at the end":    list(newest, social.Page{Last: true}),
		"tree":                  list(tree, social.Page{}),
		"tree, deep":            list(tree, social.Page{After: middle.TreePath}),
		"tree, at the end":      list(tree, social.Page{Last: true}),
		"discussion":            list(under, social.Page{}),
		"discussion, from end":  list(under, social.Page{Last: true}),
		"replies":               list(replies, social.Page{}),
	}
}
