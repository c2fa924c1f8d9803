package resolvers

import (
	"context"
	"time"

	"plaza/fault"
	"plaza/graph/model"
	"plaza/graph/relay"
	"plaza/loaders"
	"plaza/social"
	"plaza/social/network"
)

// Post resolves Query.post.
func (r queryResolver) Post(ctx context.Context, id string) (model.Post, error) {
	parsed, err := relay.PostID("id", id)
	if err != nil {
		return nil, err
	}
	post, err := loadPost(ctx, parsed)
	if err == nil && post == nil {
		err = fault.NotFound("id", "post")
	}
	return post, err
}

// Author resolves Post.author.
func (postResolver[P]) Author(ctx context.Context, obj P) (*model.User, error) {
	author, err := loadUser(ctx, obj.Domain().Author)
	if err == nil && author == nil {
		err = errAuthorGone
	}
	return author, err
}

// errAuthorGone is for a post that was read just before its author's account was deleted.
var errAuthorGone = &fault.Error{Code: fault.CodeNotFound, Message: "This post has just been deleted."}

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
	if last < 1 || last > network.PreviewLen {
		return nil, fault.Invalidf("last", "A preview must have 1 to 3 comments.")
	}
	comments, err := loaders.For(ctx).Previews.Load(ctx, obj.Domain())
	return wrapComments(ctx, comments[max(0, len(comments)-last):]), err
}

// Comments resolves Post.comments.
func (postResolver[P]) Comments(ctx context.Context, obj P, order *social.CommentOrder, since *time.Time, until *time.Time, first *int, after *string, last *int, before *string) (*model.CommentConnection, error) {
	thread := social.Thread{Post: obj.Domain().ID, Order: obj.Domain().Order}
	if order != nil {
		thread.Order = *order
	}
	return connectComments(ctx, threadList(ctx, thread).Within(since, until, thread.Narrow), relay.ArgsOf(first, after, last, before))
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

// ViewerCanComment resolves Post.viewerCanComment.
func (postResolver[P]) ViewerCanComment(ctx context.Context, obj P) (bool, error) {
	p := obj.Domain()
	relation, err := loaders.For(ctx).Relations.Load(ctx, p.Author)
	return err == nil && social.CanComment(loaders.For(ctx).Viewer.ID, p, relation), err
}

// ViewerIsMutingThread resolves Post.viewerIsMutingThread.
func (postResolver[P]) ViewerIsMutingThread(ctx context.Context, obj P) (bool, error) {
	return loaders.For(ctx).ThreadMute.Load(ctx, obj.Domain())
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

// Circles resolves ReplyPolicy.circles.
func (r replyPolicyResolver) Circles(ctx context.Context, obj *model.ReplyPolicy) ([]*model.Circle, error) {
	if obj.Kind() != social.RepliesListed {
		return nil, nil
	}
	return ownCircles(ctx, obj.Of.Circles)
}

// CreatePost resolves Mutation.createPost.
func (r mutationResolver) CreatePost(ctx context.Context, input model.CreatePostInput) (*model.CreatePostPayload, error) {
	var created *social.Post
	mistakes, err := r.mutate(ctx, func(viewer social.UserID) error {
		post, err := newPost(input)
		if err != nil {
			return fault.All(err, r.Social.CheckPost(ctx, viewer, post))
		}
		created, err = r.Social.CreatePost(ctx, viewer, post)
		return err
	})
	if err != nil || len(mistakes) > 0 {
		return &model.CreatePostPayload{UserErrors: mistakes}, err
	}
	post := model.NewPost(loaders.For(ctx).Viewer, created)
	return &model.CreatePostPayload{
		Post: post, NewsEdge: postEdge(newsCursors(created.Author), post), WallEdge: postEdge(wallCursors(created.WallOwner), post),
		PostsEdge: postEdge(postsByCursors(created.Author), post), UserErrors: mistakes,
	}, nil
}

// postEdge returns a post as an entry of a list.
func postEdge(of relay.Cursors, p model.Post) *model.PostEdge {
	return &model.PostEdge{Cursor: of.Encode(social.Key(p.Domain().ID.Bytes())), Node: p}
}

// EditPost resolves Mutation.editPost.
func (r mutationResolver) EditPost(ctx context.Context, input model.EditPostInput) (*model.EditPostPayload, error) {
	post, mistakes, err := posts.change(ctx, r, input.PostID, rewrite(r.Social.EditPost, content(input.Content)), r.Social.CheckEdit(content(input.Content)))
	return &model.EditPostPayload{Post: post, UserErrors: mistakes}, err
}

// SetPostAudience resolves Mutation.setPostAudience.
func (r mutationResolver) SetPostAudience(ctx context.Context, input model.SetPostAudienceInput) (*model.SetPostAudiencePayload, error) {
	audience, malformed := audience(input.Audience)
	post, mistakes, err := posts.change(ctx, r, input.PostID, rewrite(r.Social.SetAudience, audience), malformed)
	return &model.SetPostAudiencePayload{Post: post, UserErrors: mistakes}, err
}

// SetReplyPolicy resolves Mutation.setReplyPolicy.
func (r mutationResolver) SetReplyPolicy(ctx context.Context, input model.SetReplyPolicyInput) (*model.SetReplyPolicyPayload, error) {
	policy, malformed := replyPolicy(input.Replies)
	post, mistakes, err := posts.change(ctx, r, input.PostID, rewrite(r.Social.SetReplyPolicy, policy), malformed)
	return &model.SetReplyPolicyPayload{Post: post, UserErrors: mistakes}, err
}

// SetCommentOrder resolves Mutation.setCommentOrder.
func (r mutationResolver) SetCommentOrder(ctx context.Context, input model.SetCommentOrderInput) (*model.SetCommentOrderPayload, error) {
	post, mistakes, err := posts.change(ctx, r, input.PostID, rewrite(r.Social.SetCommentOrder, input.Order))
	return &model.SetCommentOrderPayload{Post: post, UserErrors: mistakes}, err
}

// MuteThread resolves Mutation.muteThread.
func (r mutationResolver) MuteThread(ctx context.Context, input model.MuteThreadInput) (*model.MuteThreadPayload, error) {
	post, mistakes, err := posts.change(ctx, r, input.PostID, r.Social.MuteThread)
	return &model.MuteThreadPayload{Post: post, UserErrors: mistakes}, err
}

// UnmuteThread resolves Mutation.unmuteThread.
func (r mutationResolver) UnmuteThread(ctx context.Context, input model.UnmuteThreadInput) (*model.UnmuteThreadPayload, error) {
	post, mistakes, err := posts.change(ctx, r, input.PostID, r.Social.UnmuteThread)
	return &model.UnmuteThreadPayload{Post: post, UserErrors: mistakes}, err
}

// DeletePost resolves Mutation.deletePost.
func (r mutationResolver) DeletePost(ctx context.Context, input model.DeletePostInput) (*model.DeletePostPayload, error) {
	deleted, mistakes, err := posts.remove(ctx, r, input.PostID, r.Social.DeletePost)
	return &model.DeletePostPayload{DeletedPostID: deleted, UserErrors: mistakes}, err
}

// VotePoll resolves Mutation.votePoll.
func (r mutationResolver) VotePoll(ctx context.Context, input model.VotePollInput) (*model.VotePollPayload, error) {
	post, mistakes, err := posts.change(ctx, r, input.PostID, with(r.Social.Vote, input.Option))
	return &model.VotePollPayload{Post: post, UserErrors: mistakes}, err
}

// AddReaction resolves Mutation.addReaction.
func (r mutationResolver) AddReaction(ctx context.Context, input model.AddReactionInput) (*model.AddReactionPayload, error) {
	post, mistakes, err := posts.change(ctx, r, input.PostID, with(r.Social.React, input.Kind))
	return &model.AddReactionPayload{Post: post, UserErrors: mistakes}, err
}

// RemoveReaction resolves Mutation.removeReaction.
func (r mutationResolver) RemoveReaction(ctx context.Context, input model.RemoveReactionInput) (*model.RemoveReactionPayload, error) {
	post, mistakes, err := posts.change(ctx, r, input.PostID, r.Social.Unreact)
	return &model.RemoveReactionPayload{Post: post, UserErrors: mistakes}, err
}
