package resolvers

import (
	"context"
	"time"

	"plaza/graph/model"
	"plaza/loaders"
	"plaza/social"
	"plaza/social/network"
)

// User resolves Viewer.user.
func (r viewerResolver) User(ctx context.Context, obj *model.Viewer) (*model.User, error) {
	user, err := loadUser(ctx, obj.UserID)
	if err == nil && user == nil {
		err = errUnauthenticated // the account is deleted, and so is the session
	}
	return user, err
}

// News resolves Viewer.news.
func (r viewerResolver) News(ctx context.Context, obj *model.Viewer, since *time.Time, until *time.Time, first *int, after *string, last *int, before *string) (*model.PostConnection, error) {
	news := list[*social.Post]{newsCursors(obj.UserID), loaders.For(ctx).Viewer.News}
	c, err := news.within(since, until, social.TimeRange.Narrow).connect(ctx, pageArgs{first, after, last, before})
	page, err := postConnection(ctx, c, err, r.viewerForAds(ctx, c.items)...)
	if err == nil {
		r.sponsor(ctx, page)
	}
	return page, err
}

// newsCursors returns the cursors of a viewer's news.
func newsCursors(viewer social.UserID) cursors {
	return cursorsOf(cursorPost, "news", viewer.String())
}

// Incoming resolves Viewer.incoming.
func (r viewerResolver) Incoming(ctx context.Context, obj *model.Viewer, since *time.Time, until *time.Time, first *int, after *string, last *int, before *string) (*model.PostConnection, error) {
	c, err := postList(loaders.For(ctx).Viewer.Incoming, "incoming", obj.UserID.String()).within(since, until, social.TimeRange.Narrow).connect(ctx, pageArgs{first, after, last, before})
	return postConnection(ctx, c, err)
}

// Wall resolves Viewer.wall.
func (r viewerResolver) Wall(ctx context.Context, obj *model.Viewer, view social.WallView, since *time.Time, until *time.Time, first *int, after *string, last *int, before *string) (*model.PostConnection, error) {
	viewer := loaders.For(ctx).Viewer
	c, err := postList(func(ctx context.Context, p social.Page) (social.Slice[*social.Post], error) {
		return viewer.OwnWall(ctx, view, p)
	}, "own wall", obj.UserID.String(), string(view)).within(since, until, social.TimeRange.Narrow).connect(ctx, pageArgs{first, after, last, before})
	return postConnection(ctx, c, err)
}

// Circles resolves Viewer.circles.
func (r viewerResolver) Circles(ctx context.Context, obj *model.Viewer, first *int, after *string, last *int, before *string) (*model.CircleConnection, error) {
	own := list[*social.Circle]{cursorsOf(cursorCircle, "circles", obj.UserID.String()), loaders.For(ctx).Viewer.OwnCircles}
	c, err := own.connect(ctx, pageArgs{first, after, last, before})
	return connectionOf(c, err, func(c *social.Circle) *model.Circle { return &model.Circle{Circle: c} })
}

// BlockedUsers resolves Viewer.blockedUsers.
func (r viewerResolver) BlockedUsers(ctx context.Context, obj *model.Viewer, first *int, after *string, last *int, before *string) (*model.UserConnection, error) {
	blocked := list[network.BlockedUser]{cursorsOf(cursorEdge, "blocked", obj.UserID.String()), loaders.For(ctx).Viewer.Blocked}
	c, err := blocked.connect(ctx, pageArgs{first, after, last, before})
	if err != nil {
		return nil, err
	}
	users := make([]*social.User, len(c.items))
	for i, b := range c.items {
		users[i] = b.User
	}
	return userConnection(c, users), nil
}

// MutedUsers resolves Viewer.mutedUsers.
func (r viewerResolver) MutedUsers(ctx context.Context, obj *model.Viewer, first *int, after *string, last *int, before *string) (*model.UserConnection, error) {
	c, err := edgeList(loaders.For(ctx).Viewer.Muted, "muted", obj.UserID.String()).connect(ctx, pageArgs{first, after, last, before})
	if err != nil {
		return nil, err
	}
	users, err := loaders.For(ctx).Users.LoadAll(ctx, ends(c.items, func(e social.Edge) social.UserID { return e.To }))
	return userConnection(c, users), err
}

// CommentErasure resolves Viewer.commentErasure.
func (r viewerResolver) CommentErasure(ctx context.Context, _ *model.Viewer) (*social.Erasure, error) {
	return loaders.For(ctx).Viewer.CommentErasure(ctx)
}

// WallPolicy resolves Viewer.wallPolicy.
func (r viewerResolver) WallPolicy(ctx context.Context, obj *model.Viewer) (social.WallPolicy, error) {
	user, err := r.User(ctx, obj)
	if err != nil {
		return "", err
	}
	return user.WallPolicy, nil
}

// Rights resolves Viewer.rights.
func (r viewerResolver) Rights(ctx context.Context, _ *model.Viewer) ([]social.Right, error) {
	return loaders.For(ctx).Viewer.Rights(ctx)
}
