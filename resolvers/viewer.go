package resolvers

import (
	"context"
	"time"

	"plaza/graph/model"
	"plaza/graph/relay"
	"plaza/loaders"
	"plaza/resolvers/gate"
	"plaza/social"
)

// Viewer resolves Query.viewer.
func (r queryResolver) Viewer(ctx context.Context) (*model.Viewer, error) {
	if loaders.For(ctx).Viewer.ID.IsZero() {
		return nil, nil // null: signed out
	}
	return &model.Viewer{UserID: loaders.For(ctx).Viewer.ID}, nil
}

// User resolves Viewer.user.
func (r viewerResolver) User(ctx context.Context, obj *model.Viewer) (*model.User, error) {
	user, err := loadUser(ctx, obj.UserID)
	if err == nil && user == nil {
		err = gate.ErrUnauthenticated // the account is deleted, and so is the session
	}
	return user, err
}

// News resolves Viewer.news.
func (r viewerResolver) News(ctx context.Context, obj *model.Viewer, since *time.Time, until *time.Time, first *int, after *string, last *int, before *string) (*model.PostConnection, error) {
	news := relay.ListOf(newsCursors(obj.UserID), loaders.For(ctx).Viewer.News).Within(since, until, social.TimeRange.Narrow)
	page, err := news.Page(ctx, relay.ArgsOf(first, after, last, before))
	if err != nil {
		return nil, err
	}
	connection, err := postConnection(ctx, page, r.viewerForAds(ctx, page.Items)...)
	if err == nil {
		r.Advertising.Sponsor(ctx, connection)
	}
	return connection, err
}

// viewerForAds returns the user that choosing a page's ads looks up, so that it can be read
// together with those that the page shows; none if the page has no ads.
func (r viewerResolver) viewerForAds(ctx context.Context, posts []*social.Post) []social.UserID {
	if !r.Advertising.HasAds(posts) || !selection(ctx)["sponsored"] {
		return nil
	}
	return []social.UserID{loaders.For(ctx).Viewer.ID}
}

// Incoming resolves Viewer.incoming.
func (r viewerResolver) Incoming(ctx context.Context, obj *model.Viewer, since *time.Time, until *time.Time, first *int, after *string, last *int, before *string) (*model.PostConnection, error) {
	incoming := relay.ListOf(incomingCursors(obj.UserID), loaders.For(ctx).Viewer.Incoming).Within(since, until, social.TimeRange.Narrow)
	return connectPosts(ctx, incoming, relay.ArgsOf(first, after, last, before))
}

// Wall resolves Viewer.wall.
func (r viewerResolver) Wall(ctx context.Context, obj *model.Viewer, view social.WallView, since *time.Time, until *time.Time, first *int, after *string, last *int, before *string) (*model.PostConnection, error) {
	viewer := loaders.For(ctx).Viewer
	read := func(ctx context.Context, p social.Page) (social.Slice[*social.Post], error) {
		return viewer.OwnWall(ctx, view, p)
	}
	wall := relay.ListOf(relay.CursorsOf(relay.KindPost, "own wall", obj.UserID.String(), string(view)), read).Within(since, until, social.TimeRange.Narrow)
	return connectPosts(ctx, wall, relay.ArgsOf(first, after, last, before))
}

// Circles resolves Viewer.circles.
func (r viewerResolver) Circles(ctx context.Context, obj *model.Viewer, first *int, after *string, last *int, before *string) (*model.CircleConnection, error) {
	circles := relay.ListOf(circleCursors(obj.UserID), loaders.For(ctx).Viewer.OwnCircles)
	return relay.Connect(ctx, circles, relay.ArgsOf(first, after, last, before), wrapCircle)
}

// BlockedUsers resolves Viewer.blockedUsers.
func (r viewerResolver) BlockedUsers(ctx context.Context, obj *model.Viewer, first *int, after *string, last *int, before *string) (*model.UserConnection, error) {
	blocked := relay.ListOf(edgeCursors("blocked", obj.UserID.String()), loaders.For(ctx).Viewer.Blocked)
	page, err := blocked.Page(ctx, relay.ArgsOf(first, after, last, before))
	if err != nil {
		return nil, err
	}
	users := make([]*social.User, len(page.Items))
	for i, b := range page.Items {
		users[i] = b.User
	}
	return userConnection(page, users), nil
}

// MutedUsers resolves Viewer.mutedUsers.
func (r viewerResolver) MutedUsers(ctx context.Context, obj *model.Viewer, first *int, after *string, last *int, before *string) (*model.UserConnection, error) {
	muted := relay.ListOf(edgeCursors("muted", obj.UserID.String()), loaders.For(ctx).Viewer.Muted)
	return connectUsers(ctx, muted, relay.ArgsOf(first, after, last, before), to)
}

// SuggestedUsers resolves Viewer.suggestedUsers.
func (r viewerResolver) SuggestedUsers(ctx context.Context, _ *model.Viewer, count int) ([]*model.SuggestedUser, error) {
	found, err := loaders.For(ctx).Viewer.Suggestions(ctx, count)
	suggested := make([]*model.SuggestedUser, len(found))
	for i, s := range found {
		suggested[i] = &model.SuggestedUser{User: wrapUser(s.User), FollowedBy: wrapUsers(s.FollowedBy)}
	}
	return suggested, err
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

// HasPassword resolves Viewer.hasPassword.
func (r viewerResolver) HasPassword(ctx context.Context, obj *model.Viewer) (bool, error) {
	return r.Social.HasPassword(ctx, obj.UserID)
}

// Rights resolves Viewer.rights.
func (r viewerResolver) Rights(ctx context.Context, obj *model.Viewer) ([]social.Right, error) {
	return r.Social.Rights(ctx, obj.UserID)
}
