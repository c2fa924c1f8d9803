package social

import (
	"slices"
	"time"
)

// This file holds the one privacy rule. Queries, feeds, walls, threads, previews, live updates and
// rights all go through it; nothing else may decide who sees what. All functions are pure.

// apart reports whether two users are invisible to each other: one blocks the other, or one of them
// has deleted their account, or is away.
func (r Relation) apart() bool { return r.Blocks || r.BlockedBy || r.Gone || r.Away }

// FollowedBy reports whether the other follows the viewer: the viewer is in one of the other's
// circles.
func (r Relation) FollowedBy() bool { return len(r.Circles) > 0 }

// CanSeeUser reports whether a user is visible to a viewer who has this relation to them.
func CanSeeUser(r Relation) bool { return !r.apart() }

// CanSeeValue reports whether a profile value is visible to a viewer (zero: signed out) who has
// this relation to its owner. Searches find people only by the values that the searcher sees.
func CanSeeValue(viewer, owner UserID, visibility Visibility, toOwner Relation) bool {
	switch {
	case !viewer.IsZero() && viewer == owner:
		return true
	case !CanSeeUser(toOwner):
		return false
	}
	return visibility == VisibleToAll || visibility == VisibleToCircles && toOwner.FollowedBy()
}

// CanSeePost reports whether a post is visible to a viewer (zero: signed out) who has this relation
// to its author. A block, the deletion of the author's account, or a decision of moderators, hides
// it in any case. Its author and the owner of its wall see it; others by its audience, as the
// author's circles are now.
func CanSeePost(viewer UserID, p *Post, toAuthor Relation) bool {
	if !viewer.IsZero() && viewer == p.Author {
		return true
	}
	if toAuthor.apart() || IsHidden(p) {
		return false
	}
	if !viewer.IsZero() && viewer == p.WallOwner {
		return true
	}
	return inAudience(p.Audience, toAuthor)
}

// IsHidden reports whether moderators have hidden a post: only its author sees it.
func IsHidden(p *Post) bool { return p.Audience.Kind == AudienceHidden }

// OnWall reports whether a post is on a wall for a viewer who has this relation to its author: they
// see the post, and the wall's owner does not block the author. The block hides the post on this
// wall only, and only while it lasts.
func OnWall(viewer UserID, p *Post, toAuthor, ownerToAuthor Relation) bool {
	return CanSeePost(viewer, p, toAuthor) && !ownerToAuthor.Blocks
}

// CanSeeVersion reports whether an earlier version of a post is visible to a viewer who has this
// relation to its author: they see the post as it is now, and would also see it with the audience
// that it had in that version. What was written for a small audience does not become public when
// the post does.
func CanSeeVersion(viewer UserID, p *Post, v *Version, toAuthor Relation) bool {
	then := *p
	then.Audience = v.Audience
	return CanSeePost(viewer, p, toAuthor) && CanSeePost(viewer, &then, toAuthor)
}

func inAudience(a Audience, toAuthor Relation) bool {
	switch a.Kind {
	case AudiencePublic:
		return true
	case AudienceCircles:
		return len(toAuthor.Circles) > 0
	case AudienceListed:
		return isInAny(a.Circles, toAuthor)
	case AudienceOnlyMe, AudienceHidden:
		return false
	default:
		return false
	}
}

// isInAny reports whether one of the circles contains the viewer.
func isInAny(circles []CircleID, toOwner Relation) bool {
	return slices.ContainsFunc(toOwner.Circles, func(c CircleID) bool { return slices.Contains(circles, c) })
}

// CanSeeComment reports whether a comment is visible, in the form that CommentSeen gives it, to a
// viewer who sees its post. A tombstone has no author, so it is visible to everyone.
func CanSeeComment(viewer UserID, c *Comment, toAuthor Relation) bool {
	if isTombstone(viewer, c) {
		return c.Deleted || c.Replies > 0
	}
	return CanSeeUser(toAuthor)
}

// isTombstone reports whether a comment is a tombstone to a viewer: it is deleted, or moderators
// have hidden it, and the viewer is not its author.
func isTombstone(viewer UserID, c *Comment) bool {
	return c.Deleted || c.Hidden && (viewer.IsZero() || viewer != c.Author)
}

// CommentSeen returns a comment in the form in which a viewer sees it. To everyone but its author, a
// hidden comment looks like a deleted one: it is a tombstone while it has replies.
func CommentSeen(viewer UserID, c *Comment) *Comment {
	if c.Deleted || !isTombstone(viewer, c) {
		return c
	}
	seen := *c
	seen.Author, seen.Text, seen.EditedAt, seen.Deleted, seen.Hidden = UserID{}, "", time.Time{}, true, false
	return &seen
}

// CanReadComment reports whether the text and the author of a comment are visible to a viewer who
// sees its post.
func CanReadComment(viewer UserID, c *Comment, toAuthor Relation) bool {
	return !isTombstone(viewer, c) && CanSeeUser(toAuthor)
}

// InFeed reports whether a post belongs in the viewer's own news, incoming or wall: they see it,
// and do not mute its author.
func InFeed(viewer UserID, p *Post, toAuthor Relation) bool {
	return CanSeePost(viewer, p, toAuthor) && !toAuthor.Mutes
}

// InNews reports whether a post belongs in the viewer's news: InFeed, and by the viewer or a user
// they follow.
func InNews(viewer UserID, p *Post, toAuthor Relation) bool {
	return InFeed(viewer, p, toAuthor) && (p.Author == viewer || toAuthor.Follows)
}

// InIncoming reports whether a post belongs in the viewer's incoming: InFeed, by another user, and
// on the viewer's wall or addressed to circles that they are in.
func InIncoming(viewer UserID, p *Post, toAuthor Relation) bool {
	if p.Author == viewer || !InFeed(viewer, p, toAuthor) {
		return false
	}
	return IsAddressed(viewer, p)
}

// IsSuggested reports whether a user may be suggested to a viewer who has this relation to them:
// another user that the viewer sees, and neither follows nor mutes.
func IsSuggested(viewer, other UserID, r Relation) bool {
	return other != viewer && CanSeeUser(r) && !r.Follows && !r.Mutes
}

// IsAddressed reports whether a post is on the viewer's wall, or addressed to circles.
func IsAddressed(viewer UserID, p *Post) bool {
	return p.WallOwner == viewer || p.Audience.Kind == AudienceCircles || p.Audience.Kind == AudienceListed
}

// InWallView reports whether a post on the viewer's own wall belongs in that view of the wall.
func InWallView(view WallView, viewer UserID, p *Post, toAuthor Relation) bool {
	if view == ViewFollowed {
		return InNews(viewer, p, toAuthor)
	}
	return InFeed(viewer, p, toAuthor)
}

// InPreview reports whether a comment belongs in the preview of a post that the viewer sees.
func InPreview(c *Comment, toAuthor Relation) bool {
	return !c.Deleted && !c.Hidden && CanSeeUser(toAuthor) && !toAuthor.Mutes
}

// InNotification reports whether a notification shows an act to its recipient, who has these
// relations to the actor and to the author of the post: they see the actor, the post and the
// comment, and mute neither the actor nor the thread. A follow that has ended is not shown.
func InNotification(n NotificationGroup, a Act, p *Post, c *Comment, relations map[UserID]Relation, mutesThread bool) bool {
	toActor := relations[a.Actor]
	switch {
	case !CanSeeUser(toActor) || toActor.Mutes || mutesThread:
		return false
	case n.Kind == NotifyFollow:
		return toActor.FollowedBy()
	case p == nil || !CanSeePost(n.To, p, relations[p.Author]):
		return false
	}
	if n.Kind == NotifyComment || n.Kind == NotifyReply || !a.Comment.IsZero() {
		return c != nil && !c.Deleted && !c.Hidden // its author is the actor
	}
	return n.Kind == NotifyReaction || n.Kind == NotifyWallPost || n.Kind == NotifyMention || n.Kind == NotifyPollClosed
}

// LosesFromNotification reports whether the recipient of a notification sees that it has lost an
// act, which was undone, or whose comment is deleted or hidden: they saw the act until then.
func LosesFromNotification(n NotificationGroup, a Act, p *Post, relations map[UserID]Relation, mutesThread bool) bool {
	return InNotification(n, a, p, &Comment{Author: a.Actor}, relations, mutesThread)
}

// CanPostOnWall reports whether author may post on the owner's wall; toAuthor is the owner's
// relation to the author.
func CanPostOnWall(owner *User, author UserID, toAuthor Relation) bool {
	if author == owner.ID {
		return true
	}
	if author.IsZero() || toAuthor.apart() || toAuthor.Mutes {
		return false
	}
	switch owner.WallPolicy {
	case WallEveryone:
		return true
	case WallFollowed:
		return toAuthor.Follows
	case WallNobody:
		return false
	default:
		return false
	}
}

// CanEditPost reports whether the viewer may edit a post that they see, and choose its audience. A
// hidden post can't be edited: it stays as moderators have seen it.
func CanEditPost(viewer UserID, p *Post) bool {
	return !viewer.IsZero() && viewer == p.Author && !IsHidden(p)
}

// CanDeletePost reports whether the viewer may delete a post that they see.
func CanDeletePost(viewer UserID, p *Post) bool {
	return !viewer.IsZero() && (viewer == p.Author || viewer == p.WallOwner)
}

// CanComment reports whether the viewer, who has this relation to the author, may comment on a post
// that they see. Its author always may, and others by the reply policy, as the author's circles are
// now. While it is hidden, nothing may be added: moderators would publish the comment by restoring
// the post.
func CanComment(viewer UserID, p *Post, toAuthor Relation) bool {
	if viewer.IsZero() || IsHidden(p) {
		return false
	}
	return viewer == p.Author || mayReply(p.Replies, toAuthor)
}

func mayReply(r ReplyPolicy, toAuthor Relation) bool {
	switch r.Kind {
	case RepliesEveryone:
		return true
	case RepliesCircles:
		return len(toAuthor.Circles) > 0
	case RepliesListed:
		return isInAny(r.Circles, toAuthor)
	case RepliesNobody:
		return false
	default:
		return false
	}
}

// CanSeeReplyPolicy reports whether the viewer sees a post's reply policy itself, and not only what
// they may do: the policy reveals the author's circles.
func CanSeeReplyPolicy(viewer UserID, p *Post) bool {
	return !viewer.IsZero() && viewer == p.Author
}

// IsTooDeep reports whether a comment can't have replies, in a thread of at most maxDepth levels.
func IsTooDeep(c *Comment, maxDepth int) bool { return c.Depth() >= maxDepth }

// CanReply reports whether the viewer may reply to a comment that they see, on this post, in a
// thread of at most maxDepth levels.
func CanReply(viewer UserID, c *Comment, p *Post, toAuthor Relation, maxDepth int) bool {
	return CanComment(viewer, p, toAuthor) && !c.Deleted && !c.Hidden && !IsTooDeep(c, maxDepth)
}

// CanVote reports whether the viewer may vote now in a poll that they see.
func CanVote(viewer UserID, p *Poll, now time.Time) bool { return !viewer.IsZero() && !p.IsClosed(now) }

// CanEditComment reports whether the viewer may edit a comment that they see, on this post. What is
// hidden stays as moderators have seen it.
func CanEditComment(viewer UserID, c *Comment, p *Post) bool {
	return wroteComment(viewer, c) && !c.Hidden && !IsHidden(p)
}

func wroteComment(viewer UserID, c *Comment) bool {
	return !viewer.IsZero() && !c.Deleted && viewer == c.Author
}

// CanDeleteComment reports whether the viewer may delete a comment that they see, on a post that
// they see.
func CanDeleteComment(viewer UserID, c *Comment, p *Post) bool {
	return !c.Deleted && (wroteComment(viewer, c) || CanDeletePost(viewer, p))
}

// IsSeen reports whether a user is visible to the viewer.
func (p Person) IsSeen() bool { return p.User != nil && CanSeeUser(p.Relation) }

// CanReport reports whether the viewer may report something by an author that they see.
func CanReport(viewer, author UserID) bool { return !viewer.IsZero() && viewer != author }

// CanSeeCase reports whether the viewer sees a case and the reports on it: moderators do, unless
// the case is about themselves.
func CanSeeCase(viewer UserID, isModerator bool, c *Case) bool {
	return !viewer.IsZero() && isModerator && viewer != c.Author
}

// CanSeeReported reports whether the viewer sees a post, a comment or a user because it was
// reported, even if its audience or a block hides it from them: that is so if they see the case on
// it (nil: there is none).
func CanSeeReported(viewer UserID, isModerator bool, c *Case, s Subject) bool {
	return c != nil && c.Subject == s && CanSeeCase(viewer, isModerator, c)
}

// IsAway reports whether an account with this standing is to everyone as if it did not exist, and
// has no sessions: it is banned, or its owner has deactivated it. A suspended user stays visible.
func IsAway(s Standing) bool { return s.Sanction == SanctionBanned || s.Left }

// CanSignIn reports whether a user with this standing may sign in. That reactivates an account that
// its owner has deactivated; a suspended user signs in to read.
func CanSignIn(s Standing) bool { return s.Sanction != SanctionBanned }

// CanChange reports whether a user with this standing may change anything at a time, apart from
// their own account: its password, its sessions, its deletion.
func CanChange(s Standing, now time.Time) bool { return s.At(now) == StandingActive }

// CanSanction reports whether moderators may suspend, ban or reinstate a user. Those who have been
// given rights to moderate or administer are for operators to decide about.
func CanSanction(u *User) bool { return !u.HasRight(RightModerate) && !u.HasRight(RightAdmin) }
