package model

import (
	"plaza/social"
	"plaza/social/network"
)

// Comment is the schema's Comment, for a viewer who sees it.
type Comment struct {
	*social.Comment
	Viewer *network.Viewer
}

// IsNode marks Comment as a Node.
func (*Comment) IsNode() {}

// Text is null in a tombstone.
func (c *Comment) Text() *string {
	if c.Deleted {
		return nil
	}
	return &c.Comment.Text
}

// IsDeleted says whether the comment is a tombstone.
func (c *Comment) IsDeleted() bool { return c.Deleted }

// IsHidden says whether moderators have hidden the comment; only its author sees that.
func (c *Comment) IsHidden() bool { return c.Hidden }

// RepliesCount counts direct replies.
func (c *Comment) RepliesCount() int { return c.Replies }

// AddCommentPayload is the answer to addComment.
type AddCommentPayload struct {
	Comment    *Comment // nil: nothing was added
	UserErrors []*UserError
}

// DeleteCommentPayload is the answer to deleteComment.
type DeleteCommentPayload struct {
	DeletedCommentID  *string
	RemovedCommentIDs []string
	Comment           *Comment
	UserErrors        []*UserError
	Deletion          *network.Deletion // nil: nothing was done
}
