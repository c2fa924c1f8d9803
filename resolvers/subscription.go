package resolvers

import (
	"context"
	"fmt"
	"slices"

	"plaza/fault"
	"plaza/graph/model"
	"plaza/graph/relay"
	"plaza/live"
	"plaza/loaders"
	"plaza/resolvers/gate"
	"plaza/social"
)

// NewsItemAdded resolves Subscription.newsItemAdded.
func (r subscriptionResolver) NewsItemAdded(ctx context.Context, after *string) (<-chan *live.Item, error) {
	return subscribe(ctx, func() error { return r.followOwn(ctx, newsCursors, after, r.Hub.News) })
}

// IncomingAdded resolves Subscription.incomingAdded.
func (r subscriptionResolver) IncomingAdded(ctx context.Context, after *string) (<-chan *live.Item, error) {
	return subscribe(ctx, func() error { return r.followOwn(ctx, incomingCursors, after, r.Hub.Incoming) })
}

// followOwn subscribes to a list of the viewer's own.
func (r subscriptionResolver) followOwn(ctx context.Context, cursors func(social.UserID) relay.Cursors, after *string,
	begin func(context.Context, live.Subscriber, social.Key, live.Receiver),
) error {
	viewer, err := gate.SignedIn(ctx)
	if err != nil {
		return err
	}
	key, err := cursors(viewer).Decode("after", after)
	if err != nil {
		return err
	}
	s := r.newSubscriber(ctx, cursors(viewer))
	begin(s.stream.Context(), s.who, key, s)
	return nil
}

// NotificationAdded resolves Subscription.notificationAdded.
func (r subscriptionResolver) NotificationAdded(ctx context.Context, after *string) (<-chan *live.Item, error) {
	return subscribe(ctx, func() error {
		viewer, err := gate.SignedIn(ctx)
		if err != nil {
			return err
		}
		key, err := notificationCursors(viewer).Decode("after", after)
		if err == nil && key == "" {
			key, err = r.Social.NewestNotification(ctx, viewer)
		}
		if err != nil {
			return err
		}
		s := r.newSubscriber(ctx, notificationCursors(viewer))
		r.Hub.Notifications(s.stream.Context(), s.who, key, s)
		return nil
	})
}

// WallPostAdded resolves Subscription.wallPostAdded.
func (r subscriptionResolver) WallPostAdded(ctx context.Context, text string, after *string) (<-chan *live.Item, error) {
	return subscribe(ctx, func() error {
		owner, err := relay.UserID("userId", text)
		if err != nil {
			return err
		}
		key, err := wallCursors(owner).Decode("after", after)
		if err != nil {
			return err
		}
		if err := users.mustExist(ctx, owner); err != nil {
			return err
		}
		s := r.newSubscriber(ctx, wallCursors(owner))
		r.Hub.Wall(s.stream.Context(), s.who, owner, key, s)
		return nil
	})
}

// CommentAdded resolves Subscription.commentAdded.
func (r subscriptionResolver) CommentAdded(ctx context.Context, text string, after *string) (<-chan *live.Item, error) {
	return subscribe(ctx, func() error {
		id, err := relay.PostID("postId", text)
		if err != nil {
			return err
		}
		key, err := decodeInThread(id, after)
		if err != nil {
			return err
		}
		if err := posts.mustExist(ctx, id); err != nil {
			return err
		}
		s := r.newSubscriber(ctx, threadCursors(social.Thread{Post: id, Order: social.OrderOldest}))
		r.Hub.Comments(s.stream.Context(), s.who, id, key, s)
		return nil
	})
}

// decodeInThread parses a position in a thread: a cursor of its comments, the oldest or the newest
// first.
func decodeInThread(post social.PostID, after *string) (social.Key, error) {
	key, err := threadCursors(social.Thread{Post: post, Order: social.OrderNewest}).Decode("after", after)
	if err != nil {
		return threadCursors(social.Thread{Post: post, Order: social.OrderOldest}).Decode("after", after)
	}
	return key, nil
}

// CommentChanged resolves Subscription.commentChanged.
func (r subscriptionResolver) CommentChanged(ctx context.Context, text string) (<-chan *live.Item, error) {
	return subscribe(ctx, func() error {
		id, err := relay.PostID("postId", text)
		if err != nil {
			return err
		}
		if err := posts.mustExist(ctx, id); err != nil {
			return err
		}
		s := r.newSubscriber(ctx, relay.Cursors{})
		r.Hub.CommentChanges(s.stream.Context(), s.who, id, s)
		return nil
	})
}

// maxWatched is the maximum number of posts that one subscription may watch.
const maxWatched = 100

// PostChanged resolves Subscription.postChanged.
func (r subscriptionResolver) PostChanged(ctx context.Context, texts []string, current bool) (<-chan *live.Item, error) {
	return subscribe(ctx, func() error {
		ids, err := watchedPosts(texts)
		if err != nil {
			return err
		}
		s := r.newSubscriber(ctx, relay.Cursors{})
		r.Hub.Posts(s.stream.Context(), s.who, ids, current, s)
		return nil
	})
}

// watchedPosts parses the ids of posts to watch, without duplicates.
func watchedPosts(texts []string) ([]social.PostID, error) {
	switch {
	case len(texts) == 0:
		return nil, fault.Invalidf("postIds", "Name at least one post.")
	case len(texts) > maxWatched:
		return nil, fault.Errorf(fault.CodeTooLong, "postIds", "At most %d ids are allowed.", maxWatched)
	}
	var ids []social.PostID
	for i, text := range texts {
		id, err := relay.PostID(fmt.Sprintf("postIds.%d", i), text)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// Post resolves NewsItemAdded.post.
func (r newsItemAddedResolver) Post(ctx context.Context, obj *live.Item) (model.Post, error) {
	if obj.Post == nil {
		return nil, nil
	}
	return model.NewPost(loaders.For(ctx).Viewer, obj.Post), nil
}

// Comment resolves CommentAdded.comment.
func (r commentAddedResolver) Comment(ctx context.Context, obj *live.Item) (*model.Comment, error) {
	if obj.Comment == nil {
		return nil, nil
	}
	return wrapComment(ctx, obj.Comment), nil
}

// Edge resolves CommentAdded.edge.
func (r commentAddedResolver) Edge(ctx context.Context, obj *live.Item, order social.CommentOrder) (*model.CommentEdge, error) {
	if obj.Comment == nil {
		return nil, nil // null: see GAP
	}
	return edgeOf(wrapComment(ctx, obj.Comment), order), nil
}

// CommentID resolves CommentChanged.commentId.
func (commentChangedResolver) CommentID(_ context.Context, obj *live.Item) (*string, error) {
	if obj.CommentID.IsZero() {
		return nil, nil
	}
	id := obj.CommentID.String()
	return &id, nil
}

// Comment resolves CommentChanged.comment.
func (r commentChangedResolver) Comment(ctx context.Context, obj *live.Item) (*model.Comment, error) {
	return commentAddedResolver(r).Comment(ctx, obj)
}

// Post resolves PostChanged.post.
func (r postChangedResolver) Post(ctx context.Context, obj *live.Item) (model.Post, error) {
	return newsItemAddedResolver(r).Post(ctx, obj)
}

// Cursor resolves NotificationAdded.cursor.
func (notificationAddedResolver) Cursor(context.Context, *live.Item) (string, error) {
	return cursorBlank, nil
}

// NotificationID resolves NotificationAdded.notificationId.
func (notificationAddedResolver) NotificationID(_ context.Context, obj *live.Item) (string, error) {
	return obj.NotificationID.String(), nil
}

// Notification resolves NotificationAdded.notification.
func (notificationAddedResolver) Notification(_ context.Context, obj *live.Item) (*model.Notification, error) {
	if obj.Notification == nil {
		return nil, nil
	}
	return wrapNotification(obj.Notification), nil
}

// Viewer resolves NotificationAdded.viewer.
func (notificationAddedResolver) Viewer(ctx context.Context, _ *live.Item) (*model.Viewer, error) {
	return &model.Viewer{UserID: loaders.For(ctx).Viewer.ID}, nil
}
