package social

import (
	"context"
	"slices"
)

// PostViewers finds the viewers who may see a post as it is now; the zero viewer is signed out. A post that is
// gone has none.
func (s *Service) PostViewers(ctx context.Context, post PostID, viewers []UserID) (Sighting, error) {
	return s.postViewers(ctx, post, func(*Post) ([]UserID, viewerRule, error) { return viewers, canSee, nil })
}

// CommentChangeViewers finds the viewers who may learn that a comment was edited or deleted: those who see it as it
// is now, or if it is gone (Comment is nil), those who see its post and its author.
func (s *Service) CommentChangeViewers(ctx context.Context, e Event, viewers []UserID) (Sighting, error) {
	posts, err := s.store.Posts(ctx, []PostID{e.Post})
	if err != nil || posts[e.Post] == nil {
		return Sighting{}, err
	}
	comments, err := s.store.Comments(ctx, []CommentID{e.Comment})
	if err != nil {
		return Sighting{}, err
	}
	p, c := posts[e.Post], comments[e.Comment]
	if c == nil {
		c = &Comment{ID: e.Comment, Post: e.Post, Author: e.Target}
	}
	sighting, err := s.sight(ctx, p, c)
	if err != nil {
		return sighting, err
	}
	err = s.admit(ctx, &sighting, viewers, func(viewer UserID, known map[UserID]Relation) bool {
		return CanSeePost(viewer, p, known[p.Author]) && CanSeeComment(c, known[c.Author])
	})
	sighting.Comment = comments[e.Comment]
	return sighting, err
}

// PostsSeen reads those of the posts that a viewer may see, in the order of the ids.
func (s *Service) PostsSeen(ctx context.Context, viewer UserID, ids []PostID) ([]Sighting, error) {
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
	return s.seenBy(ctx, viewer, sightings, func(g *Sighting, known map[UserID]Relation) bool {
		return CanSeePost(viewer, g.Post, known[g.Post.Author])
	})
}

// Touches reports whether an event may change whether a viewer sees a post by an author (zero: unknown),
// although it is not about the post.
func (e Event) Touches(viewer, author UserID) bool {
	switch e.Kind {
	case EventMemberAdded, EventMemberRemoved, EventUnfollowed:
		return viewer == e.Target && (author.IsZero() || author == e.Actor)
	case EventBlocked, EventUnblocked:
		return viewer == e.Target && (author.IsZero() || author == e.Actor) ||
			viewer == e.Actor && (author.IsZero() || author == e.Target)
	case EventCircleDeleted:
		return author.IsZero() || author == e.Actor
	case EventUserDeleted:
		return author.IsZero() || author == e.Target
	default:
		return false
	}
}

// ChangesPost reports whether a kind of event changes what is shown of the event's post.
func (k EventKind) ChangesPost() bool {
	return slices.Contains([]EventKind{
		EventPostEdited, EventAudienceChanged, EventRepliesChanged, EventOrderChanged, EventPostDeleted, EventPollVoted,
		EventReactionAdded, EventReactionRemoved, EventCommentAdded, EventCommentEdited, EventCommentDeleted,
	}, k)
}
