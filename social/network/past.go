package network

import (
	"context"
	"maps"
	"slices"

	"plaza/social"
)

// Past is a page of entries that were added to a list, oldest first.
type Past struct {
	Seen []Sighting // what the viewer may see
	Last social.Key // of the last entry that was read; where the page began if there is none
	More bool       // whether there may be further entries
}

// NewsSince reads what appeared in a viewer's news after the given post, at most limit posts.
func (s *Service) NewsSince(ctx context.Context, viewer social.UserID, after social.Key, limit int) (Past, error) {
	posts, err := s.store.News(ctx, viewer, since(after, limit))
	if err != nil {
		return Past{}, err
	}
	return s.postsSince(ctx, viewer, after, limit, posts, inNews)
}

// IncomingSince does the same for a viewer's incoming.
func (s *Service) IncomingSince(ctx context.Context, viewer social.UserID, after social.Key, limit int) (Past, error) {
	posts, err := s.store.Incoming(ctx, viewer, since(after, limit))
	if err != nil {
		return Past{}, err
	}
	return s.postsSince(ctx, viewer, after, limit, posts, inIncoming)
}

// WallSince does the same for a user's wall, as a viewer (zero: signed out) may see it.
func (s *Service) WallSince(ctx context.Context, viewer, owner social.UserID, after social.Key, limit int) (Past, error) {
	wall := social.List[social.UserID]{Of: owner, Page: since(after, limit)}
	walls, err := s.store.Wall(ctx, []social.List[social.UserID]{wall})
	if err != nil {
		return Past{}, err
	}
	rule, err := s.onWall(ctx, owner, walls[wall])
	if err != nil {
		return Past{}, err
	}
	return s.postsSince(ctx, viewer, after, limit, walls[wall], rule)
}

// since returns the page of the posts after a position, newest first.
func since(after social.Key, limit int) social.Page {
	return social.Page{Before: after, Limit: limit, Last: true}
}

// postsSince converts such a page of posts to a page of the past.
func (s *Service) postsSince(ctx context.Context, viewer social.UserID, after social.Key, limit int, posts []*social.Post, rule viewerRule) (past Past, err error) {
	past = Past{Last: after, More: len(posts) == limit}
	sightings := make([]Sighting, len(posts))
	for i, p := range slices.Backward(posts) {
		sightings[len(posts)-1-i] = Sighting{Post: p}
	}
	if len(posts) > 0 {
		past.Last = postKey(viewer, posts[0])
	}
	past.Seen, err = s.seenBy(ctx, viewer, sightings, func(g *Sighting, known map[social.UserID]social.Relation) bool { return rule(viewer, g.Post, known) })
	return past, err
}

// CommentsSince reads the comments on a post after the given comment, at most limit: those that the
// viewer's list of the thread has. A post that is gone has none.
func (s *Service) CommentsSince(ctx context.Context, viewer social.UserID, post social.PostID, after social.Key, limit int) (Past, error) {
	posts, err := s.store.Posts(ctx, []social.PostID{post})
	if err != nil || posts[post] == nil {
		return Past{Last: after}, err
	}
	list := social.List[social.Thread]{Of: social.Thread{Post: post, Order: social.OrderOldest}, Page: social.Page{After: after, Limit: limit}}
	threads, err := s.store.Thread(ctx, []social.List[social.Thread]{list})
	if err != nil {
		return Past{}, err
	}
	past := Past{Last: after, More: len(threads[list]) == limit}
	var sightings []Sighting
	for _, c := range threads[list] {
		past.Last = social.CommentKey(list.Of, c)
		if social.CanSeeComment(viewer, c, social.Relation{}) { // a tombstone's author does not matter
			sightings = append(sightings, Sighting{Post: posts[post], Comment: social.CommentSeen(viewer, c)})
		}
	}
	past.Seen, err = s.seenBy(ctx, viewer, sightings, func(g *Sighting, known map[social.UserID]social.Relation) bool {
		return canSeeComment(viewer, g.Post, g.Comment, known)
	})
	return past, err
}

// seenBy keeps the sightings that one viewer may see, and reads the people they name, with two
// reads in total.
func (s *Service) seenBy(ctx context.Context, viewer social.UserID, sightings []Sighting, sees func(*Sighting, map[social.UserID]social.Relation) bool) ([]Sighting, error) {
	if len(sightings) == 0 {
		return nil, nil
	}
	named := map[social.UserID]bool{}
	for i := range sightings {
		for _, person := range sightings[i].named() {
			named[person] = true
		}
	}
	all := slices.Collect(maps.Keys(named))
	people, err := s.people.Users(ctx, all)
	if err != nil {
		return nil, err
	}
	relations, err := s.relationsTo(ctx, []social.UserID{viewer}, all...)
	if err != nil {
		return nil, err
	}
	var seen []Sighting
	for _, g := range sightings {
		if people[g.Post.Author] != nil && sees(&g, relations[viewer]) {
			seen = append(seen, g.knowing(viewer, people, relations[viewer]))
		}
	}
	return seen, nil
}

// knowing adds the people a sighting names, and the relations of its only viewer to them.
func (g Sighting) knowing(viewer social.UserID, people map[social.UserID]*social.User, relations map[social.UserID]social.Relation) Sighting {
	own := map[social.UserID]social.Relation{}
	g.People = map[social.UserID]*social.User{}
	for _, person := range g.named() {
		own[person] = relations[person]
		if people[person] != nil {
			g.People[person] = people[person]
		}
	}
	g.Viewers = map[social.UserID]map[social.UserID]social.Relation{viewer: own}
	return g
}
