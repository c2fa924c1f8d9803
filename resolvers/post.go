package resolvers

import (
	"context"
	"time"

	"plaza/fault"
	"plaza/graph/model"
	"plaza/loaders"
	"plaza/social"
	"plaza/social/network"
)

// postResolver resolves the fields that all types of posts share.
type postResolver[P model.Post] struct{}

// Author resolves Post.author.
func (postResolver[P]) Author(ctx context.Context, obj P) (*model.User, error) {
	author, err := loadUser(ctx, obj.Domain().Author)
	if err == nil && author == nil {
		err = errAuthorGone
	}
	return author, err
}

// errAuthorGone is for a post that was read just before its author's account was deleted.
var errAuthorGone = &fault.Error{Code: fault.CodeNotFound, Message: "This post was deleted just now."}

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
	c, err := threadList(ctx, thread).within(since, until, thread.Narrow).connect(ctx, pageArgs{first, after, last, before})
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

// loadPost loads a post; nil if there is none that the viewer may see.
func loadPost(ctx context.Context, id social.PostID) (model.Post, error) {
	post, err := loaders.For(ctx).Posts.Load(ctx, id)
	if err != nil || post == nil {
		return nil, err
	}
	return model.NewPost(loaders.For(ctx).Viewer, post), nil
}

// postList returns the list of posts that these words identify: see cursorsOf.
func postList(read func(context.Context, social.Page) (social.Slice[*social.Post], error), identity ...string) list[*social.Post] {
	return list[*social.Post]{cursorsOf(cursorPost, identity...), read}
}

// CreatePost resolves Mutation.createPost.
func (r mutationResolver) CreatePost(ctx context.Context, input model.CreatePostInput) (*model.CreatePostPayload, error) {
	post, mistakes, err := posts.write(ctx, r, func(viewer social.UserID) (social.PostID, error) {
		post, err := newPost(input)
		if err != nil {
			return social.PostID{}, fault.All(err, r.Social.CheckPost(ctx, viewer, post))
		}
		created, err := r.Social.CreatePost(ctx, viewer, post)
		if err != nil {
			return social.PostID{}, err
		}
		return created.ID, nil
	})
	if post == nil {
		return &model.CreatePostPayload{UserErrors: mistakes}, err
	}
	p := post.Domain()
	return &model.CreatePostPayload{
		Post: post, NewsEdge: postEdge(newsCursors(p.Author), post), WallEdge: postEdge(wallCursors(p.WallOwner), post),
		PostsEdge: postEdge(postsByCursors(p.Author), post), UserErrors: mistakes,
	}, err
}

// postEdge returns a post as an entry of a list.
func postEdge(of cursors, p model.Post) *model.PostEdge {
	return &model.PostEdge{Cursor: of.encode(social.Key(p.Domain().ID.Bytes())), Node: p}
}

// wallCursors returns the cursors of User.wall.
func wallCursors(owner social.UserID) cursors { return cursorsOf(cursorPost, "wall", owner.String()) }

// postsByCursors returns the cursors of User.posts.
func postsByCursors(author social.UserID) cursors {
	return cursorsOf(cursorPost, "posts by", author.String())
}

// EditPost resolves Mutation.editPost.
func (r mutationResolver) EditPost(ctx context.Context, input model.EditPostInput) (*model.EditPostPayload, error) {
	post, mistakes, err := posts.change(ctx, r, input.PostID, func(ctx context.Context, viewer social.UserID, id social.PostID) error {
		_, err := r.Social.EditPost(ctx, viewer, id, content(input.Content))
		return err
	}, r.Social.CheckEdit(content(input.Content)))
	return &model.EditPostPayload{Post: post, UserErrors: mistakes}, err
}

// SetPostAudience resolves Mutation.setPostAudience.
func (r mutationResolver) SetPostAudience(ctx context.Context, input model.SetPostAudienceInput) (*model.SetPostAudiencePayload, error) {
	audience, malformed := audience(input.Audience)
	post, mistakes, err := posts.change(ctx, r, input.PostID, func(ctx context.Context, viewer social.UserID, id social.PostID) error {
		_, err := r.Social.SetAudience(ctx, viewer, id, audience)
		return err
	}, malformed)
	return &model.SetPostAudiencePayload{Post: post, UserErrors: mistakes}, err
}

// SetReplyPolicy resolves Mutation.setReplyPolicy.
func (r mutationResolver) SetReplyPolicy(ctx context.Context, input model.SetReplyPolicyInput) (*model.SetReplyPolicyPayload, error) {
	policy, malformed := replyPolicy(input.Replies)
	post, mistakes, err := posts.change(ctx, r, input.PostID, func(ctx context.Context, viewer social.UserID, id social.PostID) error {
		_, err := r.Social.SetReplyPolicy(ctx, viewer, id, policy)
		return err
	}, malformed)
	return &model.SetReplyPolicyPayload{Post: post, UserErrors: mistakes}, err
}

// SetCommentOrder resolves Mutation.setCommentOrder.
func (r mutationResolver) SetCommentOrder(ctx context.Context, input model.SetCommentOrderInput) (*model.SetCommentOrderPayload, error) {
	post, mistakes, err := posts.change(ctx, r, input.PostID, func(ctx context.Context, viewer social.UserID, id social.PostID) error {
		_, err := r.Social.SetCommentOrder(ctx, viewer, id, input.Order)
		return err
	})
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

func newPost(input model.CreatePostInput) (network.NewPost, error) {
	audience, badAudience := audience(input.Audience)
	post := network.NewPost{Content: content(input.Content), Audience: audience, Order: value(input.CommentOrder)}
	var badReplies error
	if input.Replies != nil {
		post.Replies, badReplies = replyPolicy(input.Replies)
	}
	return post, fault.All(badAudience, badReplies, setID(&post.WallOwner, "wallOwnerId", input.WallOwnerID, userID))
}

func audience(input *model.AudienceInput) (social.Audience, error) {
	circles, err := listedCircles("audience.circleIds", input.CircleIds)
	audience := social.Audience{Kind: input.Kind, Circles: circles}
	return audience, fault.All(err, audience.Check())
}

func replyPolicy(input *model.ReplyPolicyInput) (social.ReplyPolicy, error) {
	circles, err := listedCircles("replies.circleIds", input.CircleIds)
	policy := social.ReplyPolicy{Kind: input.Kind, Circles: circles}
	return policy, fault.All(err, policy.Check())
}

func listedCircles(argument string, texts []string) ([]social.CircleID, error) {
	if len(texts) > social.MaxListedCircles {
		return nil, fault.Invalidf(argument, "LISTED takes 1 to %d circles.", social.MaxListedCircles)
	}
	var circles []social.CircleID
	for _, text := range texts {
		id, err := circleID(argument, text)
		if err != nil {
			return nil, err
		}
		circles = append(circles, id)
	}
	return circles, nil
}

func content(input *model.PostContentInput) social.Content {
	var c social.Content
	if in := input.Status; in != nil {
		c.Status = &social.Status{Text: in.Text}
	}
	if in := input.Photo; in != nil {
		c.Photo = &social.Photo{URL: in.URL, Alt: value(in.Alt), Caption: value(in.Caption), Width: pixels(in.Width), Height: pixels(in.Height)}
	}
	if in := input.Link; in != nil {
		c.Link = &social.Link{URL: in.URL, Title: value(in.Title), Text: value(in.Text)}
	}
	if in := input.Checkin; in != nil {
		c.Checkin = &social.Checkin{Place: in.Place, Latitude: in.Latitude, Longitude: in.Longitude, Text: value(in.Text)}
		if photo := in.Photo; photo != nil {
			c.Checkin.Photo = &social.Picture{URL: photo.URL, Alt: value(photo.Alt), Width: pixels(photo.Width), Height: pixels(photo.Height)}
		}
	}
	if in := input.Poll; in != nil {
		c.Poll = &social.Poll{Question: in.Question, Options: in.Options, ClosesAt: value[time.Time](in.ClosesAt)}
	}
	return c
}

// pixels distinguishes a given 0, which is rejected, from an unknown size.
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
