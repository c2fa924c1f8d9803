package resolvers

import (
	"context"

	"plaza/graph/model"
	"plaza/loaders"
	"plaza/social"
)

// loadUser loads a user; nil if there is none that the viewer may see.
func loadUser(ctx context.Context, id social.UserID) (*model.User, error) {
	user, err := loaders.For(ctx).Users.Load(ctx, id)
	if err != nil || user == nil {
		return nil, err
	}
	return wrapUser(user), nil
}

// loadCircle loads one of the viewer's circles; nil if there is none.
func loadCircle(ctx context.Context, id social.CircleID) (*model.Circle, error) {
	circle, err := loaders.For(ctx).Circles.Load(ctx, id)
	if err != nil || circle == nil {
		return nil, err
	}
	return wrapCircle(circle), nil
}

// ownCircles loads the viewer's own circles, and drops deleted ones.
func ownCircles(ctx context.Context, ids []social.CircleID) ([]*model.Circle, error) {
	found, err := loaders.For(ctx).Circles.LoadAll(ctx, ids)
	circles := []*model.Circle{}
	for _, circle := range found {
		if circle != nil {
			circles = append(circles, wrapCircle(circle))
		}
	}
	return circles, err
}

// loadPost loads a post; nil if there is none that the viewer may see.
func loadPost(ctx context.Context, id social.PostID) (model.Post, error) {
	post, err := loaders.For(ctx).Posts.Load(ctx, id)
	if err != nil || post == nil {
		return nil, err
	}
	return model.NewPost(loaders.For(ctx).Viewer, post), nil
}

// loadComment loads a comment; nil if there is none that the viewer may see.
func loadComment(ctx context.Context, id social.CommentID) (*model.Comment, error) {
	comment, err := loaders.For(ctx).Comments.Load(ctx, id)
	if err != nil || comment == nil {
		return nil, err
	}
	return wrapComment(ctx, comment), nil
}

func wrapComment(ctx context.Context, c *social.Comment) *model.Comment {
	return &model.Comment{Comment: c, Viewer: loaders.For(ctx).Viewer}
}

func wrapComments(ctx context.Context, comments []*social.Comment) []*model.Comment {
	wrapped := make([]*model.Comment, len(comments))
	for i, c := range comments {
		wrapped[i] = wrapComment(ctx, c)
	}
	return wrapped
}

func wrapNotification(n *social.Notification) *model.Notification {
	return &model.Notification{Notification: n}
}

func wrapUser(u *social.User) *model.User { return &model.User{User: u} }

func wrapUsers(users []*social.User) []*model.User {
	wrapped := make([]*model.User, len(users))
	for i, u := range users {
		wrapped[i] = wrapUser(u)
	}
	return wrapped
}

func wrapCircle(c *social.Circle) *model.Circle { return &model.Circle{Circle: c} }
