package resolvers

import (
	"context"
	"time"

	"plaza/fault"
	"plaza/graph/model"
	"plaza/loaders"
	"plaza/social"
)

// postResolver answers the fields of all types of posts.
type postResolver[P model.Post] struct{}

// Author resolves Post.author.
func (postResolver[P]) Author(ctx context.Context, obj P) (*model.User, error) {
	return loadUser(ctx, obj.Domain().Author)
}

// WallOwner resolves Post.wallOwner.
func (postResolver[P]) WallOwner(ctx context.Context, obj P) (*model.User, error) {
	return loadUser(ctx, obj.Domain().WallOwner)
}

// History resolves Post.history.
func (postResolver[P]) History(ctx context.Context, obj P) ([]*model.PostVersion, error) {
	history, err := loaders.For(ctx).Histories.Load(ctx, obj.Domain())
	versions := make([]*model.PostVersion, len(history))
	for i, v := range history {
		versions[i] = model.NewPostVersion(v)
	}
	return versions, err
}

// LatestComments resolves Post.latestComments.
func (postResolver[P]) LatestComments(ctx context.Context, obj P, last int) ([]*model.Comment, error) {
	if last < 1 || last > social.PreviewLen {
		return nil, fault.Invalidf("last", "A preview has 1 to 3 comments.")
	}
	comments, err := loaders.For(ctx).Previews.Load(ctx, obj.Domain())
	return wrapComments(ctx, comments[max(0, len(comments)-last):]), err
}

// Comments resolves Post.comments.
func (postResolver[P]) Comments(ctx context.Context, obj P, order social.CommentOrder, first *int, after *string, last *int, before *string) (*model.CommentConnection, error) {
	c, err := threadList(ctx, social.Thread{Post: obj.Domain().ID, Order: order}).connect(ctx, pageArgs{first, after, last, before})
	return commentConnection(ctx, c, err)
}

// Comment resolves Post.comment.
func (postResolver[P]) Comment(ctx context.Context, obj P, slug string) (*model.Comment, error) {
	comment, err := loaders.For(ctx).Permalinks.Load(ctx, social.Permalink{Post: obj.Domain().ID, Slug: slug})
	if err == nil && comment == nil {
		err = fault.NotFound("slug", "comment")
	}
	if err != nil {
		return nil, err
	}
	return wrapComment(ctx, comment), nil
}

// ViewerReaction resolves Post.viewerReaction.
func (postResolver[P]) ViewerReaction(ctx context.Context, obj P) (*social.ReactionKind, error) {
	kind, err := loaders.For(ctx).Reactions.Load(ctx, obj.Domain().ID)
	if err != nil || kind == "" {
		return nil, err
	}
	return &kind, nil
}

// ViewerVote resolves PollPost.viewerVote.
func (pollPostResolver) ViewerVote(ctx context.Context, obj *model.PollPost) (*int, error) {
	return loaders.For(ctx).Votes.Load(ctx, obj.ID)
}

// Circles resolves Audience.circles: only the author sees them.
func (r audienceResolver) Circles(ctx context.Context, obj *model.Audience) ([]*model.Circle, error) {
	if obj.Kind() != social.AudienceListed || !obj.Of.ViewerCanEdit() {
		return nil, nil
	}
	return ownCircles(ctx, obj.Of.Post.Audience.Circles)
}

// loadPost looks a post up; nil where there is none that the viewer may see.
func loadPost(ctx context.Context, id social.PostID) (model.Post, error) {
	post, err := loaders.For(ctx).Posts.Load(ctx, id)
	if err != nil || post == nil {
		return nil, err
	}
	return model.NewPost(loaders.For(ctx).Viewer, post), nil
}

func postList(read func(context.Context, social.Page) (social.Slice[*social.Post], error)) list[*social.Post] {
	return list[*social.Post]{cursorPost, read}
}

// CreatePost resolves Mutation.createPost.
func (r mutationResolver) CreatePost(ctx context.Context, input model.CreatePostInput) (*model.CreatePostPayload, error) {
	post, mistakes, err := posts.write(ctx, r, func(viewer social.UserID) (social.PostID, error) {
		post, err := newPost(input)
		if err != nil {
			return social.PostID{}, err
		}
		created, err := r.Social.CreatePost(ctx, viewer, post)
		if err != nil {
			return social.PostID{}, err
		}
		return created.ID, nil
	})
	return &model.CreatePostPayload{Post: post, UserErrors: mistakes}, err
}

// EditPost resolves Mutation.editPost.
func (r mutationResolver) EditPost(ctx context.Context, input model.EditPostInput) (*model.EditPostPayload, error) {
	post, mistakes, err := posts.change(ctx, r, input.PostID, func(ctx context.Context, viewer social.UserID, id social.PostID) error {
		_, err := r.Social.EditPost(ctx, viewer, id, content(input.Content))
		return err
	})
	return &model.EditPostPayload{Post: post, UserErrors: mistakes}, err
}

// SetPostAudience resolves Mutation.setPostAudience.
func (r mutationResolver) SetPostAudience(ctx context.Context, input model.SetPostAudienceInput) (*model.SetPostAudiencePayload, error) {
	post, mistakes, err := posts.change(ctx, r, input.PostID, func(ctx context.Context, viewer social.UserID, id social.PostID) error {
		audience, err := audience(input.Audience)
		if err != nil {
			return err
		}
		_, err = r.Social.SetAudience(ctx, viewer, id, audience)
		return err
	})
	return &model.SetPostAudiencePayload{Post: post, UserErrors: mistakes}, err
}

// DeletePost resolves Mutation.deletePost.
func (r mutationResolver) DeletePost(ctx context.Context, input model.DeletePostInput) (*model.DeletePostPayload, error) {
	deleted, mistakes, err := posts.remove(ctx, r, input.PostID, r.Social.DeletePost)
	return &model.DeletePostPayload{DeletedPostID: deleted, UserErrors: mistakes}, err
}

// VotePoll resolves Mutation.votePoll.
func (r mutationResolver) VotePoll(ctx context.Context, input model.VotePollInput) (*model.VotePollPayload, error) {
	post, mistakes, err := posts.change(ctx, r, input.PostID, func(ctx context.Context, viewer social.UserID, id social.PostID) error {
		return r.Social.Vote(ctx, viewer, id, input.Option)
	})
	return &model.VotePollPayload{Post: post, UserErrors: mistakes}, err
}

// AddReaction resolves Mutation.addReaction.
func (r mutationResolver) AddReaction(ctx context.Context, input model.AddReactionInput) (*model.AddReactionPayload, error) {
	post, mistakes, err := posts.change(ctx, r, input.PostID, func(ctx context.Context, viewer social.UserID, id social.PostID) error {
		return r.Social.React(ctx, viewer, id, input.Kind)
	})
	return &model.AddReactionPayload{Post: post, UserErrors: mistakes}, err
}

// RemoveReaction resolves Mutation.removeReaction.
func (r mutationResolver) RemoveReaction(ctx context.Context, input model.RemoveReactionInput) (*model.RemoveReactionPayload, error) {
	post, mistakes, err := posts.change(ctx, r, input.PostID, r.Social.Unreact)
	return &model.RemoveReactionPayload{Post: post, UserErrors: mistakes}, err
}

func newPost(input model.CreatePostInput) (social.NewPost, error) {
	audience, err := audience(input.Audience)
	if err != nil {
		return social.NewPost{}, err
	}
	post := social.NewPost{Content: content(input.Content), Audience: audience}
	if input.WallOwnerID != nil {
		post.WallOwner, err = userID("wallOwnerId", *input.WallOwnerID)
	}
	return post, err
}

func audience(input *model.AudienceInput) (social.Audience, error) {
	a := social.Audience{Kind: input.Kind}
	if len(input.CircleIds) > social.MaxListedCircles {
		return a, fault.Invalidf("audience.circleIds", "LISTED takes 1 to %d circles.", social.MaxListedCircles)
	}
	for _, text := range input.CircleIds {
		id, err := circleID("audience.circleIds", text)
		if err != nil {
			return a, err
		}
		a.Circles = append(a.Circles, id)
	}
	return a, nil
}

func content(input *model.PostContentInput) social.Content {
	var c social.Content
	if in := input.Status; in != nil {
		c.Status = &social.Status{Text: in.Text}
	}
	if in := input.Photo; in != nil {
		c.Photo = &social.Photo{URL: in.URL, Caption: value(in.Caption), Width: pixels(in.Width), Height: pixels(in.Height)}
	}
	if in := input.Link; in != nil {
		c.Link = &social.Link{URL: in.URL, Title: value(in.Title), Text: value(in.Text)}
	}
	if in := input.Checkin; in != nil {
		c.Checkin = &social.Checkin{Place: in.Place, Latitude: in.Latitude, Longitude: in.Longitude, Text: value(in.Text)}
	}
	if in := input.Poll; in != nil {
		c.Poll = &social.Poll{Question: in.Question, Options: in.Options, ClosesAt: value[time.Time](in.ClosesAt)}
	}
	return c
}

// pixels tells a 0 that was given, which is refused, from a size that is unknown.
func pixels(n *int) int {
	if n != nil && *n == 0 {
		return -1
	}
	return value(n)
}

func value[T any](pointer *T) T {
	var v T
	if pointer != nil {
		v = *pointer
	}
	return v
}
