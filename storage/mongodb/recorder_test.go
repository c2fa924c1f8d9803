package mongodb_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// recorder keeps the commands that a store sends.
type recorder struct {
	mu       sync.Mutex
	commands []bson.Raw
}

func (r *recorder) monitor() *event.CommandMonitor {
	return &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
		if mongotest.IsHeartbeat(e) {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.commands = append(r.commands, slices.Clone(e.Command))
	}}
}

// take returns the commands since the last take.
func (r *recorder) take() []bson.Raw {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.commands
	r.commands = nil
	return taken
}

// names returns the commands in short form, such as "find posts".
func names(commands []bson.Raw) string {
	var all []string
	for _, c := range commands {
		first, err := c.IndexErr(0)
		if err != nil {
			continue
		}
		name := first.Key()
		if collection, ok := first.Value().StringValueOK(); ok {
			name += " " + collection
		}
		all = append(all, name)
	}
	return strings.Join(all, ", ")
}

// town is a store with people in it.
type town struct {
	*mongodb.Store
	uri, layout string
	t           testing.TB
	ctx         context.Context //nolint:containedctx // the test's own
}

func newTown(tb testing.TB, r *recorder) *town {
	tb.Helper()
	return newTownIn(tb, r, mongodb.CommentsDocuments)
}

// newTownIn returns a town with a layout of comment threads.
func newTownIn(tb testing.TB, r *recorder, layout string) *town {
	tb.Helper()
	return newTownOf(tb, r, mongodb.Options{Comments: layout})
}

// newTownOf returns a town with the layouts of the options.
func newTownOf(tb testing.TB, r *recorder, o mongodb.Options) *town {
	tb.Helper()
	o.Unjournaled = true
	return newTownAt(tb, r, mongotest.Reused(tb), o)
}

// newTownAlone is newTownOf for tests that change collections or indexes: no other test uses the
// database.
func newTownAlone(tb testing.TB, r *recorder, o mongodb.Options) *town {
	tb.Helper()
	return newTownAt(tb, r, mongotest.Database(tb), o)
}

func newTownAt(tb testing.TB, r *recorder, uri string, o mongodb.Options) *town {
	tb.Helper()
	if r != nil {
		o.Monitor = r.monitor()
	}
	return &town{Store: openAt(tb, uri, o), uri: uri, layout: o.Comments, t: tb, ctx: tb.Context()}
}

func (w *town) ok(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// people signs up n users, without events.
func (w *town) people(n int) []social.NewUser {
	w.t.Helper()
	users := make([]social.NewUser, n)
	for i := range users {
		u := social.User{
			ID: social.UserID{ID: id.New()}, Handle: fmt.Sprintf("u%d_%s", i, id.New()), Name: "U",
			WallPolicy: social.WallEveryone,
		}
		users[i] = social.NewUser{User: u, PasswordHash: "h", Following: social.NewBuiltInCircle(u.ID)}
	}
	for batch := range slices.Chunk(users, 1000) {
		_, err := w.ImportUsers(w.ctx, batch)
		w.ok(err)
	}
	return users
}

// follow makes one user follow many.
func (w *town) follow(owner social.NewUser, members []social.NewUser) {
	w.t.Helper()
	for batch := range slices.Chunk(members, 1000) {
		var memberships []social.Membership
		var edges []social.EdgeID
		for _, m := range batch {
			memberships = append(memberships, social.Membership{Circle: owner.Following.ID, Owner: owner.User.ID, Member: m.User.ID})
			edges = append(edges, social.EdgeID{ID: id.New()})
		}
		_, err := w.ImportMemberships(w.ctx, memberships, edges)
		w.ok(err)
	}
}

// status returns a new post without storing it.
func status(author, wall social.UserID, audience social.Audience) *social.Post {
	return &social.Post{
		ID: social.PostID{ID: id.New()}, Author: author, WallOwner: wall, Audience: audience,
		Content: social.Content{Status: &social.Status{Text: "hello"}},
	}
}

var public = social.Audience{Kind: social.AudiencePublic}

func (w *town) post(p *social.Post) *social.Post {
	w.t.Helper()
	w.ok(w.InsertPost(w.ctx, p, happened(social.EventPostCreated)))
	return p
}

// comment stores a comment.
func (w *town) comment(p *social.Post, parent *social.Comment, author social.UserID) *social.Comment {
	w.t.Helper()
	c := newComment(p, parent, author)
	w.ok(w.InsertComment(w.ctx, c, happened(social.EventCommentAdded)))
	return c
}

func newComment(p *social.Post, parent *social.Comment, author social.UserID) *social.Comment {
	return commentWithID(id.New(), p, parent, author)
}

func commentWithID(own id.ID, p *social.Post, parent *social.Comment, author social.UserID) *social.Comment {
	c := &social.Comment{Post: p.ID, Author: author, Text: "yes"}
	c.ReplyTo(parent)
	c.SetID(social.CommentID{ID: own})
	return c
}

// forest returns n comments without storing them. Every fifth one replies to the post, the others
// to one of the last twenty.
func forest(p *social.Post, author social.UserID, n int) []*social.Comment {
	dice := rand.New(rand.NewPCG(7, uint64(n)))
	all := make([]*social.Comment, n)
	for i := range all {
		var parent *social.Comment
		if i%5 > 0 {
			parent = all[i-1-dice.IntN(min(i, 20))]
		}
		if parent != nil && parent.Depth() >= 32 {
			parent = nil
		}
		all[i] = newComment(p, parent, author)
		all[i].Text = "What a comment says is mostly about as long as this one is: some eighty characters."
	}
	return all
}

func happened(kind social.EventKind) social.Event {
	return social.Event{ID: social.EventID{ID: id.New()}, Kind: kind}
}

func edge(from, to social.UserID) social.Edge {
	return social.Edge{ID: social.EdgeID{ID: id.New()}, From: from, To: to}
}

// lists returns requests for the same page of several lists.
func lists[K comparable](p social.Page, of ...K) []social.List[K] {
	var all []social.List[K]
	for _, k := range of {
		all = append(all, social.List[K]{Of: k, Page: p})
	}
	return all
}
