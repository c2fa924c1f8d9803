package mongodb

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// lone returns comments without ids, each on its own post by the author.
func lone(t *testing.T, s *Store, author social.UserID, n int) []*newComment {
	t.Helper()
	all := make([]*newComment, n)
	for i := range all {
		p := newStatus(author)
		ok(t, s.InsertPost(t.Context(), p, anEvent(social.EventPostCreated)))
		c := social.Comment{Post: p.ID, Author: author, Text: "hello"}
		all[i] = &newComment{given: c, event: anEvent(social.EventCommentAdded)}
	}
	return all
}

// commentsOn reads the ids of a thread.
func commentsOn(t *testing.T, s *Store, post social.PostID) []social.CommentID {
	t.Helper()
	list := social.List[social.Thread]{Of: social.Thread{Post: post, Order: social.OrderOldest}, Page: social.Page{Limit: 100}}
	pages := must(s.Thread(t.Context(), []social.List[social.Thread]{list}))(t)
	return mdb.Map(pages[list], func(c **social.Comment) social.CommentID { return (*c).ID })
}

// TestCommentsThatShareATransactionAreNewerThanTheirThreads stores comments on several posts together. Each id is
// greater than those that the thread already has, also where the post has no serial yet.
func TestCommentsThatShareATransactionAreNewerThanTheirThreads(t *testing.T) {
	t.Parallel()
	s := openInside(t, Options{})
	author, _ := fans(t, s, 0)
	batch := lone(t, s, author, 5)
	old := map[social.PostID]social.CommentID{}
	for i, c := range batch[:3] {
		future := id.FirstAt(time.Now().Add(time.Duration(i+1) * time.Hour))
		before := c.given
		before.Slug = "old"
		before.SetID(social.CommentID{ID: future})
		ok(t, s.Fill(t.Context(), c.given.Post, []*social.Comment{&before}))
		old[c.given.Post] = before.ID
	}
	ok(t, s.db.Write(t.Context(), "insert", nil, func(ctx context.Context) error { return s.insertComments(ctx, batch) }))
	for _, c := range batch {
		want := []social.CommentID{c.stored.ID}
		if before, has := old[c.given.Post]; has {
			want = []social.CommentID{before, c.stored.ID}
		}
		if got := commentsOn(t, s, c.given.Post); !slices.Equal(got, want) {
			t.Errorf("the thread is %v, want %v", got, want)
		}
	}
}

// TestRepliesThatShareATransactionStayOnTheirPosts: a comment on another post is no parent.
func TestRepliesThatShareATransactionStayOnTheirPosts(t *testing.T) {
	t.Parallel()
	s := openInside(t, Options{})
	author, _ := fans(t, s, 0)
	on := lone(t, s, author, 2)
	parent := on[0].given
	ok(t, s.InsertComment(t.Context(), &parent, on[0].event))
	reply := func(post social.PostID) *newComment {
		c := social.Comment{Post: post, Author: author, Text: "hello"}
		c.ReplyTo(&parent)
		return &newComment{given: c, event: anEvent(social.EventCommentAdded)}
	}
	batch := []*newComment{reply(on[0].given.Post), reply(on[1].given.Post)}
	err := s.db.Write(t.Context(), "insert", nil, func(ctx context.Context) error { return s.insertComments(ctx, batch) })
	if !errors.Is(err, social.ErrNotFound) {
		t.Errorf("a reply on another post, together with one on the parent's: %v", err)
	}
}

// TestWritesOfDifferentKeysDoNotWaitForEachOther holds a post in a transaction that stays open, like
// that of a killed server. Comments on other posts, and reactions to them, are stored meanwhile, and
// those of this post afterwards.
func TestWritesOfDifferentKeysDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	s := openInside(t, Options{})
	author, _ := fans(t, s, 0)
	comments := lone(t, s, author, 7)
	release := holdPost(t, s, comments[0].given.Post)
	begin := func(insert func() error) <-chan error {
		done := make(chan error, 1)
		go func() { done <- insert() }()
		return done
	}
	var all []<-chan error
	for _, c := range comments {
		all = append(all,
			begin(func() error { return s.InsertComment(t.Context(), &c.given, c.event) }),
			begin(func() error {
				return s.PutReaction(t.Context(), c.given.Post, author, social.ReactionLike, anEvent(social.EventReactionAdded))
			}))
	}
	for _, done := range all[2:] {
		ok(t, <-done)
	}
	for _, done := range all[:2] {
		select {
		case err := <-done:
			t.Errorf("a write of the locked post did not wait: %v", err)
		default:
		}
	}
	release()
	ok(t, <-all[0])
	ok(t, <-all[1])
	for _, c := range comments {
		if got := commentsOn(t, s, c.given.Post); !slices.Equal(got, []social.CommentID{c.given.ID}) {
			t.Errorf("the thread is %v, want the comment %v once", got, c.given.ID)
		}
		if p := must(s.Posts(t.Context(), []social.PostID{c.given.Post}))(t)[c.given.Post]; p.Reactions[social.ReactionLike] != 1 {
			t.Errorf("a post has the reactions %v, want one", p.Reactions)
		}
	}
}

// holdPost writes to a post in a transaction that stays open until release is called.
func holdPost(t *testing.T, s *Store, post social.PostID) (release func()) {
	t.Helper()
	session := must(s.client().StartSession())(t)
	ok(t, session.StartTransaction())
	ctx := mongo.NewSessionContext(t.Context(), session)
	must(s.posts.UpdateOne(ctx, mdb.Doc("_id", post), mdb.Doc("$inc", mdb.Doc("changes", 1))))(t)
	return func() {
		ok(t, session.AbortTransaction(ctx))
		session.EndSession(t.Context())
	}
}
