package social

import (
	"context"
	"slices"
)

// Sighting is something new, with the viewers (of those who were asked about) who may see it, and how each of them
// stands to the people whom it names.
type Sighting struct {
	Post    *Post
	Comment *Comment // nil: the post itself is new
	Viewers map[UserID]map[UserID]Relation
}

// NewsViewers finds out in whose news a post is. A post that is gone is in nobody's.
func (s *Service) NewsViewers(ctx context.Context, post PostID, viewers []UserID) (Sighting, error) {
	posts, err := s.store.Posts(ctx, []PostID{post})
	if err != nil || posts[post] == nil {
		return Sighting{}, err
	}
	p := posts[post]
	readers, err := s.newsReaders(ctx, p.Author, viewers)
	if err != nil {
		return Sighting{}, err
	}
	relations, err := s.relationsTo(ctx, readers, p.Author, p.WallOwner)
	if err != nil {
		return Sighting{}, err
	}
	sighting := Sighting{Post: p, Viewers: map[UserID]map[UserID]Relation{}}
	for _, viewer := range readers {
		if InNews(viewer, p, relations[viewer][p.Author]) {
			sighting.Viewers[viewer] = relations[viewer]
		}
	}
	return sighting, nil
}

// newsReaders keeps those of the viewers who follow the author, and the author. Of the two sides it goes through the
// smaller, so that neither many viewers nor many followers make every post expensive.
func (s *Service) newsReaders(ctx context.Context, author UserID, viewers []UserID) ([]UserID, error) {
	authors, err := s.store.Users(ctx, []UserID{author})
	if err != nil || authors[author] == nil {
		return nil, err
	}
	if authors[author].FollowersCount >= len(viewers) {
		return viewers, nil
	}
	list := List[UserID]{Of: author, Page: Page{Limit: len(viewers)}}
	followers, err := s.store.Followers(ctx, []List[UserID]{list})
	if err != nil {
		return nil, err
	}
	follows := map[UserID]bool{author: true}
	for _, edge := range followers[list] {
		follows[edge.From] = true
	}
	return slices.DeleteFunc(slices.Clone(viewers), func(v UserID) bool { return !follows[v] }), nil
}

// CommentViewers finds out who may see a comment; the zero viewer is somebody who is not signed in. A comment that is
// gone is seen by nobody.
func (s *Service) CommentViewers(ctx context.Context, comment CommentID, viewers []UserID) (Sighting, error) {
	comments, err := s.store.Comments(ctx, []CommentID{comment})
	if err != nil || comments[comment] == nil {
		return Sighting{}, err
	}
	c := comments[comment]
	posts, err := s.store.Posts(ctx, []PostID{c.Post})
	if err != nil || posts[c.Post] == nil {
		return Sighting{}, err
	}
	p := posts[c.Post]
	relations, err := s.relationsTo(ctx, viewers, p.Author, p.WallOwner, c.Author)
	if err != nil {
		return Sighting{}, err
	}
	sighting := Sighting{Post: p, Comment: c, Viewers: map[UserID]map[UserID]Relation{}}
	for _, viewer := range viewers {
		known := relations[viewer]
		if CanSeePost(viewer, p, known[p.Author]) && CanSeeComment(c, known[c.Author]) {
			sighting.Viewers[viewer] = known
		}
	}
	return sighting, nil
}

// relationsTo reads how many viewers stand to a few people, in one read.
func (s *Service) relationsTo(ctx context.Context, viewers []UserID, people ...UserID) (map[UserID]map[UserID]Relation, error) {
	relations := make(map[UserID]map[UserID]Relation, len(viewers))
	var pairs []Pair
	for _, viewer := range viewers {
		relations[viewer] = make(map[UserID]Relation, len(people))
		for _, person := range people {
			if _, done := relations[viewer][person]; done {
				continue
			}
			relations[viewer][person] = Relation{}
			if !person.IsZero() && viewer != person {
				pairs = append(pairs, Pair{viewer, person})
			}
		}
	}
	if len(pairs) == 0 {
		return relations, nil
	}
	read, err := s.store.Relations(ctx, pairs)
	if err != nil {
		return nil, err
	}
	for pair, relation := range read {
		relations[pair.Viewer][pair.Other] = relation
	}
	return relations, nil
}

// Hidings counts the changes that may have hidden something from somebody, as far as this server knows. What was checked
// before it grew must be checked again before it is shown.
func (s *Service) Hidings() uint64 { return s.hidings.Load() }

// Hides says whether a kind of event may hide something from somebody.
func (k EventKind) Hides() bool {
	switch k {
	case EventBlocked, EventMuted, EventUnfollowed, EventMemberRemoved, EventCircleDeleted,
		EventAudienceChanged, EventPostDeleted, EventCommentDeleted, EventThreadMuted, EventUserDeleted:
		return true
	default:
		return false
	}
}

// Noted takes note of what another server may have done.
func (s *Service) Noted(k EventKind) {
	if k.Hides() {
		s.noteHiding()
	}
}

// noteHiding is deferred by what may hide something: it is counted when it is stored, and before it is answered.
func (s *Service) noteHiding() { s.hidings.Add(1) }
