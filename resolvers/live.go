package resolvers

import (
	"context"

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

// Post resolves NewsItemAdded.post.
func (r newsItemAddedResolver) Post(ctx context.Context, obj *live.Item) (model.Post, error) {
	if obj.IsStale() {
		return loadPost(ctx, obj.Post.ID)
	}
	prime(ctx, obj)
	return model.NewPost(loaders.For(ctx).Viewer, obj.Post), nil
}

// Comment resolves CommentAdded.comment.
func (r commentAddedResolver) Comment(ctx context.Context, obj *live.Item) (*model.Comment, error) {
	if obj.IsStale() {
		return loadComment(ctx, obj.Comment.ID)
	}
	prime(ctx, obj)
	return wrapComment(ctx, obj.Comment), nil
}

// prime gives this event's loaders what was read to find out who may see it.
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
