package network

import (
	"context"
	"slices"

	"plaza/social"
)

// PostViewers finds the viewers who may see a post as it is now; the zero viewer is signed out. A
// post that is gone has none.
func (s *Service) PostViewers(ctx context.Context, post social.PostID, viewers []social.UserID) (Sighting, error) {
	return s.postViewers(ctx, post, func(*social.Post, *social.User) ([]social.UserID, viewerRule, error) { return viewers, canSee, nil })
}

// CommentChangeViewers finds the viewers who may learn that a comment was edited, deleted, hidden
// or restored, or has one reply fewer: those who see it as it is now, or if it is gone (Comment is
// nil), those who see its post and its author. For the author of a hidden comment nothing is gone,
// so they learn of the decision only where they read its reason, and of fewer replies here (Own).
func (s *Service) CommentChangeViewers(ctx context.Context, e social.Event, viewers []social.UserID) (Sighting, error) {
	posts, err := s.store.Posts(ctx, []social.PostID{e.Post})
	if err != nil || posts[e.Post] == nil {
		return Sighting{}, err
	}
	comments, err := s.store.Comments(ctx, []social.CommentID{e.Comment})
	if err != nil {
		return Sighting{}, err
	}
	p := posts[e.Post]
	stored := comments[e.Comment]
	now := toOthers(stored)
	hasLostReply := e.Kind == social.EventReplyRemoved
	if stored == nil && hasLostReply {
		return Sighting{}, nil // it is gone, which has an event of its own
	}
	c := now
	if c == nil { // if it is hidden, it was a tombstone as long as it had a reply
		c = &social.Comment{ID: e.Comment, Post: e.Post, Author: e.Target}
	}
	sighting, err := s.sight(ctx, p, c)
	if err != nil {
		return sighting, err
	}
	if stored != nil && stored.Hidden {
		sighting.Own = stored
	}
	err = s.admit(ctx, &sighting, viewers, func(viewer social.UserID, known map[social.UserID]social.Relation) bool {
		return (hasLostReply || !isAuthorOfHidden(viewer, stored)) && canSeeComment(viewer, p, c, known)
	})
	sighting.Comment = now
	return sighting, err
}

// toOthers returns a comment as all those see it who are not the author of a hidden comment; nil if
// they do not see it.
func toOthers(c *social.Comment) *social.Comment {
	if c == nil || !social.CanSeeComment(social.UserID{}, c, social.Relation{}) {
		return nil
	}
	return social.CommentSeen(social.UserID{}, c)
}

// isAuthorOfHidden reports whether the viewer still sees a hidden comment as it was.
func isAuthorOfHidden(viewer social.UserID, c *social.Comment) bool {
	return c != nil && c.Hidden && viewer == c.Author
}

// PostsSeen reads those of the posts that a viewer may see, in the order of the ids.
func (s *Service) PostsSeen(ctx context.Context, viewer social.UserID, ids []social.PostID) ([]Sighting, error) {
	posts, err := s.store.Posts(ctx, ids)
	if err != nil {
		return nil, err
	}
	var sightings []Sighting
	for _, id := range ids {
		if posts[id] != nil {
			sightings = append(sightings, Sighting{Post: posts[id]})
		}
	}
	return s.seenBy(ctx, viewer, sightings, func(g *Sighting, known map[social.UserID]social.Relation) bool {
		return canSee(viewer, g.Post, known)
	})
}

// PreviewedWith returns those of the posts whose previews may have comments by one user, if the viewer
// sees those and does not mute the user: one of the newest comments is by this user, or the viewer
// does not see enough of these, so that the preview goes further back.
func (s *Service) PreviewedWith(ctx context.Context, viewer, by social.UserID, ids []social.PostID) (map[social.PostID]bool, error) {
	posts, err := s.store.Posts(ctx, ids)
	if err != nil {
		return nil, err
	}
	var authors []social.UserID
	for _, p := range posts {
		authors = append(authors, authorsOf(p.Latest)...)
	}
	relations, err := s.Viewer(viewer).Relations(ctx, authors)
	previewed := map[social.PostID]bool{}
	for _, p := range posts {
		shown, _ := preview(p.Latest, relations)
		goesBack := len(p.Latest) >= social.PreviewSize && len(shown) < PreviewLen
		if goesBack || slices.ContainsFunc(p.Latest, func(c *social.Comment) bool { return c.Author == by }) {
			previewed[p.ID] = true
		}
	}
	return previewed, err
}
