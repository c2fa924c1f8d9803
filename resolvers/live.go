package resolvers

import (
	"context"
	"errors"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"plaza/fault"
	"plaza/graph/model"
	"plaza/live"
	"plaza/loaders"
)

// NewsItemAdded resolves Subscription.newsItemAdded.
func (r subscriptionResolver) NewsItemAdded(ctx context.Context) (<-chan *live.Item, error) {
	if _, err := signedIn(ctx); err != nil {
		return nil, err
	}
	return r.Hub.News(ctx, subscriber(ctx), r.onEnd(ctx)), nil
}

// CommentAdded resolves Subscription.commentAdded.
func (r subscriptionResolver) CommentAdded(ctx context.Context, text string) (<-chan *live.Item, error) {
	id, err := postID("postId", text)
	if err != nil {
		return nil, err
	}
	post, err := loaders.For(ctx).Posts.Load(ctx, id)
	if err != nil {
		return nil, err
	}
	if post == nil {
		return nil, fault.NotFound("postId", "post")
	}
	return r.Hub.Comments(ctx, subscriber(ctx), id, r.onEnd(ctx)), nil
}

func subscriber(ctx context.Context) live.Subscriber {
	session := sessionOf(ctx)
	return live.Subscriber{Viewer: session.User, Session: session.TokenHash}
}

func (r subscriptionResolver) onEnd(ctx context.Context) func(error) {
	return func(reason error) { r.EndSubscription(ctx, reason) }
}

// Cursor resolves NewsItemAdded.cursor.
func (r newsItemAddedResolver) Cursor(ctx context.Context, obj *live.Item) (string, error) {
	_, err := r.shows(ctx, obj)
	return obj.Cursor, err
}

// Event resolves NewsItemAdded.event.
func (r newsItemAddedResolver) Event(ctx context.Context, obj *live.Item) (live.Change, error) {
	_, err := r.shows(ctx, obj)
	return obj.Event, err
}

// Post resolves NewsItemAdded.post.
func (r newsItemAddedResolver) Post(ctx context.Context, obj *live.Item) (model.Post, error) {
	if shows, err := r.shows(ctx, obj); err != nil || !shows {
		return nil, err
	}
	return model.NewPost(loaders.For(ctx).Viewer, obj.Post), nil
}

// Cursor resolves CommentAdded.cursor.
func (r commentAddedResolver) Cursor(ctx context.Context, obj *live.Item) (string, error) {
	_, err := r.shows(ctx, obj)
	return obj.Cursor, err
}

// Event resolves CommentAdded.event.
func (r commentAddedResolver) Event(ctx context.Context, obj *live.Item) (live.Change, error) {
	_, err := r.shows(ctx, obj)
	return obj.Event, err
}

// Comment resolves CommentAdded.comment.
func (r commentAddedResolver) Comment(ctx context.Context, obj *live.Item) (*model.Comment, error) {
	if shows, err := r.shows(ctx, obj); err != nil || !shows {
		return nil, err
	}
	return wrapComment(ctx, obj.Comment), nil
}

type updateKey struct{}

// update is one event of a subscription on its way to the subscriber.
type update struct {
	check  sync.Once
	hidden bool
	err    error
}

// EventLoaders gives each event of a subscription its own loaders, because those of an earlier
// event may be stale. It drops events that have been hidden from the subscriber since the first
// check.
func (r *Resolver) EventLoaders(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	if graphql.GetOperationContext(ctx).Operation.Operation != ast.Subscription {
		return next(ctx)
	}
	for {
		u := &update{}
		response := next(context.WithValue(r.withLoaders(ctx), updateKey{}, u))
		if response == nil || !u.hidden {
			return response
		}
	}
}

// shows reports whether an item may be shown. Every field checks, because a client may select any
// of them alone.
func (r *Resolver) shows(ctx context.Context, item *live.Item) (bool, error) {
	u, ok := ctx.Value(updateKey{}).(*update)
	if !ok {
		return false, errors.New("an item outside of EventLoaders")
	}
	u.check.Do(func() {
		var seen bool
		seen, u.err = r.Hub.Recheck(ctx, item, viewerOf(ctx))
		u.hidden = !seen && u.err == nil
		if seen {
			prime(ctx, item)
		}
	})
	return !u.hidden, u.err
}

// prime fills this event's loaders with what was read to find out who may see it.
func prime(ctx context.Context, item *live.Item) {
	load := loaders.For(ctx)
	for other, relation := range item.Relations {
		load.Viewer.Prime(other, relation)
	}
	load.Posts.Prime(ctx, item.Post.ID, item.Post)
	if item.Comment != nil {
		load.Comments.Prime(ctx, item.Comment.ID, item.Comment)
	}
}
