package loaders

import (
	"cmp"
	"context"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"plaza/social"
	"plaza/social/network"
)

// Loaders holds the loaders of one viewer.
type Loaders struct {
	Viewer *network.Viewer

	Users      Loader[social.UserID, *social.User]
	Handles    Loader[string, *social.User]
	Profiles   Loader[social.UserID, []social.ShownValue]
	Posts      Loader[social.PostID, *social.Post]
	Comments   Loader[social.CommentID, *social.Comment]
	Permalinks Loader[social.Permalink, *social.Comment]
	Circles    Loader[social.CircleID, *social.Circle]
	Relations  Loader[social.UserID, social.Relation]
	Holding    Loader[social.UserID, []social.CircleID]
	PostOnWall Loader[*social.User, bool]
	Reactions  Loader[social.PostID, social.ReactionKind]
	Votes      Loader[social.PostID, *int]
	ThreadMute Loader[*social.Post, bool]
	Histories  Loader[*social.Post, []social.Version]
	Previews   Loader[*social.Post, []*social.Comment]
	Walls      Loader[social.List[social.UserID], social.Slice[*social.Post]]
	PostsBy    Loader[social.List[social.UserID], social.Slice[*social.Post]]
	Followers  Loader[social.List[social.UserID], social.Slice[social.Edge]]
	Following  Loader[social.List[social.UserID], social.Slice[social.Edge]]
	Members    Loader[social.List[social.CircleID], social.Slice[social.Edge]]
	Threads    Loader[social.List[social.Thread], social.Slice[*social.Comment]]
	CommentsBy Loader[social.List[social.UserID], social.Slice[*social.Comment]]

	Notifications Loader[social.NotificationID, *social.Notification]

	wait  time.Duration
	other sync.Map // a Loader by its type: see Of
}

// New creates loaders with empty caches. A look-up waits for the given time for others to batch
// with; 0 means DefaultWait.
func New(v *network.Viewer, wait time.Duration) *Loaders {
	wait = cmp.Or(wait, DefaultWait)
	l := &Loaders{
		wait:       wait,
		Viewer:     v,
		Users:      newLoader(wait, v.Users),
		Handles:    newLoader(wait, v.UsersByHandle),
		Profiles:   newLoader(wait, v.ProfileValues),
		Posts:      newLoader(wait, v.Posts),
		Comments:   newLoader(wait, v.Comments),
		Permalinks: newLoader(wait, v.CommentsBySlug),
		Circles:    newLoader(wait, v.Circles),
		Relations:  newLoader(wait, v.Relations),
		Holding:    newLoader(wait, v.CirclesHolding),
		PostOnWall: newLoader(wait, v.CanPostOnWalls),
		Reactions:  newLoader(wait, v.Reactions),
		Votes:      newLoader(wait, pointers(v.Votes)),
		ThreadMute: newLoader(wait, byPost(v.MutedThreads)),
		Histories:  newLoader(wait, byPost(v.Histories)),
		Previews:   newLoader(wait, byPost(v.Previews)),
		Walls:      newLoader(wait, v.Walls),
		PostsBy:    newLoader(wait, v.PostsBy),
		Followers:  newLoader(wait, v.Followers),
		Following:  newLoader(wait, v.Following),
		Members:    newLoader(wait, v.Members),
		Threads:    newLoader(wait, v.Threads),

		Notifications: newLoader(wait, v.NotificationsByID),
	}
	l.CommentsBy = newLoader(wait, l.commentsBy)
	return l
}

// commentsBy caches the posts that were read to find out which comments the viewer sees.
func (l *Loaders) commentsBy(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]]social.Slice[*social.Comment], error) {
	found, posts, err := l.Viewer.CommentsBy(ctx, lists)
	for id, p := range posts {
		l.Posts.Prime(ctx, id, p)
	}
	return found, err
}

// NotificationPage caches the posts and comments that were read to find out which notifications the
// viewer sees.
func (l *Loaders) NotificationPage(ctx context.Context, p social.Page) (social.Slice[*social.Notification], error) {
	page, subjects, err := l.Viewer.Notifications(ctx, p)
	for id, p := range subjects.Posts {
		l.Posts.Prime(ctx, id, p)
	}
	for id, c := range subjects.Comments {
		l.Comments.Prime(ctx, id, c)
	}
	return page, err
}

// pointers distinguishes a missing value from a zero.
func pointers[K comparable, V any](read func(context.Context, []K) (map[K]V, error)) func(context.Context, []K) (map[K]*V, error) {
	return func(ctx context.Context, keys []K) (map[K]*V, error) {
		found, err := read(ctx, keys)
		pointed := make(map[K]*V, len(found))
		for key, value := range found {
			pointed[key] = &value
		}
		return pointed, err
	}
}

// byPost returns the results of a read by id, with the posts themselves as keys.
func byPost[V any](read func(context.Context, []*social.Post) (map[social.PostID]V, error)) func(context.Context, []*social.Post) (map[*social.Post]V, error) {
	return func(ctx context.Context, posts []*social.Post) (map[*social.Post]V, error) {
		found, err := read(ctx, posts)
		keyed := make(map[*social.Post]V, len(posts))
		for _, p := range posts {
			keyed[p] = found[p.ID]
		}
		return keyed, err
	}
}

type key struct{}

// holder lets a mutation replace the loaders of a context that is in use.
type holder struct{ current atomic.Pointer[Loaders] }

// Install adds loaders to ctx: for each operation, and for each event of a subscription.
func Install(ctx context.Context, l *Loaders) context.Context {
	h := &holder{}
	h.current.Store(l)
	return context.WithValue(ctx, key{}, h)
}

// For returns the installed loaders. It panics if there are none: that is a programming error.
func For(ctx context.Context) *Loaders { return installed(ctx).current.Load() }

// Of returns an operation's loader of a type of objects that few operations look up. The first call
// for a type creates it from a batch read; later calls for the same type ignore theirs.
func Of[K comparable, V any](ctx context.Context, read func(context.Context, []K) (map[K]V, error)) Loader[K, V] {
	l := For(ctx)
	created, _ := l.other.LoadOrStore(reflect.TypeFor[Loader[K, V]](), newLoader(l.wait, read))
	loader, _ := created.(Loader[K, V])
	return loader
}

// Renew replaces the loaders in ctx, so that data changed by a mutation is read again.
func Renew(ctx context.Context, l *Loaders) { installed(ctx).current.Store(l) }

func installed(ctx context.Context) *holder {
	h, ok := ctx.Value(key{}).(*holder)
	if !ok {
		panic("loaders: none are installed in this context")
	}
	return h
}
