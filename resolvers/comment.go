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
	c, err := threadList(ctx, replies).within(since, until, replies.Narrow).connect(ctx, pageArgs{first, after, last, before})
	return commentConnection(ctx, c, err)
}

// Discussion resolves Comment.discussion.
func (r commentResolver) Discussion(ctx context.Context, obj *model.Comment, first *int, after *string, last *int, before *string) (*model.CommentConnection, error) {
	discussion := social.Thread{Post: obj.Comment.Post, Order: social.OrderThreaded, Under: obj.TreePath}
	c, err := threadList(ctx, discussion).connect(ctx, pageArgs{first, after, last, before})
	return commentConnection(ctx, c, err)
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

// threadCursors returns the cursors of a thread, which are the same for all viewers.
func threadCursors(t social.Thread) cursors {
	kind := cursorComment
	if t.Order == social.OrderThreaded {
		kind = cursorTree
	}
	return cursorsOf(kind, "thread", t.Post.String(), string(t.Order), t.Parent.String(), string(t.Under))
}

func threadList(ctx context.Context, t social.Thread) list[*social.Comment] {
	threads := loaders.For(ctx).Threads
	return list[*social.Comment]{threadCursors(t), func(ctx context.Context, p social.Page) (social.Slice[*social.Comment], error) {
		return threads.Load(ctx, social.List[social.Thread]{Of: t, Page: p})
	}}
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

type addCommentPayloadResolver struct{ *Resolver }

// Edge resolves AddCommentPayload.edge.
func (addCommentPayloadResolver) Edge(_ context.Context, obj *model.AddCommentPayload, order social.CommentOrder) (*model.CommentEdge, error) {
	if obj.Comment == nil {
		return nil, nil // null: nothing was added
	}
	thread := social.Thread{Post: obj.Comment.Comment.Post, Order: order}
	return &model.CommentEdge{Cursor: threadCursors(thread).encode(social.CommentKey(thread, obj.Comment.Comment)), Node: obj.Comment}, nil
}

func newComment(input model.AddCommentInput) (network.NewComment, error) {
	c := network.NewComment{Text: input.Text}
	var noPost error
	c.Post, noPost = postID("postId", input.PostID)
	return c, fault.All(noPost, setID(&c.Parent, "parentId", input.ParentID, commentID))
}

// EditComment resolves Mutation.editComment.
func (r mutationResolver) EditComment(ctx context.Context, input model.EditCommentInput) (*model.EditCommentPayload, error) {
	comment, mistakes, err := comments.change(ctx, r, input.CommentID, func(ctx context.Context, viewer social.UserID, id social.CommentID) error {
		return r.Social.EditComment(ctx, viewer, id, input.Text)
	}, social.CheckCommentText(input.Text))
	return &model.EditCommentPayload{Comment: comment, UserErrors: mistakes}, err
}

// DeleteComment resolves Mutation.deleteComment.
func (r mutationResolver) DeleteComment(ctx context.Context, input model.DeleteCommentInput) (*model.DeleteCommentPayload, error) {
	var deleted *social.Comment
	tombstone, mistakes, err := comments.change(ctx, r, input.CommentID, func(ctx context.Context, viewer social.UserID, id social.CommentID) (err error) {
		deleted, err = r.Social.DeleteComment(ctx, viewer, id)
		return err
	})
	if err != nil || len(mistakes) > 0 {
		return &model.DeleteCommentPayload{UserErrors: mistakes}, err
	}
	return &model.DeleteCommentPayload{DeletedCommentID: &input.CommentID, Comment: tombstone, UserErrors: mistakes, Deleted: deleted}, nil
}

type deleteCommentPayloadResolver struct{ *Resolver }

// Post resolves DeleteCommentPayload.post.
func (deleteCommentPayloadResolver) Post(ctx context.Context, obj *model.DeleteCommentPayload) (model.Post, error) {
	if obj.Deleted == nil {
		return nil, nil // null: nothing was done
	}
	return loadPost(ctx, obj.Deleted.Post)
}

// Parent resolves DeleteCommentPayload.parent.
func (deleteCommentPayloadResolver) Parent(ctx context.Context, obj *model.DeleteCommentPayload) (*model.Comment, error) {
	if obj.Deleted == nil || obj.Deleted.Parent.IsZero() {
		return nil, nil // null: nothing was done, or it replied to the post
	}
	return loadComment(ctx, obj.Deleted.Parent)
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
	return &model.DeleteAllMyCommentsPayload{RemainingCount: unless(mistakes, remaining), UserErrors: mistakes}, err
}

// loadComment loads a comment; nil if there is none that the viewer may see.
func loadComment(ctx context.Context, id social.CommentID) (*model.Comment, error) {
	comment, err := loaders.For(ctx).Comments.Load(ctx, id)
	if err != nil || comment == nil {
		return nil, err
	}
	return wrapComment(ctx, comment), nil
}
