package live

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"plaza/social"
	"plaza/social/network"
)

// update is an event on its way to its subscribers. It is read and encoded once for all of them.
type update struct {
	service *network.Service
	ctx     context.Context // of the hub, or of the subscription that catches up
	key     social.Key
	// changes is the post that has changed, or on which a comment has changed; zero if something is
	// new.
	changes social.PostID
	comment social.CommentID // that changed
	isKnown bool             // this is a change of a notification that was there before
	see     func(context.Context, []social.UserID) (network.Sighting, error)

	mu      sync.Mutex
	waiting map[social.UserID]int // the number of subscriptions of each viewer that have not received it
	seen    *sighting             // nil if nothing has been read yet
}

// newUpdate returns an update for these viewers. A viewer who has several subscriptions appears
// once for each of them.
func newUpdate(ctx context.Context, service *network.Service, key social.Key, viewers iter.Seq[social.UserID], see lookUp) *update {
	u := &update{service: service, ctx: ctx, key: key, see: see, waiting: map[social.UserID]int{}}
	for viewer := range viewers {
		u.waiting[viewer]++
	}
	return u
}

// newChange returns a change of a post. It is read when the first of its subscribers sends it.
func newChange(ctx context.Context, service *network.Service, post social.PostID, viewers iter.Seq[social.UserID]) *update {
	u := newUpdate(ctx, service, keyOf(post, social.CommentID{}), viewers, func(ctx context.Context, viewers []social.UserID) (network.Sighting, error) {
		return service.PostViewers(ctx, post, viewers)
	})
	u.changes = post
	return u
}

// newPastUpdate returns an update that a viewer's subscription to a topic has read behind a
// position, to catch up.
func newPastUpdate(ctx context.Context, service *network.Service, viewer social.UserID, about topic, found network.Sighting, after social.Key, at *moment) *update {
	u := newUpdate(ctx, service, "", slices.Values([]social.UserID{viewer}), nil)
	u.seen = newSighting(found, at)
	if found.Loss != nil {
		u.key = social.Key(found.Loss.Order.Bytes())
		u.see = func(ctx context.Context, _ []social.UserID) (network.Sighting, error) {
			return service.LossViewers(ctx, viewer, *found.Loss)
		}
		return u
	}
	if n := found.Notification; n != nil {
		u.key, u.isKnown = social.Key(n.Order.Bytes()), social.Key(n.ID.Bytes()) <= after
		u.see = func(ctx context.Context, _ []social.UserID) (network.Sighting, error) {
			return service.NotificationViewers(ctx, viewer, n.ID)
		}
		return u
	}
	post, comment := found.Post.ID, social.CommentID{}
	if found.Comment != nil {
		comment = found.Comment.ID
	}
	u.key, u.see = keyOf(post, comment), about.viewersOf(service, post, comment)
	return u
}

// gap means that updates were missed.
var gap = &update{}

// keyOf returns the key of a comment in its thread, or else of a post in the news.
func keyOf(post social.PostID, comment social.CommentID) social.Key {
	if comment.IsZero() {
		return social.Key(post.Bytes())
	}
	return social.Key(comment.Bytes())
}

// current returns which of the waiting subscribers may see the update now. It reads again, for all
// of them, if anything may have been hidden from this viewer since its last read: they may have
// been blocked in the meantime.
func (u *update) current(viewer social.UserID) (*sighting, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	hidings := u.service.Hidings()
	if u.seen != nil && !u.service.HaveHidden(u.seen.at.hidings, viewer) {
		return u.seen, nil
	}
	found, err := u.see(u.ctx, slices.Collect(maps.Keys(u.waiting)))
	if err != nil {
		return nil, err
	}
	u.seen = newSighting(found, &moment{hidings})
	return u.seen, nil
}

// received records that a subscription of a viewer needs the update no longer. After the last one
// it forgets what was read.
func (u *update) received(viewer social.UserID) {
	if u == gap {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.waiting[viewer]--; u.waiting[viewer] == 0 {
		delete(u.waiting, viewer)
	}
	if len(u.waiting) == 0 {
		u.seen = nil
	}
}

// item returns the update as a viewer may see it, from the data that was read; nil if the viewer
// may not see it.
func (u *update) item(g *sighting, viewer social.UserID) *Item {
	relations, sees := g.Viewers[viewer]
	if !sees {
		return nil
	}
	event := Added
	if !u.changes.IsZero() || u.isKnown {
		event = Changed
	}
	if g.Loss != nil {
		return u.lossItem(g)
	}
	if g.Notification != nil {
		return &Item{Key: u.key, Event: event, NotificationID: g.Notification.ID, Notification: g.Notification, IsInFront: true}
	}
	comment := g.CommentTo(viewer)
	if !u.comment.IsZero() && comment == nil {
		return &Item{Key: u.key, Event: Removed, CommentID: u.comment}
	}
	return &Item{
		Key: u.key, Event: event, PostID: u.changes, CommentID: u.comment, Post: g.Post, Comment: comment, People: g.People, Relations: relations,
		seen: g, view: g.View(viewer),
	}
}

// lossItem returns what is left of a notification that has lost acts.
func (u *update) lossItem(g *sighting) *Item {
	event := Changed
	if g.Notification == nil {
		event = Removed
	}
	return &Item{Key: u.key, Event: event, NotificationID: g.Loss.Notification, Notification: g.Notification}
}

func (u *update) logUnseen(logger *slog.Logger, err error) {
	logger.ErrorContext(u.ctx, "cannot determine who may see an event", "error", err, "id", fmt.Sprintf("%x", u.key))
}
