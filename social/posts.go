package social

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"plaza/fault"
)

// NewPost is the post to write.
type NewPost struct {
	Content   Content
	Audience  Audience
	WallOwner UserID       // zero: the author's own wall
	Replies   ReplyPolicy  // zero: RepliesEveryone
	Order     CommentOrder // "": OrderOldest
}

// CreatePost writes a post. Errors: INVALID, BLANK, TOO_LONG; NOT_FOUND (a circle that is not the
// author's, a wall owner who is invisible to the author); NOT_ALLOWED (by the owner's wall policy).
func (s *Service) CreatePost(ctx context.Context, author UserID, in NewPost) (*Post, error) {
	in = in.normal()
	if err := s.CheckPost(ctx, author, in); err != nil {
		return nil, err
	}
	p := &Post{
		ID: PostID{s.givenID()}, Author: author, WallOwner: in.WallOwner, Audience: in.Audience, Content: in.Content,
		Replies: in.Replies, Order: in.Order,
	}
	if p.WallOwner.IsZero() {
		p.WallOwner = author
	}
	if in.Content.Poll != nil {
		p.Votes = make([]int, len(in.Content.Poll.Options))
	}
	err := s.store.InsertPost(ctx, p, s.postEvent(EventPostCreated, author, p))
	if errors.Is(err, ErrNotFound) {
		return nil, fault.NotFound("wallOwnerId", "user")
	}
	return p, err
}

func (p NewPost) normal() NewPost {
	p.Audience, p.Replies, p.Order = p.Audience.normal(), p.Replies.normal(), cmp.Or(p.Order, OrderOldest)
	return p
}

// CheckPost validates a new post. Errors: as CreatePost's.
func (s *Service) CheckPost(ctx context.Context, author UserID, in NewPost) error {
	in = in.normal()
	return fault.All(
		in.Content.check(s.now()),
		s.checkAudience(ctx, author, in.Audience),
		s.checkReplies(ctx, author, in.Replies),
		in.Order.check("commentOrder"),
		s.checkWall(ctx, author, in.WallOwner),
	)
}

// normal returns the audience with each circle once, in the order of their ids.
func (a Audience) normal() Audience {
	a.Circles = normalCircles(a.Circles)
	return a
}

// normal returns the policy with each circle once, in the order of their ids.
func (r ReplyPolicy) normal() ReplyPolicy {
	return ReplyPolicy{Kind: cmp.Or(r.Kind, RepliesEveryone), Circles: normalCircles(r.Circles)}
}

func normalCircles(circles []CircleID) []CircleID {
	circles = slices.Clone(circles)
	slices.SortFunc(circles, func(x, y CircleID) int { return x.Compare(y.ID) })
	return slices.Compact(circles)
}

func (s *Service) checkAudience(ctx context.Context, author UserID, a Audience) error {
	switch a.Kind {
	case AudiencePublic, AudienceCircles, AudienceOnlyMe, AudienceListed:
		return s.checkCircles(ctx, author, "audience.circleIds", a.Circles, a.Check())
	default:
		return fault.Invalidf("audience.kind", "This kind of audience does not exist.")
	}
}

func (s *Service) checkReplies(ctx context.Context, author UserID, r ReplyPolicy) error {
	switch r.Kind {
	case RepliesEveryone, RepliesCircles, RepliesNobody, RepliesListed:
		return s.checkCircles(ctx, author, "replies.circleIds", r.Circles, r.Check())
	default:
		return fault.Invalidf("replies.kind", "This kind of reply policy does not exist.")
	}
}

// checkCircles looks up the circles that an audience or a reply policy lists, unless it is malformed.
func (s *Service) checkCircles(ctx context.Context, author UserID, field string, circles []CircleID, malformed error) error {
	if malformed != nil || len(circles) == 0 {
		return malformed
	}
	own, err := s.Viewer(author).Circles(ctx, circles)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(circles, func(c CircleID) bool { return own[c] == nil }) {
		return fault.NotFound(field, "circle")
	}
	return nil
}

// Check validates an audience without looking up its circles. Error: INVALID.
func (a Audience) Check() error {
	return checkListed("audience.circleIds", a.Circles, a.Kind == AudienceListed)
}

// Check validates a reply policy without looking up its circles. Error: INVALID.
func (r ReplyPolicy) Check() error {
	return checkListed("replies.circleIds", r.Circles, r.Kind == RepliesListed)
}

func checkListed(field string, circles []CircleID, listed bool) error {
	switch {
	case !listed && len(circles) > 0:
		return fault.Invalidf(field, "Circles are allowed only with LISTED.")
	case listed && (len(circles) == 0 || len(circles) > MaxListedCircles):
		return fault.Invalidf(field, "LISTED takes 1 to %d circles.", MaxListedCircles)
	}
	return nil
}

func (o CommentOrder) check(field string) error {
	switch o {
	case OrderOldest, OrderNewest, OrderThreaded:
		return nil
	default:
		return fault.Invalidf(field, "This order of comments does not exist.")
	}
}

func (s *Service) checkWall(ctx context.Context, author, wallOwner UserID) error {
	if wallOwner.IsZero() || wallOwner == author {
		return nil
	}
	v := s.Viewer(author)
	owner, err := v.user(ctx, "wallOwnerId", wallOwner)
	if err != nil {
		return err
	}
	can, err := v.CanPostOnWalls(ctx, []*User{owner})
	if err != nil {
		return err
	}
	if !can[owner] {
		return fault.Errorf(fault.CodeNotAllowed, "wallOwnerId", "You may not post on this wall.")
	}
	return nil
}

// EditPost changes the content of the viewer's own post. Errors: as CreatePost's for contents;
// NOT_FOUND; NOT_ALLOWED (another user's post); LIMIT_REACHED (edited too often); CONFLICT.
func (s *Service) EditPost(ctx context.Context, viewer UserID, post PostID, content Content) (*Post, error) {
	return s.updatePost(ctx, viewer, post, EventPostEdited, s.CheckEdit(content), func(p *Post) (*Version, error) {
		if err := content.checkEdit(p.Content, s.now()); err != nil {
			return nil, err
		}
		if p.Edits >= MaxEdits {
			return nil, fault.Errorf(fault.CodeLimitReached, "postId", "A post can be edited at most %d times.", MaxEdits)
		}
		p.EditedAt = s.moment()
		replaced := &Version{Content: p.Content, Audience: p.Audience, EditedAt: p.EditedAt}
		p.Content = content.edited(p.Content)
		p.Edits++
		return replaced, nil
	})
}

// CheckEdit validates new content without looking up the post: of a poll only the question can
// change. Errors: INVALID, BLANK, TOO_LONG.
func (s *Service) CheckEdit(content Content) error {
	return content.checkNew(s.now())
}

// SetAudience changes who may see the viewer's own post. Errors: as CreatePost's for audiences;
// NOT_FOUND; NOT_ALLOWED; CONFLICT.
func (s *Service) SetAudience(ctx context.Context, viewer UserID, post PostID, a Audience) (*Post, error) {
	defer s.noteHiding()
	a = a.normal()
	return s.updatePost(ctx, viewer, post, EventAudienceChanged, s.checkAudience(ctx, viewer, a), func(p *Post) (*Version, error) {
		p.Audience = a
		return nil, nil
	})
}

// SetReplyPolicy changes who may reply to the viewer's own post. Errors: INVALID; NOT_FOUND (the
// post, a circle that is not the viewer's); NOT_ALLOWED; CONFLICT.
func (s *Service) SetReplyPolicy(ctx context.Context, viewer UserID, post PostID, r ReplyPolicy) (*Post, error) {
	r = r.normal()
	return s.updatePost(ctx, viewer, post, EventRepliesChanged, s.checkReplies(ctx, viewer, r), func(p *Post) (*Version, error) {
		p.Replies = r
		return nil, nil
	})
}

// SetCommentOrder changes the default order of the thread of the viewer's own post. Errors:
// INVALID; NOT_FOUND; NOT_ALLOWED; CONFLICT.
func (s *Service) SetCommentOrder(ctx context.Context, viewer UserID, post PostID, order CommentOrder) (*Post, error) {
	return s.updatePost(ctx, viewer, post, EventOrderChanged, order.check("order"), func(p *Post) (*Version, error) {
		p.Order = order
		return nil, nil
	})
}

// updatePost stores a change of the viewer's own post, and the version that it replaces, if any. If
// wrong, the errors of the rest of the input, is not nil, nothing is changed.
func (s *Service) updatePost(ctx context.Context, viewer UserID, post PostID, kind EventKind, wrong error,
	change func(*Post) (replaced *Version, err error),
) (*Post, error) {
	p, err := s.Viewer(viewer).post(ctx, "postId", post)
	if err == nil && !CanEditPost(viewer, p) {
		err = fault.Errorf(fault.CodeNotAllowed, "postId", "This is another user's post.")
	}
	if err := fault.All(wrong, err); err != nil {
		return nil, err
	}
	replaced, err := change(p)
	if err != nil {
		return nil, err
	}
	p.Revision++
	err = s.store.UpdatePost(ctx, p, replaced, s.postEvent(kind, viewer, p))
	if errors.Is(err, ErrConflict) {
		return nil, fault.Errorf(fault.CodeConflict, "postId", "Another change was made to this post at the same time.")
	}
	return p, postError(err)
}

// DeletePost removes a post by the viewer, or on the viewer's wall. Errors: NOT_FOUND, NOT_ALLOWED.
func (s *Service) DeletePost(ctx context.Context, viewer UserID, post PostID) error {
	defer s.noteHiding()
	p, err := s.Viewer(viewer).post(ctx, "postId", post)
	if err != nil {
		return err
	}
	if !CanDeletePost(viewer, p) {
		return fault.Errorf(fault.CodeNotAllowed, "postId", "This is another user's post.")
	}
	return postError(s.store.DeletePost(ctx, post, s.postEvent(EventPostDeleted, viewer, p)))
}

// Vote votes in a poll, or changes the viewer's vote. Errors: NOT_FOUND, INVALID (not a poll, no
// such option), CLOSED.
func (s *Service) Vote(ctx context.Context, viewer UserID, post PostID, option int) error {
	p, err := s.Viewer(viewer).post(ctx, "postId", post)
	if err != nil {
		return err
	}
	poll := p.Content.Poll
	switch {
	case poll == nil:
		return fault.Invalidf("postId", "This post is not a poll.")
	case option < 0 || option >= len(poll.Options):
		return fault.Invalidf("option", "The poll's options are 0 to %d.", len(poll.Options)-1)
	case !CanVote(viewer, poll, s.now()):
		return fault.Errorf(fault.CodeClosed, "postId", "The poll is closed.")
	}
	return postError(s.store.PutVote(ctx, post, viewer, option, s.postEvent(EventPollVoted, viewer, p)))
}

// React stores the viewer's reaction to a post, replacing an earlier one. Error: NOT_FOUND.
func (s *Service) React(ctx context.Context, viewer UserID, post PostID, kind ReactionKind) error {
	p, err := s.Viewer(viewer).post(ctx, "postId", post)
	if err != nil {
		return err
	}
	return postError(s.store.PutReaction(ctx, post, viewer, kind, s.postEvent(EventReactionAdded, viewer, p)))
}

// Unreact removes the viewer's reaction. Error: NOT_FOUND.
func (s *Service) Unreact(ctx context.Context, viewer UserID, post PostID) error {
	p, err := s.Viewer(viewer).post(ctx, "postId", post)
	if err != nil {
		return err
	}
	return postError(s.store.DeleteReaction(ctx, post, viewer, s.postEvent(EventReactionRemoved, viewer, p)))
}

func (s *Service) postEvent(kind EventKind, actor UserID, p *Post) Event {
	e := s.event(kind, actor)
	e.Post, e.Target = p.ID, p.WallOwner
	return e
}

func postError(err error) error {
	if errors.Is(err, ErrNotFound) {
		return fault.NotFound("postId", "post")
	}
	return err
}
