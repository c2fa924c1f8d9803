package resolvers

import (
	"context"
	"time"

	"plaza/graph/model"
	"plaza/graph/relay"
	"plaza/loaders"
	"plaza/social"
)

// User resolves Query.user.
func (r queryResolver) User(ctx context.Context, handle string) (*model.User, error) {
	user, err := loaders.For(ctx).Viewer.UserByHandle(ctx, handle)
	if err != nil {
		return nil, err
	}
	return wrapUser(user), nil
}

// Wall resolves User.wall.
func (r userResolver) Wall(ctx context.Context, obj *model.User, since *time.Time, until *time.Time, first *int, after *string, last *int, before *string) (*model.PostConnection, error) {
	wall := relay.ListOf(wallCursors(obj.ID), pagesOf(loaders.For(ctx).Walls, obj.ID)).Within(since, until, social.TimeRange.Narrow)
	return connectPosts(ctx, wall, relay.ArgsOf(first, after, last, before))
}

// Posts resolves User.posts.
func (r userResolver) Posts(ctx context.Context, obj *model.User, since *time.Time, until *time.Time, first *int, after *string, last *int, before *string) (*model.PostConnection, error) {
	posts := relay.ListOf(postsByCursors(obj.ID), pagesOf(loaders.For(ctx).PostsBy, obj.ID)).Within(since, until, social.TimeRange.Narrow)
	return connectPosts(ctx, posts, relay.ArgsOf(first, after, last, before))
}

// Comments resolves User.comments.
func (r userResolver) Comments(ctx context.Context, obj *model.User, since *time.Time, until *time.Time, first *int, after *string, last *int, before *string) (*model.CommentConnection, error) {
	cursors := relay.CursorsOf(relay.KindComment, "comments by", obj.ID.String())
	comments := relay.ListOf(cursors, pagesOf(loaders.For(ctx).CommentsBy, obj.ID)).Within(since, until, social.TimeRange.Narrow)
	page, err := comments.Page(ctx, relay.ArgsOf(first, after, last, before))
	if err != nil {
		return nil, err
	}
	if err := prefetchWithPosts(ctx, page.Items); err != nil {
		return nil, err
	}
	return commentConnection(ctx, page)
}

// Followers resolves User.followers.
func (r userResolver) Followers(ctx context.Context, obj *model.User, first *int, after *string, last *int, before *string) (*model.UserConnection, error) {
	followers := relay.ListOf(edgeCursors("followers", obj.ID.String()), pagesOf(loaders.For(ctx).Followers, obj.ID))
	return connectUsers(ctx, followers, relay.ArgsOf(first, after, last, before), from)
}

// Following resolves User.following.
func (r userResolver) Following(ctx context.Context, obj *model.User, first *int, after *string, last *int, before *string) (*model.UserConnection, error) {
	following := relay.ListOf(edgeCursors("following", obj.ID.String()), pagesOf(loaders.For(ctx).Following, obj.ID))
	return connectUsers(ctx, following, relay.ArgsOf(first, after, last, before), to)
}

// ViewerFollows resolves User.viewerFollows.
func (r userResolver) ViewerFollows(ctx context.Context, obj *model.User) (bool, error) {
	relation, err := loaders.For(ctx).Relations.Load(ctx, obj.ID)
	return relation.Follows, err
}

// IsFollowingViewer resolves User.isFollowingViewer.
func (r userResolver) IsFollowingViewer(ctx context.Context, obj *model.User) (bool, error) {
	relation, err := loaders.For(ctx).Relations.Load(ctx, obj.ID)
	return relation.FollowedBy(), err
}

// ViewerIsMuting resolves User.viewerIsMuting.
func (r userResolver) ViewerIsMuting(ctx context.Context, obj *model.User) (bool, error) {
	relation, err := loaders.For(ctx).Relations.Load(ctx, obj.ID)
	return relation.Mutes, err
}

// ViewerCircles resolves User.viewerCircles.
func (r userResolver) ViewerCircles(ctx context.Context, obj *model.User) ([]*model.Circle, error) {
	ids, err := loaders.For(ctx).Holding.Load(ctx, obj.ID)
	if err != nil {
		return nil, err
	}
	return ownCircles(ctx, ids)
}

// ViewerCanPostOnWall resolves User.viewerCanPostOnWall.
func (r userResolver) ViewerCanPostOnWall(ctx context.Context, obj *model.User) (bool, error) {
	return loaders.For(ctx).PostOnWall.Load(ctx, obj.User)
}

// UpdateProfile resolves Mutation.updateProfile.
func (r mutationResolver) UpdateProfile(ctx context.Context, input model.UpdateProfileInput) (*model.UpdateProfilePayload, error) {
	user, mistakes, err := users.write(ctx, r, func(viewer social.UserID) (social.UserID, error) {
		return viewer, r.Social.UpdateProfile(ctx, viewer, social.ProfileChange{
			Name: input.Name, Bio: input.Bio, AvatarURL: input.AvatarURL, WallPolicy: input.WallPolicy,
		})
	})
	return &model.UpdateProfilePayload{User: user, UserErrors: mistakes}, err
}

// FollowUser resolves Mutation.followUser.
func (r mutationResolver) FollowUser(ctx context.Context, input model.FollowUserInput) (*model.FollowUserPayload, error) {
	user, mistakes, err := users.change(ctx, r, input.UserID, r.Social.Follow)
	return &model.FollowUserPayload{User: user, Viewer: changedViewer(ctx, mistakes), UserErrors: mistakes}, err
}

// UnfollowUser resolves Mutation.unfollowUser.
func (r mutationResolver) UnfollowUser(ctx context.Context, input model.UnfollowUserInput) (*model.UnfollowUserPayload, error) {
	user, mistakes, err := users.change(ctx, r, input.UserID, r.Social.Unfollow)
	return &model.UnfollowUserPayload{User: user, Viewer: changedViewer(ctx, mistakes), UserErrors: mistakes}, err
}

// BlockUser resolves Mutation.blockUser.
func (r mutationResolver) BlockUser(ctx context.Context, input model.BlockUserInput) (*model.BlockUserPayload, error) {
	var blocked *model.User
	mistakes, err := r.mutate(ctx, func(viewer social.UserID) error {
		id, err := relay.UserID("userId", input.UserID)
		if err != nil {
			return err
		}
		user, err := r.Social.Block(ctx, viewer, id)
		if err == nil {
			blocked = wrapUser(user)
		}
		return err
	})
	return &model.BlockUserPayload{User: blocked, Viewer: changedViewer(ctx, mistakes), UserErrors: mistakes}, err
}

// UnblockUser resolves Mutation.unblockUser.
func (r mutationResolver) UnblockUser(ctx context.Context, input model.UnblockUserInput) (*model.UnblockUserPayload, error) {
	user, mistakes, err := users.change(ctx, r, input.UserID, r.Social.Unblock)
	return &model.UnblockUserPayload{User: user, Viewer: changedViewer(ctx, mistakes), UserErrors: mistakes}, err
}

// MuteUser resolves Mutation.muteUser.
func (r mutationResolver) MuteUser(ctx context.Context, input model.MuteUserInput) (*model.MuteUserPayload, error) {
	user, mistakes, err := users.change(ctx, r, input.UserID, r.Social.Mute)
	return &model.MuteUserPayload{User: user, UserErrors: mistakes}, err
}

// UnmuteUser resolves Mutation.unmuteUser.
func (r mutationResolver) UnmuteUser(ctx context.Context, input model.UnmuteUserInput) (*model.UnmuteUserPayload, error) {
	user, mistakes, err := users.change(ctx, r, input.UserID, r.Social.Unmute)
	return &model.UnmuteUserPayload{User: user, UserErrors: mistakes}, err
}
