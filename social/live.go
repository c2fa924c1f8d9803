package social

import (
	"context"
	"slices"
)

// Sighting is a new post or comment, the given viewers who may see it, and the relation of each to
// the people whom it names.
type Sighting struct {
	Post    *Post
	Comment *Comment // nil: the post itself is new
	Viewers map[UserID]map[UserID]Relation
}

// NewsViewers finds the viewers in whose news a post is. A deleted post has none.
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

// newsReaders keeps the viewers who follow the author, and the author. It iterates over the smaller
// side, so that neither many viewers nor many followers make every post expensive.
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

// CommentViewers finds the viewers who may see a comment; the zero viewer is signed out. A deleted
// comment has none.
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

// relationsTo reads the relations of many viewers to a few people, in one read.
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

// Hidings counts the changes known to this server that may have hidden something. Whatever was
// checked before the count grew must be checked again before it is shown.
func (s *Service) Hidings() uint64 { return s.hidings.Load() }

// Hides reports whether a kind of event may hide something.
func (k EventKind) Hides() bool {
	switch k {
	case EventBlocked, EventMuted, EventUnfollowed, EventMemberRemoved, EventCircleDeleted,
		EventAudienceChanged, EventPostDeleted, EventCommentDeleted, EventThreadMuted, EventUserDeleted:
		return true
	default:
		return false
	}
}

// Noted counts an event that another server may have written.
func (s *Service) Noted(k EventKind) {
	if k.Hides() {
		s.noteHiding()
	}
}

// noteHiding is deferred by operations that may hide something: it counts them after they are
// stored, and before they return.
func (s *Service) noteHiding() { s.hidings.Add(1) }
