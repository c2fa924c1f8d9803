package resolvers

import (
	"context"
	"time"

	"plaza/fault"
	"plaza/graph/model"
	"plaza/graph/relay"
	"plaza/loaders"
	"plaza/resolvers/presenter"
	"plaza/social"
	"plaza/social/network"
)

// Author resolves Comment.author.
func (r commentResolver) Author(ctx context.Context, obj *model.Comment) (*model.User, error) {
	if obj.Deleted {
		return nil, nil // null: a tombstone has no author
	}
	return loadUser(ctx, obj.Comment.Author)
}

// Post resolves Comment.post.
func (r commentResolver) Post(ctx context.Context, obj *model.Comment) (model.Post, error) {
	return loadPost(ctx, obj.Comment.Post)
}

// Parent resolves Comment.parent.
func (r commentResolver) Parent(ctx context.Context, obj *model.Comment) (*model.Comment, error) {
	if obj.Comment.Parent.IsZero() {
		return nil, nil // null: a reply to the post
	}
	return loadComment(ctx, obj.Comment.Parent)
}

// Ancestors resolves Comment.ancestors.
func (r commentResolver) Ancestors(ctx context.Context, obj *model.Comment) ([]*model.Comment, error) {
	found, err := loaders.For(ctx).Comments.LoadAll(ctx, obj.AncestorIDs())
	if err != nil {
		return nil, err
	}
	ancestors := []*model.Comment{}
	for _, c := range found {
		if c != nil {
			ancestors = append(ancestors, wrapComment(ctx, c))
		}
	}
	return ancestors, nil
}

// Replies resolves Comment.replies.
func (r commentResolver) Replies(ctx context.Context, obj *model.Comment, since *time.Time, until *time.Time, first *int, after *string, last *int, before *string) (*model.CommentConnection, error) {
	replies := social.Thread{Post: obj.Comment.Post, Order: social.OrderOldest, Parent: obj.ID}
	return connectComments(ctx, threadList(ctx, replies).Within(since, until, replies.Narrow), relay.ArgsOf(first, after, last, before))
}

// Discussion resolves Comment.discussion.
func (r commentResolver) Discussion(ctx context.Context, obj *model.Comment, first *int, after *string, last *int, before *string) (*model.CommentConnection, error) {
	discussion := social.Thread{Post: obj.Comment.Post, Order: social.OrderThreaded, Under: obj.TreePath}
	return connectComments(ctx, threadList(ctx, discussion), relay.ArgsOf(first, after, last, before))
}

// ViewerCanEdit resolves Comment.viewerCanEdit.
func (r commentResolver) ViewerCanEdit(ctx context.Context, obj *model.Comment) (bool, error) {
	if obj.Author != obj.Viewer.ID {
		return false, nil
	}
	post, err := loaders.For(ctx).Posts.Load(ctx, obj.Comment.Post)
	if err != nil || post == nil {
		return false, err
	}
	return social.CanEditComment(obj.Viewer.ID, obj.Comment, post), nil
}

// ViewerCanDelete resolves Comment.viewerCanDelete.
func (r commentResolver) ViewerCanDelete(ctx context.Context, obj *model.Comment) (bool, error) {
	post, err := loaders.For(ctx).Posts.Load(ctx, obj.Comment.Post)
	if err != nil || post == nil {
		return false, err
	}
	return social.CanDeleteComment(obj.Viewer.ID, obj.Comment, post), nil
}

// ViewerCanReply resolves Comment.viewerCanReply.
func (r commentResolver) ViewerCanReply(ctx context.Context, obj *model.Comment) (bool, error) {
	post, err := loaders.For(ctx).Posts.Load(ctx, obj.Comment.Post)
	if err != nil || post == nil {
		return false, err
	}
	relation, err := loaders.For(ctx).Relations.Load(ctx, post.Author)
	return err == nil && obj.Viewer.CanReply(obj.Comment, post, relation), err
}

// AddComment resolves Mutation.addComment.
func (r mutationResolver) AddComment(ctx context.Context, input model.AddCommentInput) (*model.AddCommentPayload, error) {
	var added *model.Comment
	mistakes, err := r.mutate(ctx, func(viewer social.UserID) error {
		comment, err := newComment(input)
		if err != nil {
			return fault.All(err, social.CheckCommentText(input.Text))
		}
		c, err := r.Social.AddComment(ctx, viewer, comment)
		if err == nil {
			added = wrapComment(ctx, c)
		}
		return err
	})
	return &model.AddCommentPayload{Comment: added, UserErrors: mistakes}, err
}

// Edge resolves AddCommentPayload.edge.
func (addCommentPayloadResolver) Edge(_ context.Context, obj *model.AddCommentPayload, order social.CommentOrder) (*model.CommentEdge, error) {
	if obj.Comment == nil {
		return nil, nil // null: nothing was added
	}
	return edgeOf(obj.Comment, order), nil
}

// edgeOf returns a comment as an entry of its thread.
func edgeOf(c *model.Comment, order social.CommentOrder) *model.CommentEdge {
	thread := social.Thread{Post: c.Comment.Post, Order: order}
	return &model.CommentEdge{Cursor: threadCursors(thread).Encode(social.CommentKey(thread, c.Comment)), Node: c}
}

func newComment(input model.AddCommentInput) (network.NewComment, error) {
	c := network.NewComment{Text: input.Text}
	var noPost error
	c.Post, noPost = relay.PostID("postId", input.PostID)
	return c, fault.All(noPost, relay.SetID(&c.Parent, "parentId", input.ParentID, relay.CommentID))
}

// EditComment resolves Mutation.editComment.
func (r mutationResolver) EditComment(ctx context.Context, input model.EditCommentInput) (*model.EditCommentPayload, error) {
	comment, mistakes, err := comments.change(ctx, r, input.CommentID, with(r.Social.EditComment, input.Text), social.CheckCommentText(input.Text))
	return &model.EditCommentPayload{Comment: comment, UserErrors: mistakes}, err
}

// DeleteComment resolves Mutation.deleteComment.
func (r mutationResolver) DeleteComment(ctx context.Context, input model.DeleteCommentInput) (*model.DeleteCommentPayload, error) {
	var deletion *network.Deletion
	tombstone, mistakes, err := comments.change(ctx, r, input.CommentID, func(ctx context.Context, viewer social.UserID, id social.CommentID) (err error) {
		deletion, err = r.Social.DeleteComment(ctx, viewer, id)
		return err
	})
	if err != nil || len(mistakes) > 0 {
		return &model.DeleteCommentPayload{UserErrors: mistakes}, err
	}
	payload := &model.DeleteCommentPayload{DeletedCommentID: &input.CommentID, Comment: tombstone, UserErrors: mistakes, Deletion: deletion}
	for _, gone := range deletion.Gone {
		payload.RemovedCommentIDs = append(payload.RemovedCommentIDs, gone.String())
	}
	return payload, nil
}

// Post resolves DeleteCommentPayload.post.
func (deleteCommentPayloadResolver) Post(ctx context.Context, obj *model.DeleteCommentPayload) (model.Post, error) {
	if obj.Deletion == nil {
		return nil, nil // null: nothing was done
	}
	return loadPost(ctx, obj.Deletion.Post)
}

// Parent resolves DeleteCommentPayload.parent.
func (deleteCommentPayloadResolver) Parent(ctx context.Context, obj *model.DeleteCommentPayload) (*model.Comment, error) {
	if obj.Deletion == nil || obj.Deletion.Above.IsZero() {
		return nil, nil // null: nothing was done, or no comment above it remains
	}
	return loadComment(ctx, obj.Deletion.Above)
}

// DeleteAllMyComments resolves Mutation.deleteAllMyComments.
func (r mutationResolver) DeleteAllMyComments(ctx context.Context, input model.DeleteAllMyCommentsInput) (*model.DeleteAllMyCommentsPayload, error) {
	var remaining int
	mistakes, err := r.mutate(ctx, func(viewer social.UserID) (err error) {
		if !input.Confirm {
			return fault.Invalidf("confirm", "Deleting all your comments can't be undone: set confirm to true.")
		}
		remaining, err = r.Social.EraseComments(ctx, viewer)
		return err
	})
	return &model.DeleteAllMyCommentsPayload{RemainingCount: presenter.Unless(mistakes, remaining), UserErrors: mistakes}, err
}
