package network

import (
	"context"
	"slices"

	"plaza/fault"
	"plaza/social"
)

// Suggestion is a user that the viewer may want to follow.
type Suggestion struct {
	User       *social.User
	FollowedBy []*social.User // some of the users that the viewer follows, and that follow User
}

// These bound what suggestions read.
const (
	suggestingFollows = 30  // of the viewer, newest first
	followsOfEach     = 20  // of each of these, newest first
	suggestingPosts   = 200 // the newest of all
	shownFollowedBy   = 3
)

// Suggestions lists users that the viewer may want to follow, at most limit: first those with the
// most followers among the users that the viewer followed last, then the viewer's own followers, and
// then the authors of the newest public posts. Error: INVALID for "count".
func (v *Viewer) Suggestions(ctx context.Context, limit int) ([]Suggestion, error) {
	if limit < 1 || limit > social.MaxSuggestions {
		return nil, fault.Invalidf("count", "You can request 1 to %d suggestions.", social.MaxSuggestions)
	}
	s := suggester{Viewer: v, limit: limit, followedBy: map[social.UserID][]social.UserID{}}
	for _, source := range []func(context.Context) ([]social.UserID, error){s.throughFollowed, s.followers, s.authors} {
		if len(s.found) == limit {
			break
		}
		candidates, err := source(ctx)
		if err != nil {
			return nil, err
		}
		if err := s.add(ctx, candidates); err != nil {
			return nil, err
		}
	}
	return s.suggestions(ctx)
}

// suggester finds suggestions for a viewer.
type suggester struct {
	*Viewer

	limit      int
	found      []social.UserID
	followedBy map[social.UserID][]social.UserID // by users that the viewer follows, newest follow first
}

// ownList is the newest part of a list of the viewer's.
func (s *suggester) ownList(limit int) social.List[social.UserID] {
	return social.List[social.UserID]{Of: s.ID, Page: social.Page{Limit: limit}}
}

// throughFollowed returns users that are followed by users that the viewer follows, those with the
// most of such followers first.
func (s *suggester) throughFollowed(ctx context.Context) ([]social.UserID, error) {
	lists, err := s.listsOfFollowed(ctx)
	if err != nil {
		return nil, err
	}
	follows, err := s.s.store.Following(ctx, lists)
	if err != nil {
		return nil, err
	}
	var users []social.UserID
	for _, list := range lists {
		for _, e := range follows[list] {
			if s.followedBy[e.To] == nil {
				users = append(users, e.To)
			}
			s.followedBy[e.To] = append(s.followedBy[e.To], e.From)
		}
	}
	slices.SortStableFunc(users, func(a, b social.UserID) int { return len(s.followedBy[b]) - len(s.followedBy[a]) })
	return users, nil
}

// listsOfFollowed names the newest follows of each user that the viewer followed last and does not
// mute.
func (s *suggester) listsOfFollowed(ctx context.Context) ([]social.List[social.UserID], error) {
	own := s.ownList(suggestingFollows)
	followed, err := s.Following(ctx, []social.List[social.UserID]{own})
	if err != nil {
		return nil, err
	}
	users := ends(followed[own].Items, edgeEnd)
	relations, err := s.Relations(ctx, users) // cached
	var lists []social.List[social.UserID]
	for _, user := range users {
		if !relations[user].Mutes {
			lists = append(lists, social.List[social.UserID]{Of: user, Page: social.Page{Limit: followsOfEach}})
		}
	}
	return lists, err
}

// followers returns the viewer's newest followers.
func (s *suggester) followers(ctx context.Context) ([]social.UserID, error) {
	own := s.ownList(social.MaxSuggestions)
	followers, err := s.Followers(ctx, []social.List[social.UserID]{own})
	return ends(followers[own].Items, edgeStart), err
}

// authors returns the authors of the newest public posts.
func (s *suggester) authors(ctx context.Context) ([]social.UserID, error) {
	return s.s.store.PublicAuthors(ctx, suggestingPosts)
}

// add adds those candidates that may be suggested, up to the limit.
func (s *suggester) add(ctx context.Context, candidates []social.UserID) error {
	for some := range slices.Chunk(candidates, 2*s.limit) {
		relations, err := s.listed(ctx, some)
		if err != nil {
			return err
		}
		for _, other := range some {
			if slices.Contains(s.found, other) || !social.IsSuggested(s.ID, other, relations[other]) {
				continue
			}
			if s.found = append(s.found, other); len(s.found) == s.limit {
				return nil
			}
		}
	}
	return nil
}

// suggestions reads the users that were found, and their followers.
func (s *suggester) suggestions(ctx context.Context) ([]Suggestion, error) {
	people := slices.Clone(s.found)
	for _, user := range s.found {
		people = append(people, s.shownFollowedBy(user)...)
	}
	users, err := s.Users(ctx, people)
	var suggestions []Suggestion
	for _, user := range s.found {
		if users[user] == nil {
			continue // deleted since
		}
		suggestion := Suggestion{User: users[user]}
		for _, follower := range s.shownFollowedBy(user) {
			if users[follower] != nil {
				suggestion.FollowedBy = append(suggestion.FollowedBy, users[follower])
			}
		}
		suggestions = append(suggestions, suggestion)
	}
	return suggestions, err
}

func (s *suggester) shownFollowedBy(user social.UserID) []social.UserID {
	all := s.followedBy[user]
	return all[:min(len(all), shownFollowedBy)]
}
