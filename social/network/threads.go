package network

import (
	"context"
	"errors"
	"maps"
	"slices"

	"plaza/fault"
	"plaza/paging"
	"plaza/social"
)

// NewComment is the comment to write.
type NewComment struct {
	Post   social.PostID
	Parent social.CommentID // zero: a reply to the post itself
	Text   string
}

// AddComment writes a comment. Errors: BLANK, TOO_LONG, INVALID (also a parent in another post),
// NOT_FOUND (post or parent), NOT_ALLOWED (the post's reply policy), TOO_DEEP, THREAD_FULL; REJECTED
// and social.ErrNotReviewed, if there are Reviews.
func (s *Service) AddComment(ctx context.Context, author social.UserID, in NewComment) (*social.Comment, error) {
	post, parent, err := s.place(ctx, author, in)
	if err := fault.All(err, social.CheckCommentText(in.Text)); err != nil {
		return nil, err
	}
	c := &social.Comment{Post: in.Post, Author: author, Text: in.Text}
	c.ReplyTo(parent)
	if parent != nil && social.IsTooDeep(parent, s.maxDepth) {
		return nil, fault.Errorf(fault.CodeTooDeep, "parentId", "A thread has at most %d levels.", s.maxDepth)
	}
	isStillOpen := func() error {
		_, _, err := s.place(ctx, author, in)
		return err
	}
	if err := s.reviewComment(ctx, social.PublishComment, post, c, isStillOpen); err != nil {
		return nil, err
	}
	return c, s.insertComment(ctx, post, c)
}

// place reads the post and the parent (nil: none) of a comment that the author may write. Errors:
// those of commentable and parent.
func (s *Service) place(ctx context.Context, author social.UserID, in NewComment) (post *social.Post, parent *social.Comment, err error) {
	v := s.Viewer(author)
	post, closed := v.commentable(ctx, in.Post)
	parent, unfit := s.parent(ctx, v, in)
	return post, parent, fault.All(closed, unfit)
}

// commentable reads a post that the viewer may comment on. Errors: NOT_FOUND; NOT_ALLOWED, the same
// for all reply policies, so that it reveals nothing about the author's circles.
func (v *Viewer) commentable(ctx context.Context, id social.PostID) (*social.Post, error) {
	post, err := v.post(ctx, id)
	if err != nil {
		return nil, err
	}
	relations, err := v.Relations(ctx, []social.UserID{post.Author})
	if err == nil && !social.CanComment(v.ID, post, relations[post.Author]) {
		err = fault.Errorf(fault.CodeNotAllowed, "postId", "You may not reply to this post.")
	}
	return post, err
}

// MuteThread keeps the post's comments out of the viewer's previews. It sends no notification.
// Error: NOT_FOUND.
func (s *Service) MuteThread(ctx context.Context, viewer social.UserID, post social.PostID) error {
	p, err := s.Viewer(viewer).post(ctx, post)
	if err != nil {
		return err
	}
	e := s.postEvent(social.EventThreadMuted, viewer, p)
	defer s.noteHiding(e)
	_, err = s.store.MuteThread(ctx, post, viewer, e)
	return postError(err)
}

// UnmuteThread removes the mute. Error: NOT_FOUND.
func (s *Service) UnmuteThread(ctx context.Context, viewer social.UserID, post social.PostID) error {
	p, err := s.Viewer(viewer).post(ctx, post)
	if err != nil {
		return err
	}
	_, err = s.store.UnmuteThread(ctx, post, viewer, s.postEvent(social.EventThreadUnmuted, viewer, p))
	return postError(err)
}

// parent reads the comment to reply to: one that the author sees, in the same thread, and not a
// tombstone.
func (s *Service) parent(ctx context.Context, v *Viewer, in NewComment) (*social.Comment, error) {
	if in.Parent.IsZero() {
		return nil, nil // having no parent is allowed
	}
	parent, err := v.comment(ctx, "parentId", in.Parent)
	if err != nil {
		return nil, err
	}
	if parent.Post != in.Post {
		return nil, fault.Invalidf("parentId", "This comment is on another post.")
	}
	if parent.Deleted {
		return nil, fault.NotFound("parentId", "comment")
	}
	if parent.Hidden {
		return nil, fault.Errorf(fault.CodeNotAllowed, "parentId", "This comment is hidden by moderators: it can't be replied to.")
	}
	return parent, nil
}

// insertComment stores a comment on a post. If the store assigns an id whose slug is in use in the
// thread, it assigns another one.
func (s *Service) insertComment(ctx context.Context, post *social.Post, c *social.Comment) error {
	if given := s.givenID(); !given.IsZero() {
		c.SetID(social.CommentID{ID: given})
	}
	e := s.postEvent(social.EventCommentAdded, c.Author, post)
	e.Comment = c.ID
	const tries = 5 // slugs have 40 random bits, so collisions are rare
	for range tries {
		err := s.store.InsertComment(ctx, c, e)
		if errors.Is(err, social.ErrTaken) {
			continue
		}
		if errors.Is(err, social.ErrNotFound) && !c.Parent.IsZero() {
			return fault.NotFound("parentId", "comment")
		}
		if errors.Is(err, social.ErrThreadFull) {
			return fault.Errorf(fault.CodeThreadFull, "postId", "This thread is full.")
		}
		return postError(err)
	}
	return fault.Errorf(fault.CodeConflict, "", "No slug was available; try again.")
}

// EditComment changes the text of the viewer's own comment. Errors: BLANK, TOO_LONG, INVALID,
// NOT_FOUND, NOT_ALLOWED, THREAD_FULL (only for a text that is longer than before); REJECTED and
// social.ErrNotReviewed, if there are Reviews.
func (s *Service) EditComment(ctx context.Context, viewer social.UserID, comment social.CommentID, text string) error {
	c, post, forbidden := s.Viewer(viewer).editable(ctx, comment)
	if err := fault.All(forbidden, social.CheckCommentText(text)); err != nil {
		return err
	}
	edited := *c
	edited.Text = text
	isStillOpen := func() error {
		_, _, err := s.Viewer(viewer).editable(ctx, comment)
		return err
	}
	if err := s.reviewComment(ctx, social.PublishCommentEdit, post, &edited, isStillOpen); err != nil {
		return err
	}
	return commentError(s.store.EditComment(ctx, comment, text, s.Moment(), s.commentEvent(social.EventCommentEdited, viewer, c)))
}

// editable reads a comment that the viewer may edit, and its post. Errors: NOT_FOUND, NOT_ALLOWED.
func (v *Viewer) editable(ctx context.Context, comment social.CommentID) (*social.Comment, *social.Post, error) {
	c, post, err := v.commentOn(ctx, "commentId", comment)
	switch {
	case err != nil:
		return nil, nil, err
	case c.Deleted:
		return nil, nil, fault.NotFound("commentId", "comment")
	case social.CanEditComment(v.ID, c, post):
		return c, post, nil
	case c.Author != v.ID:
		err = fault.Errorf(fault.CodeNotAllowed, "commentId", "You may not edit this comment.")
	case c.Hidden:
		err = fault.Errorf(fault.CodeNotAllowed, "commentId", "This comment is hidden by moderators: you may only delete it.")
	default:
		err = fault.Errorf(fault.CodeNotAllowed, "commentId", "The post is hidden by moderators: you may only delete your comment.")
	}
	return nil, nil, err
}

// Deletion is a comment that was deleted.
type Deletion struct {
	*social.Comment                    // as it was
	Gone            []social.CommentID // it and the tombstones that the viewer sees no more, upwards; none: it is a tombstone now
	Above           social.CommentID   // the nearest ancestor that remains for the viewer; zero: none
}

// DeleteComment deletes a comment by the viewer, or one on the viewer's post or wall. Errors:
// NOT_FOUND, NOT_ALLOWED.
func (s *Service) DeleteComment(ctx context.Context, viewer social.UserID, comment social.CommentID) (*Deletion, error) {
	c, post, err := s.Viewer(viewer).commentOn(ctx, "commentId", comment)
	if err != nil {
		return nil, err
	}
	if c.Deleted {
		return nil, fault.NotFound("commentId", "comment")
	}
	if !social.CanDeleteComment(viewer, c, post) {
		return nil, fault.Errorf(fault.CodeNotAllowed, "commentId", "You may not delete this comment.")
	}
	e := s.commentEvent(social.EventCommentDeleted, viewer, c)
	defer s.noteHiding(e)
	if err := s.store.DeleteComment(ctx, comment, e); err != nil {
		return nil, commentError(err)
	}
	return s.deletion(ctx, viewer, c)
}

// deletion reads what a deletion has left for the viewer.
func (s *Service) deletion(ctx context.Context, viewer social.UserID, c *social.Comment) (*Deletion, error) {
	branch := append(c.AncestorIDs(), c.ID)
	left, err := s.store.Comments(ctx, branch)
	if err != nil {
		return nil, err
	}
	d := &Deletion{Comment: c}
	if left[c.ID] != nil {
		d.Above = c.Parent
		return d, nil
	}
	for _, id := range slices.Backward(branch) {
		// Without replies, a hidden comment is not even a tombstone.
		if left[id] != nil && social.CanSeeComment(viewer, left[id], social.Relation{}) {
			d.Above = id
			return d, nil
		}
		d.Gone = append(d.Gone, id)
	}
	return d, nil
}

// EraseComments deletes all comments that the viewer has written up to now. Work that takes longer
// than a few seconds continues in the background; the result says how many comments are left. It
// can't be undone.
func (s *Service) EraseComments(ctx context.Context, viewer social.UserID) (remaining int, err error) {
	newest := social.List[social.UserID]{Of: viewer, Page: social.Page{Limit: 1}}
	found, err := s.store.CommentsBy(ctx, []social.List[social.UserID]{newest})
	if err != nil {
		return 0, err
	}
	var upTo social.CommentID // not an id for now: the clocks of this server and of the database may differ
	for _, c := range found[newest] {
		upTo = c.ID
	}
	e := s.event(social.EventErasureBegun, viewer)
	defer s.noteHiding(e)
	return s.store.EraseComments(ctx, viewer, upTo, e)
}

// CommentErasure reads the progress of erasing the viewer's comments; nil if there is none.
func (v *Viewer) CommentErasure(ctx context.Context) (*social.Erasure, error) {
	erasure, err := v.s.store.CommentErasure(ctx, v.ID)
	if errors.Is(err, social.ErrNotFound) {
		return nil, nil
	}
	return &erasure, err
}

func (s *Service) commentEvent(kind social.EventKind, actor social.UserID, c *social.Comment) social.Event {
	e := s.event(kind, actor)
	e.Post, e.Comment, e.Target = c.Post, c.ID, c.Author
	return e
}

func commentError(err error) error {
	if errors.Is(err, social.ErrNotFound) {
		return fault.NotFound("commentId", "comment")
	}
	if errors.Is(err, social.ErrThreadFull) {
		return fault.Errorf(fault.CodeThreadFull, "commentId", "This thread is full: no text in it can become longer.")
	}
	return err
}

// Comments reads the comments that are visible to the viewer; the others are missing in the map.
func (v *Viewer) Comments(ctx context.Context, ids []social.CommentID) (map[social.CommentID]*social.Comment, error) {
	return inParts(ids, paging.ReadTogether, func(ids []social.CommentID) (map[social.CommentID]*social.Comment, error) {
		comments, _, err := v.comments(ctx, ids)
		return comments, err
	})
}

// comments is Comments, with posts among which are those of the comments.
func (v *Viewer) comments(ctx context.Context, ids []social.CommentID) (map[social.CommentID]*social.Comment, map[social.PostID]*social.Post, error) {
	comments, err := v.s.store.Comments(ctx, ids)
	if err != nil {
		return nil, nil, err
	}
	posts, err := dropHidden(ctx, v, ids, comments)
	return comments, posts, err
}

// CommentsBySlug reads the comments that are visible to the viewer; the others are missing in the
// map.
func (v *Viewer) CommentsBySlug(ctx context.Context, links []social.Permalink) (map[social.Permalink]*social.Comment, error) {
	return inParts(links, paging.ReadTogether, func(links []social.Permalink) (map[social.Permalink]*social.Comment, error) {
		comments, err := v.s.store.CommentsBySlug(ctx, links)
		if err != nil {
			return nil, err
		}
		_, err = dropHidden(ctx, v, links, comments)
		return comments, err
	})
}

// dropHidden removes the comments that are invisible to the viewer, and returns the posts of all.
// It makes the same reads for these and for absent ones.
func dropHidden[K comparable](ctx context.Context, v *Viewer, asked []K, comments map[K]*social.Comment) (map[social.PostID]*social.Post, error) {
	posts, relations, err := v.around(ctx, slices.Collect(maps.Values(comments)), func(sees func(*social.Comment) bool) bool {
		return !slices.ContainsFunc(asked, func(key K) bool { return comments[key] == nil || !sees(comments[key]) })
	})
	if err != nil {
		return nil, err
	}
	for key, c := range comments {
		if v.sees(c, posts, relations) {
			comments[key] = social.CommentSeen(v.ID, c)
		} else {
			delete(comments, key)
		}
	}
	return posts, hold(v, maps.Values(comments))
}

// around reads the posts of comments, and the viewer's relations to all their authors: see
// recallOrRead.
func (v *Viewer) around(ctx context.Context, comments []*social.Comment, areEnough func(sees func(*social.Comment) bool) bool) (map[social.PostID]*social.Post, map[social.UserID]social.Relation, error) {
	ids := []social.PostID{{}}
	var people []social.UserID
	for _, c := range comments {
		ids = append(ids, c.Post)
		people = append(people, c.Author)
	}
	posts, err := v.s.store.Posts(ctx, ids)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range posts {
		people = append(people, p.Author)
	}
	relations, err := v.recallOrRead(ctx, people, func(relations map[social.UserID]social.Relation) bool {
		return areEnough(func(c *social.Comment) bool { return v.sees(c, posts, relations) })
	})
	return posts, relations, err
}

// sees reports whether a comment is visible to the viewer.
func (v *Viewer) sees(c *social.Comment, posts map[social.PostID]*social.Post, relations map[social.UserID]social.Relation) bool {
	p := posts[c.Post]
	return p != nil && social.CanSeePost(v.ID, p, relations[p.Author]) && social.CanSeeComment(v.ID, c, relations[c.Author])
}

// comment reads one comment that is visible to the viewer. Error: NOT_FOUND, naming the field.
func (v *Viewer) comment(ctx context.Context, field string, id social.CommentID) (*social.Comment, error) {
	c, _, err := v.commentOn(ctx, field, id)
	return c, err
}

// commentOn is comment, with the comment's post.
func (v *Viewer) commentOn(ctx context.Context, field string, id social.CommentID) (*social.Comment, *social.Post, error) {
	comments, posts, err := v.comments(ctx, []social.CommentID{id})
	if err != nil {
		return nil, nil, err
	}
	c := comments[id]
	if c == nil {
		return nil, nil, fault.NotFound(field, "comment")
	}
	return c, posts[c.Post], nil
}

// Threads lists comments of posts that the viewer sees, without those by users who are invisible to
// the viewer.
func (v *Viewer) Threads(ctx context.Context, lists []social.List[social.Thread]) (map[social.List[social.Thread]]social.Slice[*social.Comment], error) {
	see := func(ctx context.Context, comments []*social.Comment) (func(social.Thread, *social.Comment) bool, error) {
		relations, err := v.recallOr(ctx, authorsOf(comments), v.named)
		if err != nil {
			return nil, err
		}
		return func(_ social.Thread, c *social.Comment) bool {
			return social.CanSeeComment(v.ID, c, relations[c.Author])
		}, nil
	}
	found, err := collect(ctx, v, lists, v.s.store.Thread, social.CommentKey, see)
	for _, slice := range found {
		for i, c := range slice.Items {
			slice.Items[i] = social.CommentSeen(v.ID, c)
		}
	}
	return found, err
}

// CommentsBy lists the comments of users who are visible to the viewer, as far as they are on posts
// that the viewer sees; those posts are returned with them. The lists of other users are empty.
func (v *Viewer) CommentsBy(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]]social.Slice[*social.Comment], map[social.PostID]*social.Post, error) {
	all := map[social.PostID]*social.Post{}
	see := func(ctx context.Context, comments []*social.Comment) (func(social.UserID, *social.Comment) bool, error) {
		posts, relations, err := v.around(ctx, comments, func(sees func(*social.Comment) bool) bool { return slices.ContainsFunc(comments, sees) })
		if err != nil {
			return nil, err
		}
		return func(_ social.UserID, c *social.Comment) bool {
			if !v.sees(c, posts, relations) || !social.CanReadComment(v.ID, c, relations[c.Author]) {
				return false
			}
			all[c.Post] = posts[c.Post]
			return true
		}, nil
	}
	key := func(_ social.UserID, c *social.Comment) social.Key { return social.Key(c.ID.Bytes()) }
	found, err := collectByAudience(ctx, v, lists, v.s.store.CommentsBy, key, see)
	seen := map[social.PostID]*social.Post{}
	for _, slice := range found {
		for _, c := range slice.Items {
			seen[c.Post] = all[c.Post]
		}
	}
	return found, seen, err
}

func authorsOf(comments []*social.Comment) []social.UserID {
	authors := make([]social.UserID, len(comments))
	for i, c := range comments {
		authors[i] = c.Author
	}
	return authors
}

// PreviewLen is how many comments a preview shows.
const PreviewLen = 3

// Previews reads the newest comments of posts that the viewer sees, at most PreviewLen each, oldest
// first. It skips those by users who are invisible to or muted by the viewer, and those in threads
// that the viewer mutes. It takes a read only if Post.Latest is too short after skipping, or if any
// user mutes a thread.
func (v *Viewer) Previews(ctx context.Context, posts []*social.Post) (map[social.PostID][]*social.Comment, error) {
	muted, err := v.MutedThreads(ctx, posts)
	if err != nil {
		return nil, err
	}
	posts = slices.DeleteFunc(slices.Clone(posts), func(p *social.Post) bool { return muted[p.ID] })
	previews, candidates, err := v.newestOf(ctx, posts)
	if err != nil {
		return nil, err
	}
	var hidden []social.UserID
	for len(candidates) > 0 {
		var authors []social.UserID
		for _, comments := range candidates {
			authors = append(authors, authorsOf(comments)...)
		}
		relations, err := v.Relations(ctx, authors)
		if err != nil {
			return nil, err
		}
		var short []social.PostID
		for post, comments := range candidates {
			var left []social.UserID
			previews[post], left = preview(comments, relations)
			if len(previews[post]) < PreviewLen && len(left) > 0 && len(comments) >= social.PreviewSize {
				short = append(short, post)
				hidden = append(hidden, left...)
			}
		}
		if len(short) == 0 {
			break
		}
		candidates, err = v.s.store.LatestComments(ctx, short, hidden, social.PreviewSize)
		if err != nil {
			return nil, err
		}
	}
	return previews, nil
}

// newestOf makes previews of the posts' very newest comments. If one of these is hidden, the
// candidates are all that came with the post.
func (v *Viewer) newestOf(ctx context.Context, posts []*social.Post) (previews, candidates map[social.PostID][]*social.Comment, err error) {
	var authors []social.UserID
	for _, p := range posts {
		authors = append(authors, authorsOf(newest(p))...)
	}
	relations, err := v.Relations(ctx, authors)
	if err != nil {
		return nil, nil, err
	}
	previews, candidates = make(map[social.PostID][]*social.Comment, len(posts)), map[social.PostID][]*social.Comment{}
	for _, p := range posts {
		shown, hidden := preview(newest(p), relations)
		previews[p.ID] = shown
		if len(hidden) > 0 && len(p.Latest) > PreviewLen {
			candidates[p.ID] = p.Latest
		}
	}
	return previews, candidates, nil
}

// newest returns the comments of a post's preview if none of them is hidden.
func newest(p *social.Post) []*social.Comment { return p.Latest[max(0, len(p.Latest)-PreviewLen):] }

// preview splits comments (oldest first) into the newest that are shown, and the authors of the
// hidden ones.
func preview(comments []*social.Comment, relations map[social.UserID]social.Relation) (shown []*social.Comment, hidden []social.UserID) {
	for _, c := range comments {
		if social.InPreview(c, relations[c.Author]) {
			shown = append(shown, c)
		} else {
			hidden = append(hidden, c.Author)
		}
	}
	return shown[max(0, len(shown)-PreviewLen):], hidden
}
