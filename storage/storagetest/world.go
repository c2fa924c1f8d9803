package storagetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"plaza/id"
	"plaza/social"
	"plaza/storage"
)

// world is a store under test, with helpers to fill and read it. Its methods fail the test on an
// error: call them on the test's own goroutine.
type world struct {
	storage.Store
	t    *testing.T
	ctx  context.Context //nolint:containedctx // it lasts as long as the test
	dice *rand.Rand      // the same sequence in every run of a test
}

func newWorld(t *testing.T, open Open) *world {
	t.Helper()
	return &world{Store: openAtWork(t, open), t: t, ctx: t.Context(), dice: newDice(len(t.Name()), 0)}
}

// openAtWork opens a store that does its background work until the test ends.
func openAtWork(t *testing.T, open Open) storage.Store {
	t.Helper()
	store := open(t)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		store.Work(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
	return store
}

// Settle waits until a store has done its background work.
func Settle(ctx context.Context, store social.Worker) error { return settle(ctx, store) }

// settle waits until a store has done its background work.
func settle(ctx context.Context, store social.Worker) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return social.Settle(ctx, store)
}

// News reads news when the background work is done: until then the newest entries may be missing.
func (w *world) News(ctx context.Context, viewer social.UserID, p social.Page) ([]*social.Post, error) {
	if err := settle(ctx, w.Store); err != nil {
		return nil, err
	}
	return w.Store.News(ctx, viewer, p)
}

// settledNews reads pages of news when the background work is done. It waits once for all of them:
// nothing is written meanwhile.
func (w *world) settledNews(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Post, error) {
	if err := settle(ctx, w.Store); err != nil {
		return nil, err
	}
	return single(w.Store.News)(ctx, lists)
}

// newDice returns dice with the same sequence for the same numbers.
func newDice(one, two int) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(one), uint64(two))) //nolint:gosec // tests must be repeatable
}

// ok ends the test unless err is nil.
func (w *world) ok(err error, what string, args ...any) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("%s: %v", fmt.Sprintf(what, args...), err)
	}
}

// fails reports an error unless err is the sentinel.
func (w *world) fails(err, sentinel error, what string, args ...any) {
	w.t.Helper()
	if !errors.Is(err, sentinel) {
		w.t.Errorf("%s: error %v, want %v", fmt.Sprintf(what, args...), err, sentinel)
	}
}

// did fails the test unless the call succeeded and returned the expected value.
func (w *world) did(want bool) func(got bool, err error) {
	w.t.Helper()
	return func(got bool, err error) {
		w.t.Helper()
		if err != nil || got != want {
			w.t.Fatalf("the call answers %t, %v; want %t", got, err, want)
		}
	}
}

// readableIDs shows ids in differences as texts.
var readableIDs = cmp.Transformer("text", func(i id.ID) string {
	if i.IsZero() {
		return "none"
	}
	return i.String()
})

// difference describes how an answer differs from what is expected: "" if it does not. It asks cmp, which
// is slow, only about what reflect does not find equal already.
func difference(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got, cmpopts.EquateEmpty(), readableIDs)
}

// same reports differences. Empty and nil slices and maps are the same; times are compared as
// instants.
func (w *world) same(got, want any, what string, args ...any) {
	w.t.Helper()
	if diff := difference(want, got); diff != "" {
		w.t.Errorf("%s differs (-want +got):\n%s", fmt.Sprintf(what, args...), diff)
	}
}

// number returns the result of a call that counts and must succeed.
func number(w *world) func(int, error) int {
	w.t.Helper()
	return func(n int, err error) int {
		w.t.Helper()
		w.ok(err, "counting")
		return n
	}
}

// New ids, and the current time in milliseconds, which every engine can store.
func newUserID() social.UserID       { return social.UserID{ID: id.New()} }
func newCircleID() social.CircleID   { return social.CircleID{ID: id.New()} }
func newPostID() social.PostID       { return social.PostID{ID: id.New()} }
func newCommentID() social.CommentID { return social.CommentID{ID: id.New()} }
func newEdgeID() social.EdgeID       { return social.EdgeID{ID: id.New()} }
func now() time.Time                 { return time.Now().UTC().Truncate(time.Millisecond) }

// keyOf returns the list key of an id.
func keyOf(i id.ID) social.Key { return social.Key(i.Bytes()) }

// event makes an event without any subject.
func event(kind social.EventKind) social.Event {
	return social.Event{ID: social.EventID{ID: id.New()}, Kind: kind}
}

// newUser creates a user that is not stored yet. The handle is unique. A quarter of the users have
// built-in circles with other ids, as those of earlier versions have.
func newUser() social.NewUser {
	user := newUserID()
	builtIn := social.NewBuiltInCircle(user)
	if user.Bytes()[15]%4 == 0 {
		builtIn.ID = newCircleID()
	}
	return social.NewUser{
		User: social.User{
			ID: user, Handle: "u_" + user.ID.String(), Name: "Name of " + user.ID.String(), WallPolicy: social.WallEveryone,
		},
		PasswordHash: "hash of " + user.ID.String(),
		Following:    builtIn,
	}
}

// person is a stored user with the built-in circle.
type person struct {
	ID        social.UserID
	Following social.CircleID
}

// user stores a new user.
func (w *world) user() person {
	w.t.Helper()
	u := newUser()
	w.ok(w.InsertUser(w.ctx, u, event(social.EventUserSignedUp)), "InsertUser")
	return person{u.User.ID, u.Following.ID}
}

// users stores n new users, in the order of their ids.
func (w *world) users(n int) []person {
	w.t.Helper()
	fresh, people := make([]social.NewUser, n), make([]person, n)
	for i := range fresh {
		fresh[i] = newUser()
		people[i] = person{fresh[i].User.ID, fresh[i].Following.ID}
	}
	added, err := w.ImportUsers(w.ctx, fresh)
	w.ok(err, "ImportUsers")
	w.same(added, n, "the number of users that ImportUsers added")
	return people
}

// circle stores a circle.
func (w *world) circle(owner person, name string) social.CircleID {
	w.t.Helper()
	c := &social.Circle{ID: newCircleID(), Owner: owner.ID, Name: name}
	w.ok(w.InsertCircle(w.ctx, c, social.MaxCircles, event(social.EventCircleCreated)), "InsertCircle %q", name)
	return c.ID
}

// add calls AddToCircle.
func (w *world) add(circle social.CircleID, owner, member person) (bool, error) {
	m := social.Membership{Circle: circle, Owner: owner.ID, Member: member.ID}
	return w.AddToCircle(w.ctx, m, newEdgeID(), event(social.EventMemberAdded))
}

// remove calls RemoveFromCircle.
func (w *world) remove(circle social.CircleID, owner, member person) (bool, error) {
	m := social.Membership{Circle: circle, Owner: owner.ID, Member: member.ID}
	return w.RemoveFromCircle(w.ctx, m, event(social.EventMemberRemoved))
}

// join puts the member into the circle, for the first time.
func (w *world) join(circle social.CircleID, owner person, members ...person) {
	w.t.Helper()
	for _, member := range members {
		w.did(true)(w.add(circle, owner, member))
	}
}

// follow puts each of them into the built-in circle, for the first time.
func (w *world) follow(owner person, members ...person) {
	w.t.Helper()
	w.join(owner.Following, owner, members...)
}

// followAll does the same in bulk.
func (w *world) followAll(owner person, members []person) {
	w.t.Helper()
	var memberships []social.Membership
	var edges []social.EdgeID
	for _, member := range members {
		memberships = append(memberships, social.Membership{Circle: owner.Following, Owner: owner.ID, Member: member.ID})
		edges = append(edges, newEdgeID())
	}
	added, err := w.ImportMemberships(w.ctx, memberships, edges)
	w.ok(err, "ImportMemberships")
	w.same(added, len(members), "the number of memberships that ImportMemberships added")
}

// block calls Block.
func (w *world) block(from, to person) (bool, error) {
	return w.Block(w.ctx, social.Edge{ID: newEdgeID(), From: from.ID, To: to.ID}, event(social.EventBlocked))
}

// mute calls Mute.
func (w *world) mute(from, to person) (bool, error) {
	return w.Mute(w.ctx, social.Edge{ID: newEdgeID(), From: from.ID, To: to.ID}, event(social.EventMuted))
}

// statusBy makes a public status on the author's own wall that is not stored yet.
func statusBy(author person) *social.Post {
	post := newPostID()
	return &social.Post{
		ID: post, Author: author.ID, WallOwner: author.ID,
		Audience: social.Audience{Kind: social.AudiencePublic},
		Content:  social.Content{Status: &social.Status{Text: "status " + post.ID.String()}},
		Replies:  social.ReplyPolicy{Kind: social.RepliesEveryone}, Order: social.OrderOldest,
	}
}

// insert stores the posts and returns the last one.
func (w *world) insert(posts ...*social.Post) *social.Post {
	w.t.Helper()
	for _, p := range posts {
		w.ok(w.InsertPost(w.ctx, p, event(social.EventPostCreated)), "InsertPost")
	}
	return posts[len(posts)-1]
}

// status stores a public status on the author's own wall.
func (w *world) status(author person) *social.Post {
	w.t.Helper()
	return w.insert(statusBy(author))
}

// poll stores a public poll with n options.
func (w *world) poll(author person, options int) *social.Post {
	w.t.Helper()
	p := statusBy(author)
	p.Content = social.Content{Poll: &social.Poll{Question: "Which?"}}
	for i := range options {
		p.Content.Poll.Options = append(p.Content.Poll.Options, fmt.Sprint("option ", i))
	}
	return w.insert(p)
}

// newComment makes a comment that is not stored yet; parent may be nil.
func newComment(post *social.Post, parent *social.Comment, author person) *social.Comment {
	return commentWithID(newCommentID(), post, parent, author)
}

// commentWithID makes a comment whose slug follows from the id or, like those of earlier versions,
// does not.
func commentWithID(own social.CommentID, post *social.Post, parent *social.Comment, author person) *social.Comment {
	slug := ""
	if own.Bytes()[15]%2 == 0 {
		slug = "c" + own.ID.String()[18:]
	}
	return commentWithSlug(slug, own, post, parent, author)
}

// commentWithSlug makes a comment with that slug, or else with the one that follows from the id.
func commentWithSlug(slug string, own social.CommentID, post *social.Post, parent *social.Comment, author person) *social.Comment {
	c := &social.Comment{Post: post.ID, Author: author.ID, Slug: slug, Text: "comment " + own.ID.String()}
	c.ReplyTo(parent)
	c.SetID(own)
	return c
}

// comment stores a comment; parent may be nil.
func (w *world) comment(post *social.Post, parent *social.Comment, author person) *social.Comment {
	w.t.Helper()
	c := newComment(post, parent, author)
	w.ok(w.insertComment(c), "InsertComment")
	return c
}

// insertComment calls InsertComment.
func (w *world) insertComment(c *social.Comment) error {
	return w.InsertComment(w.ctx, c, event(social.EventCommentAdded))
}

// deleteComment deletes a comment that must exist.
func (w *world) deleteComment(c *social.Comment) {
	w.t.Helper()
	w.ok(w.DeleteComment(w.ctx, c.ID, event(social.EventCommentDeleted)), "DeleteComment")
}

// getUser reads one user who must exist.
func (w *world) getUser(user social.UserID) *social.User {
	w.t.Helper()
	return only(w, w.Users, user)
}

// getCircle reads one circle that must exist.
func (w *world) getCircle(circle social.CircleID) *social.Circle {
	w.t.Helper()
	return only(w, w.Circles, circle)
}

// getPost reads one post that must exist.
func (w *world) getPost(post social.PostID) *social.Post {
	w.t.Helper()
	return only(w, w.Posts, post)
}

// getComment reads one comment that must exist.
func (w *world) getComment(comment social.CommentID) *social.Comment {
	w.t.Helper()
	return only(w, w.Comments, comment)
}

// relation reads one relation.
func (w *world) relation(viewer, other person) social.Relation {
	w.t.Helper()
	pair := social.Pair{Viewer: viewer.ID, Other: other.ID}
	relations, err := w.Relations(w.ctx, []social.Pair{pair})
	w.ok(err, "Relations")
	return relations[pair]
}

// everything is a page that contains a whole list.
var everything = social.Page{Limit: 1000}

// whole reads one whole list from a batch read.
func whole[K comparable, T any](w *world, call batchRead[K, T], of K) []T {
	w.t.Helper()
	list := social.List[K]{Of: of, Page: everything}
	answer, err := call(w.ctx, []social.List[K]{list})
	w.ok(err, "reading the list of %v", of)
	return answer[list]
}

// batchLookup is a call of the contract that reads by key.
type batchLookup[K comparable, V any] = func(context.Context, []K) (map[K]V, error)

// lookup reads by key.
func lookup[K comparable, V any](w *world, call batchLookup[K, V], keys []K) map[K]V {
	w.t.Helper()
	answer, err := call(w.ctx, keys)
	w.ok(err, "reading %d %Ts", len(keys), *new(K))
	return answer
}

// only reads one thing that must exist.
func only[K comparable, V any](w *world, call batchLookup[K, V], key K) V {
	w.t.Helper()
	value, there := lookup(w, call, []K{key})[key]
	if !there {
		w.t.Fatalf("%v is absent", key)
	}
	return value
}

// absent reports an error if any of the keys has an answer.
func absent[K comparable, V any](w *world, what string, call batchLookup[K, V], keys ...K) {
	w.t.Helper()
	if there := lookup(w, call, keys); len(there) > 0 {
		w.t.Errorf("the %s exists: %v", what, there)
	}
}

// votesOf reads a user's votes.
func (w *world) votesOf(user social.UserID) batchLookup[social.PostID, int] {
	return func(ctx context.Context, posts []social.PostID) (map[social.PostID]int, error) {
		return w.Votes(ctx, user, posts)
	}
}

// reactionsOf reads a user's reactions.
func (w *world) reactionsOf(user social.UserID) batchLookup[social.PostID, social.ReactionKind] {
	return func(ctx context.Context, posts []social.PostID) (map[social.PostID]social.ReactionKind, error) {
		return w.Reactions(ctx, user, posts)
	}
}

// together runs n functions concurrently, and returns their errors when all have ended.
func together(n int, run func(i int) error) []error {
	errs := make([]error, n)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-start
			errs[i] = run(i)
		})
	}
	close(start)
	all.Wait()
	return errs
}

// tally sorts errors: how many are nil, and how many are one of the sentinels. Any other ends the
// test.
func (w *world) tally(errs []error, allowed ...error) (succeeded int) {
	w.t.Helper()
	for _, err := range errs {
		switch {
		case err == nil:
			succeeded++
		case !slices.ContainsFunc(allowed, func(sentinel error) bool { return errors.Is(err, sentinel) }):
			w.t.Fatalf("error %v, want none or one of %v", err, allowed)
		}
	}
	return succeeded
}
