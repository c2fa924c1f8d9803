package resolvers

import (
	"context"
	"time"

	"plaza/graph/model"
	"plaza/loaders"
	"plaza/social"
)

// Wall resolves User.wall.
func (r userResolver) Wall(ctx context.Context, obj *model.User, since *time.Time, until *time.Time, first *int, after *string, last *int, before *string) (*model.PostConnection, error) {
	c, err := postsOf(obj.ID, loaders.For(ctx).Walls, "wall").within(since, until, social.TimeRange.Narrow).connect(ctx, pageArgs{first, after, last, before})
	return postConnection(ctx, c, err)
}

// Posts resolves User.posts.
func (r userResolver) Posts(ctx context.Context, obj *model.User, since *time.Time, until *time.Time, first *int, after *string, last *int, before *string) (*model.PostConnection, error) {
	c, err := postsOf(obj.ID, loaders.For(ctx).PostsBy, "posts by").within(since, until, social.TimeRange.Narrow).connect(ctx, pageArgs{first, after, last, before})
	return postConnection(ctx, c, err)
}

// postsOf returns a list of posts that belongs to a user; what selects which.
func postsOf(user social.UserID, loader loaders.Loader[social.List[social.UserID], social.Slice[*social.Post]], what string) list[*social.Post] {
	return postList(func(ctx context.Context, p social.Page) (social.Slice[*social.Post], error) {
		return loader.Load(ctx, social.List[social.UserID]{Of: user, Page: p})
	}, what, user.String())
}

// Comments resolves User.comments.
func (r userResolver) Comments(ctx context.Context, obj *model.User, since *time.Time, until *time.Time, first *int, after *string, last *int, before *string) (*model.CommentConnection, error) {
	loader := loaders.For(ctx).CommentsBy
	read := func(ctx context.Context, p social.Page) (social.Slice[*social.Comment], error) {
		return loader.Load(ctx, social.List[social.UserID]{Of: obj.ID, Page: p})
	}
	comments := list[*social.Comment]{cursorsOf(cursorComment, "comments by", obj.ID.String()), read}
	c, err := comments.within(since, until, social.TimeRange.Narrow).connect(ctx, pageArgs{first, after, last, before})
	if err != nil {
		return nil, err
	}
	if err := prefetchWithPosts(ctx, c.items); err != nil {
		return nil, err
	}
	return commentConnection(ctx, c, nil)
}

// Followers resolves User.followers.
func (r userResolver) Followers(ctx context.Context, obj *model.User, first *int, after *string, last *int, before *string) (*model.UserConnection, error) {
	from := func(e social.Edge) social.UserID { return e.From }
	return edgeConnection(ctx, "followers", obj.ID, loaders.For(ctx).Followers, from, pageArgs{first, after, last, before})
}

// Following resolves User.following.
func (r userResolver) Following(ctx context.Context, obj *model.User, first *int, after *string, last *int, before *string) (*model.UserConnection, error) {
	return edgeConnection(ctx, "following", obj.ID, loaders.For(ctx).Following, to, pageArgs{first, after, last, before})
}

func to(e social.Edge) social.UserID { return e.To }

type edgeLoader = loaders.Loader[social.List[social.UserID], social.Slice[social.Edge]]

func edgeConnection(ctx context.Context, what string, of social.UserID, loader edgeLoader, end func(social.Edge) social.UserID, args pageArgs) (*model.UserConnection, error) {
	c, err := edgeList(func(ctx context.Context, p social.Page) (social.Slice[social.Edge], error) {
		return loader.Load(ctx, social.List[social.UserID]{Of: of, Page: p})
	}, what, of.String()).connect(ctx, args)
	if err != nil {
		return nil, err
	}
	users, err := loaders.For(ctx).Users.LoadAll(ctx, ends(c.items, end))
	return userConnection(c, users), err
}

func edgeList(read func(context.Context, social.Page) (social.Slice[social.Edge], error), identity ...string) list[social.Edge] {
	return list[social.Edge]{cursorsOf(cursorEdge, identity...), read}
}

func ends(edges []social.Edge, end func(social.Edge) social.UserID) []social.UserID {
	users := make([]social.UserID, len(edges))
	for i, e := range edges {
		users[i] = end(e)
	}
	return users
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

// ownCircles loads the viewer's own circles, and drops deleted ones.
func ownCircles(ctx context.Context, ids []social.CircleID) ([]*model.Circle, error) {
	found, err := loaders.For(ctx).Circles.LoadAll(ctx, ids)
	circles := []*model.Circle{}
	for _, circle := range found {
		if circle != nil {
			circles = append(circles, &model.Circle{Circle: circle})
		}
	}
	return circles, err
}

// ViewerCanPostOnWall resolves User.viewerCanPostOnWall.
func (r userResolver) ViewerCanPostOnWall(ctx context.Context, obj *model.User) (bool, error) {
	return loaders.For(ctx).PostOnWall.Load(ctx, obj.User)
}

// loadUser loads a user; nil if there is none whom the viewer may see.
func loadUser(ctx context.Context, id social.UserID) (*model.User, error) {
	user, err := loaders.For(ctx).Users.Load(ctx, id)
	if err != nil || user == nil {
		return nil, err
	}
	return &model.User{User: user}, nil
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
		id, err := userID("userId", input.UserID)
		if err != nil {
			return err
		}
		user, err := r.Social.Block(ctx, viewer, id)
		if err == nil {
			blocked = &model.User{User: user}
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
