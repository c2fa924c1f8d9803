package resolvers

import (
	"context"

	"plaza/graph/relay"
	"plaza/loaders"
	"plaza/social"
)

// pagesOf reads the list that belongs to an object, together with those of its siblings.
func pagesOf[K comparable, T any](loader loaders.Loader[social.List[K], social.Slice[T]], object K) relay.Read[T] {
	return func(ctx context.Context, p social.Page) (social.Slice[T], error) {
		return loader.Load(ctx, social.List[K]{Of: object, Page: p})
	}
}

// newsCursors returns the cursors of a viewer's news.
func newsCursors(viewer social.UserID) relay.Cursors {
	return relay.CursorsOf(relay.KindPost, "news", viewer.String())
}

// incomingCursors returns the cursors of a viewer's incoming posts.
func incomingCursors(viewer social.UserID) relay.Cursors {
	return relay.CursorsOf(relay.KindPost, "incoming", viewer.String())
}

// wallCursors returns the cursors of User.wall.
func wallCursors(owner social.UserID) relay.Cursors {
	return relay.CursorsOf(relay.KindPost, "wall", owner.String())
}

// postsByCursors returns the cursors of User.posts.
func postsByCursors(author social.UserID) relay.Cursors {
	return relay.CursorsOf(relay.KindPost, "posts by", author.String())
}

// notificationCursors returns the cursors of a viewer's notifications.
func notificationCursors(viewer social.UserID) relay.Cursors {
	return relay.CursorsOf(relay.KindNotification, "notifications", viewer.String())
}

// edgeCursors returns the cursors of a list of edges that belongs to a user or a circle.
func edgeCursors(what, owner string) relay.Cursors {
	return relay.CursorsOf(relay.KindEdge, what, owner)
}

// threadCursors returns the cursors of a thread, which are the same for all viewers.
func threadCursors(t social.Thread) relay.Cursors {
	kind := relay.KindComment
	if t.Order == social.OrderThreaded {
		kind = relay.KindTree
	}
	return relay.CursorsOf(kind, "thread", t.Post.String(), string(t.Order), t.Parent.String(), string(t.Under))
}

func threadList(ctx context.Context, t social.Thread) relay.List[*social.Comment] {
	return relay.ListOf(threadCursors(t), pagesOf(loaders.For(ctx).Threads, t))
}
