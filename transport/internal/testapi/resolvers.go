// Package testapi is a small GraphQL API for the transport's tests.
package testapi

//go:generate go run ../../../internal/cmd/gqlgen

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// Resolver resolves the test schema. Its fields connect it to a test. Those that a test does not
// need may be nil.
type Resolver struct {
	// Viewer returns the name of the user who is signed in.
	Viewer func(ctx context.Context) string
	// RequestIDOf returns the request's id.
	RequestIDOf func(ctx context.Context) string
	// LoaderOf returns the number of the loaders that were installed around the response.
	LoaderOf func(ctx context.Context) int
	// StreamOf returns the stream of a subscription.
	StreamOf func(ctx context.Context) Stream
	// Started takes a value when waits, holds, forever or flood begins; Ended when its context has
	// ended.
	Started, Ended chan string
	// Release lets holds return.
	Release chan struct{}
	// Secret is the text of the internal error.
	Secret string
}

func (r *Resolver) Query() QueryResolver               { return query{r} }
func (r *Resolver) Mutation() MutationResolver         { return mutation{r} }
func (r *Resolver) Subscription() SubscriptionResolver { return subscription{r} }
func (r *Resolver) Post() PostResolver                 { return post{} }
func (r *Resolver) User() UserResolver                 { return user{} }
func (r *Resolver) Tick() TickResolver                 { return tick{r} }

type query struct{ *Resolver }

func (query) Echo(_ context.Context, input EchoInput) (string, error) { return input.Text, nil }
func (query) Number(_ context.Context, n *int) (*int, error)          { return n, nil }
func (query) Ratio(_ context.Context, x *float64) (*float64, error)   { return x, nil }
func (query) Color(_ context.Context, c *Color) (*Color, error)       { return c, nil }
func (query) Public(context.Context) (*string, error)                 { return nil, gqlerror.Errorf("for everyone") }
func (query) Panics(context.Context) (*string, error)                 { panic("in a resolver") }
func (query) Required(context.Context) (string, error)                { return "", gqlerror.Errorf("not there") }

func (q query) Internal(context.Context) (*string, error) { return nil, errors.New(q.Secret) }

func (q query) RequestID(ctx context.Context) (string, error)        { return q.RequestIDOf(ctx), nil }
func (query) Posts(_ context.Context, count *int) ([]*Post, error)   { return posts(*count), nil }
func (query) Nodes(_ context.Context, ids []string) ([]*Post, error) { return posts(len(ids)), nil }

func (query) News(_ context.Context, first, _ *int, _ *string) (*PostConnection, error) {
	return connection(first), nil
}

func (q query) Viewer(ctx context.Context) (*string, error) {
	if q.Resolver.Viewer == nil {
		return nil, nil
	}
	name := q.Resolver.Viewer(ctx)
	if name == "" {
		return nil, nil
	}
	return &name, nil
}

func (q query) Waits(ctx context.Context) (*string, error) {
	q.Started <- "waits"
	<-ctx.Done()
	q.Ended <- "waits"
	return nil, ctx.Err()
}

type mutation struct{ *Resolver }

func (mutation) SetText(_ context.Context, text string) (string, error) { return text, nil }

func (m mutation) Holds(ctx context.Context) (string, error) {
	m.Started <- "holds"
	select {
	case <-m.Release:
		return "released", nil
	case <-ctx.Done():
		m.Ended <- "holds"
		return "", ctx.Err()
	}
}

type subscription struct{ *Resolver }

func (subscription) Ticks(ctx context.Context, count int) (<-chan *Tick, error) {
	ticks := make(chan *Tick)
	go func() {
		defer close(ticks)
		for n := range count {
			select {
			case ticks <- &Tick{N: n}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return ticks, nil
}

func (s subscription) Forever(ctx context.Context) (<-chan *Tick, error) {
	ticks := make(chan *Tick)
	go func() {
		defer close(ticks)
		s.Started <- "forever"
		<-ctx.Done()
		s.Ended <- "forever"
	}()
	return ticks, nil
}

func (subscription) Refused(context.Context) (<-chan *Tick, error) {
	return nil, &gqlerror.Error{Message: "no such post", Extensions: map[string]any{"code": "NOT_FOUND"}}
}

// Stream is an execution.Stream.
type Stream interface {
	Context() context.Context
	Await()
	Executions() func(ctx context.Context) []byte
	Send(responses ...[]byte)
	End(err error)
}

type eventKey struct{}

func (s subscription) TooSlow(ctx context.Context) (<-chan *Tick, error) {
	ticks := make(chan *Tick, 1)
	defer close(ticks)
	if tick, ok := ctx.Value(eventKey{}).(*Tick); ok {
		ticks <- tick
		return ticks, nil
	}
	stream := s.StreamOf(ctx)
	go func() {
		stream.Await()
		stream.Send(stream.Executions()(context.WithValue(stream.Context(), eventKey{}, &Tick{})))
		stream.End(&gqlerror.Error{Message: "too slow", Extensions: map[string]any{"code": "SUBSCRIBER_TOO_SLOW"}})
	}()
	return ticks, nil
}

func (s subscription) Flood(ctx context.Context, bytes int) (<-chan string, error) {
	texts := make(chan string)
	go func() {
		defer close(texts)
		s.Started <- "flood"
		text := strings.Repeat("x", bytes)
		for {
			select {
			case texts <- text:
			case <-ctx.Done():
				s.Ended <- "flood"
				return
			}
		}
	}()
	return texts, nil
}

type tick struct{ *Resolver }

func (t tick) Loader(ctx context.Context, _ *Tick) (int, error) { return t.LoaderOf(ctx), nil }
func (tick) Fails(ctx context.Context, obj *Tick) (string, error) {
	return "", &gqlerror.Error{Message: fmt.Sprintf("event %d", obj.N), Path: graphql.GetPath(ctx)}
}

type post struct{}

func (post) LatestComments(context.Context, *Post, *int) ([]*Comment, error) { return nil, nil }
func (post) Comments(context.Context, *Post, *int, *int) (*CommentConnection, error) {
	return &CommentConnection{PageInfo: &PageInfo{}}, nil
}

type user struct{}

func (user) News(_ context.Context, _ *User, first *int) (*PostConnection, error) {
	return connection(first), nil
}

func posts(count int) []*Post {
	list := make([]*Post, count)
	for i := range list {
		list[i] = &Post{ID: strconv.Itoa(i), Text: "hello", Author: &User{ID: "1", Name: "ada"}, ReactionCounts: []*ReactionCount{}}
	}
	return list
}

func connection(first *int) *PostConnection {
	count := 20
	if first != nil {
		count = *first
	}
	c := &PostConnection{Nodes: posts(count), PageInfo: &PageInfo{}}
	for _, p := range c.Nodes {
		c.Edges = append(c.Edges, &PostEdge{Cursor: p.ID, Node: p})
	}
	return c
}
