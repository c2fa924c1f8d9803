package network

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"plaza/fault"
	"plaza/social"
)

// NewPost is the post to write.
type NewPost struct {
	Content   social.Content
	Audience  social.Audience
	WallOwner social.UserID       // zero: the author's own wall
	Replies   social.ReplyPolicy  // zero: RepliesEveryone
	Order     social.CommentOrder // "": OrderOldest
}

// CreatePost writes a post. Errors: INVALID, BLANK, TOO_LONG; NOT_FOUND (a circle that is not the
// author's, a wall owner who is invisible to the author); NOT_ALLOWED (by the owner's wall policy);
// REJECTED and social.ErrNotReviewed, if there are Reviews.
func (s *Service) CreatePost(ctx context.Context, author social.UserID, in NewPost) (*social.Post, error) {
	in = in.normal()
	if err := s.CheckPost(ctx, author, in); err != nil {
		return nil, err
	}
	p := &social.Post{
		ID: social.PostID{ID: s.givenID()}, Author: author, WallOwner: in.WallOwner, Audience: in.Audience, Content: in.Content,
		Replies: in.Replies, Order: in.Order,
	}
	if p.WallOwner.IsZero() {
		p.WallOwner = author
	}
	if in.Content.Poll != nil {
		p.Votes = make([]int, len(in.Content.Poll.Options))
	}
	err := s.reviewPost(ctx, social.PublishPost, p, func() error { return s.CheckPost(ctx, author, in) })
	if err != nil {
		return nil, err
	}
	err = s.store.InsertPost(ctx, p, s.postEvent(social.EventPostCreated, author, p))
	if errors.Is(err, social.ErrNotFound) {
		return nil, fault.NotFound("wallOwnerId", "user")
	}
	return p, err
}

func (p NewPost) normal() NewPost {
	p.Audience, p.Replies, p.Order = p.Audience.Normal(), p.Replies.Normal(), cmp.Or(p.Order, social.OrderOldest)
	return p
}

// CheckPost validates a new post. Errors: as CreatePost's.
func (s *Service) CheckPost(ctx context.Context, author social.UserID, in NewPost) error {
	in = in.normal()
	return fault.All(
		in.Content.Check(s.now()),
		s.checkAudience(ctx, author, in.Audience),
		s.checkReplies(ctx, author, in.Replies),
		in.Order.Check("commentOrder"),
		s.checkWall(ctx, author, in.WallOwner),
	)
}

func (s *Service) checkAudience(ctx context.Context, author social.UserID, a social.Audience) error {
	switch a.Kind {
	case social.AudiencePublic, social.AudienceCircles, social.AudienceOnlyMe, social.AudienceListed:
		return s.checkCircles(ctx, author, "audience.circleIds", a.Circles, a.Check())
	default:
		return fault.Invalidf("audience.kind", "This kind of audience does not exist.")
	}
}

func (s *Service) checkReplies(ctx context.Context, author social.UserID, r social.ReplyPolicy) error {
	switch r.Kind {
	case social.RepliesEveryone, social.RepliesCircles, social.RepliesNobody, social.RepliesListed:
		return s.checkCircles(ctx, author, "replies.circleIds", r.Circles, r.Check())
	default:
		return fault.Invalidf("replies.kind", "This kind of reply policy does not exist.")
	}
}

// checkCircles looks up the circles that an audience or a reply policy lists, unless it is
// malformed.
func (s *Service) checkCircles(ctx context.Context, author social.UserID, field string, circles []social.CircleID, malformed error) error {
	if malformed != nil || len(circles) == 0 {
		return malformed
	}
	own, err := s.Viewer(author).Circles(ctx, circles)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(circles, func(c social.CircleID) bool { return own[c] == nil }) {
		return fault.NotFound(field, "circle")
	}
	return nil
}

func (s *Service) checkWall(ctx context.Context, author, wallOwner social.UserID) error {
	if wallOwner.IsZero() || wallOwner == author {
		return nil
	}
	v := s.Viewer(author)
	owner, err := v.user(ctx, "wallOwnerId", wallOwner)
	if err != nil {
		return err
	}
	can, err := v.CanPostOnWalls(ctx, []*social.User{owner})
	if err != nil {
		return err
	}
	if !can[owner] {
		return fault.Errorf(fault.CodeNotAllowed, "wallOwnerId", "You may not post on this wall.")
	}
	return nil
}

// EditPost changes the content of the viewer's own post. Errors: as CreatePost's for contents;
// NOT_FOUND; NOT_ALLOWED (another user's post); LIMIT_REACHED (edited too often); CONFLICT; REJECTED
// and social.ErrNotReviewed, if there are Reviews.
func (s *Service) EditPost(ctx context.Context, viewer social.UserID, post social.PostID, content social.Content) (*social.Post, error) {
	return s.updatePost(ctx, viewer, post, social.EventPostEdited, s.CheckEdit(content), func(p *social.Post) (*social.Version, error) {
		if err := content.CheckEdit(p.Content, s.now()); err != nil {
			return nil, err
		}
		if p.Edits >= social.MaxEdits {
			return nil, fault.Errorf(fault.CodeLimitReached, "postId", "A post can be edited at most %d times.", social.MaxEdits)
		}
		p.EditedAt = s.Moment()
		replaced := &social.Version{Content: p.Content, Audience: p.Audience, EditedAt: p.EditedAt}
		p.Content = content.Edited(p.Content)
		p.Edits++
		return replaced, s.reviewPost(ctx, social.PublishPostEdit, p, nil)
	})
}

// CheckEdit validates new content without looking up the post: of a poll only the question can
// change. Errors: INVALID, BLANK, TOO_LONG.
func (s *Service) CheckEdit(content social.Content) error {
	return content.CheckReplacement(s.now())
}

// SetAudience changes who may see the viewer's own post. Errors: as CreatePost's for audiences;
// NOT_FOUND; NOT_ALLOWED; CONFLICT; REJECTED and social.ErrNotReviewed, if there are Reviews and they
// saw nothing with the audience before.
func (s *Service) SetAudience(ctx context.Context, viewer social.UserID, post social.PostID, a social.Audience) (*social.Post, error) {
	a = a.Normal()
	return s.updatePost(ctx, viewer, post, social.EventAudienceChanged, s.checkAudience(ctx, viewer, a), func(p *social.Post) (*social.Version, error) {
		wasReviewed := s.reviews.sees(p.Audience.Kind)
		p.Audience = a
		if wasReviewed {
			return nil, nil
		}
		return nil, s.reviewPost(ctx, social.PublishAudience, p, nil)
	})
}

// SetReplyPolicy changes who may reply to the viewer's own post. Errors: INVALID; NOT_FOUND (the
// post, a circle that is not the viewer's); NOT_ALLOWED; CONFLICT.
func (s *Service) SetReplyPolicy(ctx context.Context, viewer social.UserID, post social.PostID, r social.ReplyPolicy) (*social.Post, error) {
	r = r.Normal()
	return s.updatePost(ctx, viewer, post, social.EventRepliesChanged, s.checkReplies(ctx, viewer, r), func(p *social.Post) (*social.Version, error) {
		p.Replies = r
		return nil, nil
	})
}

// SetCommentOrder changes the default order of the thread of the viewer's own post. Errors:
// INVALID; NOT_FOUND; NOT_ALLOWED; CONFLICT.
func (s *Service) SetCommentOrder(ctx context.Context, viewer social.UserID, post social.PostID, order social.CommentOrder) (*social.Post, error) {
	return s.updatePost(ctx, viewer, post, social.EventOrderChanged, order.Check("order"), func(p *social.Post) (*social.Version, error) {
		p.Order = order
		return nil, nil
	})
}

// updatePost stores a change of the viewer's own post, and the version that it replaces, if any. If
// wrong, the errors of the rest of the input, is not nil, nothing is changed.
func (s *Service) updatePost(ctx context.Context, viewer social.UserID, post social.PostID, kind social.EventKind, wrong error,
	change func(*social.Post) (replaced *social.Version, err error),
) (*social.Post, error) {
	p, err := s.Viewer(viewer).post(ctx, post)
	if err == nil && !social.CanEditPost(viewer, p) {
		err = notEditable(p)
	}
	if err := fault.All(wrong, err); err != nil {
		return nil, err
	}
	changed := *p // others may be reading this post
	replaced, err := change(&changed)
	if err != nil {
		return nil, err
	}
	changed.Revision++
	e := s.postEvent(kind, viewer, &changed)
	defer s.Noted(e)
	err = s.store.UpdatePost(ctx, &changed, replaced, e)
	if errors.Is(err, social.ErrConflict) {
		return nil, fault.Errorf(fault.CodeConflict, "postId", "This post was changed concurrently: read it again, then retry.")
	}
	return &changed, postError(err)
}

func notEditable(p *social.Post) error {
	if social.IsHidden(p) {
		return fault.Errorf(fault.CodeNotAllowed, "postId", "Moderators have hidden this post: you can delete it, but not change it.")
	}
	return fault.Errorf(fault.CodeNotAllowed, "postId", "This is another user's post.")
}

// DeletePost removes a post by the viewer, or on the viewer's wall. Errors: NOT_FOUND, NOT_ALLOWED.
func (s *Service) DeletePost(ctx context.Context, viewer social.UserID, post social.PostID) error {
	p, err := s.Viewer(viewer).post(ctx, post)
	if err != nil {
		return err
	}
	if !social.CanDeletePost(viewer, p) {
		return fault.Errorf(fault.CodeNotAllowed, "postId", "This is another user's post.")
	}
	e := s.postEvent(social.EventPostDeleted, viewer, p)
	defer s.noteHiding(e)
	return postError(s.store.DeletePost(ctx, post, e))
}

// Vote votes in a poll, or changes the viewer's vote. Errors: NOT_FOUND, INVALID (not a poll, no
// such option), CLOSED.
func (s *Service) Vote(ctx context.Context, viewer social.UserID, post social.PostID, option int) error {
	p, err := s.Viewer(viewer).post(ctx, post)
	if err != nil {
		return err
	}
	poll := p.Content.Poll
	switch {
	case poll == nil:
		return fault.Invalidf("postId", "This post is not a poll.")
	case option < 0 || option >= len(poll.Options):
		return fault.Invalidf("option", "The poll's options are 0 to %d.", len(poll.Options)-1)
	case !social.CanVote(viewer, poll, s.now()):
		return fault.Errorf(fault.CodeClosed, "postId", "The poll is closed.")
	}
	return postError(s.store.PutVote(ctx, post, viewer, option, s.postEvent(social.EventPollVoted, viewer, p)))
}

// React stores the viewer's reaction to a post, replacing an earlier one. Error: NOT_FOUND.
func (s *Service) React(ctx context.Context, viewer social.UserID, post social.PostID, kind social.ReactionKind) error {
	p, err := s.Viewer(viewer).post(ctx, post)
	if err != nil {
		return err
	}
	return postError(s.store.PutReaction(ctx, post, viewer, kind, s.postEvent(social.EventReactionAdded, viewer, p)))
}

// Unreact removes the viewer's reaction. Error: NOT_FOUND.
func (s *Service) Unreact(ctx context.Context, viewer social.UserID, post social.PostID) error {
	p, err := s.Viewer(viewer).post(ctx, post)
	if err != nil {
		return err
	}
	return postError(s.store.DeleteReaction(ctx, post, viewer, s.postEvent(social.EventReactionRemoved, viewer, p)))
}

func (s *Service) postEvent(kind social.EventKind, actor social.UserID, p *social.Post) social.Event {
	e := s.event(kind, actor)
	e.Post, e.Target = p.ID, p.WallOwner
	return e
}

func postError(err error) error {
	if errors.Is(err, social.ErrNotFound) {
		return fault.NotFound("postId", "post")
	}
	return err
}
