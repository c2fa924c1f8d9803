package resolvers

import (
	"bytes"
	"context"
	"crypto/rand"
	"time"

	"plaza/graph/relay"
	"plaza/live"
	"plaza/loaders"
	"plaza/resolvers/gate"
	"plaza/social"
)

// subscriber is the receiver of a subscription.
type subscriber struct {
	r           *Resolver
	who         live.Subscriber
	stream      Stream
	cursors     relay.Cursors
	selection   sameSelection // zero: what it shows differs from viewer to viewer
	showsPeople bool
}

func (r *Resolver) newSubscriber(ctx context.Context, of relay.Cursors) *subscriber {
	session := gate.SessionOf(ctx)
	who := live.Subscriber{Viewer: gate.ViewerOf(ctx), Session: session.TokenHash}
	if session.IsIssued() {
		who.Issued = &session
	}
	if who.Viewer.IsZero() {
		who.Client = r.ClientOf(ctx)
	}
	return &subscriber{
		r: r, who: who,
		stream: r.StreamOf(ctx), cursors: of, selection: sharedSelection(ctx), showsPeople: showsPeople(ctx),
	}
}

// Await implements live.Receiver.
func (s *subscriber) Await() { s.stream.Await() }

// Admit implements live.Receiver.
func (s *subscriber) Admit() bool { return s.stream.Admit() }

// Encoder implements live.Receiver.
func (s *subscriber) Encoder() func(*live.Item) []byte { return (&encoder{subscriber: s}).encode }

// encoder encodes items that were read together.
type encoder struct {
	*subscriber

	run  func(context.Context) []byte // nil: nothing has been executed
	load *loaders.Loaders             // of items that look the same to others; nil: there was none
}

func (e *encoder) encode(item *live.Item) []byte {
	if e.selection == (sameSelection{}) || item.Post == nil {
		return e.withCursor(e.execute(e.stream.Context(), e.newLoaders(), item), item)
	}
	text := item.Shared(e.selection, func() []byte {
		if e.load == nil { // these items read almost nothing, and often name the same post and people
			e.load = e.newLoaders()
		}
		return e.execute(context.WithoutCancel(e.stream.Context()), e.load, item) // other subscribers also wait for it
	})
	return e.withCursor(text, item)
}

func (e *encoder) newLoaders() *loaders.Loaders {
	return e.r.loadersFor(e.who.Viewer, e.showsPeople)
}

// cursorBlank takes the place of cursors in a response, because a response is shared by subscribers
// whose cursors differ. Texts of users cannot contain it: it is random, and never sent.
var cursorBlank = "cursor-" + rand.Text()

// withCursor returns a copy of a response with the subscriber's own cursor.
func (s *subscriber) withCursor(response []byte, item *live.Item) []byte {
	return bytes.ReplaceAll(response, []byte(cursorBlank), []byte(s.cursors.Encode(item.Key)))
}

// eventTimeout ends the execution of one event.
const eventTimeout = 30 * time.Second

func (e *encoder) execute(ctx context.Context, load *loaders.Loaders, item *live.Item) []byte {
	ctx, cancel := context.WithTimeout(ctx, eventTimeout)
	defer cancel()
	if e.run == nil {
		e.run = e.stream.Executions()
	}
	prime(ctx, load, item)
	if item.Event != live.Gap {
		item.Cursor = &cursorBlank
	}
	return e.run(context.WithValue(loaders.Install(ctx, load), itemKey{}, item))
}

type itemKey struct{}

// itemOf returns the item that a subscription is resolved for; nil: the subscription begins.
func itemOf(ctx context.Context) *live.Item {
	item, _ := ctx.Value(itemKey{}).(*live.Item)
	return item
}

// subscribe is what a subscription's field gives to gqlgen: no item when it begins, and one item
// each time that it is executed.
func subscribe(ctx context.Context, begin func() error) (<-chan *live.Item, error) {
	items := make(chan *live.Item, 1)
	defer close(items)
	if item := itemOf(ctx); item != nil {
		items <- item
		return items, nil
	}
	if err := begin(); err != nil {
		return nil, err
	}
	return items, nil
}

// prime fills loaders with what was read to decide who may see an event.
func prime(ctx context.Context, load *loaders.Loaders, item *live.Item) {
	for other, relation := range item.Relations {
		load.Viewer.Prime(other, relation)
		if user := item.People[other]; user != nil && social.CanSeeUser(relation) {
			load.Users.Prime(ctx, other, user)
		}
	}
	if item.Post != nil {
		load.Posts.Prime(ctx, item.Post.ID, item.Post)
	}
	if item.Comment != nil {
		load.Comments.Prime(ctx, item.Comment.ID, item.Comment)
	}
}

// Send implements live.Receiver.
func (s *subscriber) Send(responses ...[]byte) { s.stream.Send(responses...) }

// End implements live.Receiver.
func (s *subscriber) End(reason error) { s.stream.End(reason) }
