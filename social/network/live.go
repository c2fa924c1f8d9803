package network

import (
	"context"
	"slices"
	"strings"

	"plaza/social"
)

// Sighting is a new post, comment or notification, the people it names, the given viewers who may
// see it, and the relation of each to those people.
type Sighting struct {
	Post    *social.Post
	Comment *social.Comment // nil: the post itself is new
	People  map[social.UserID]*social.User
	Viewers map[social.UserID]map[social.UserID]social.Relation
	// Notification is one of a viewer's own notifications. Then there is no post, and no people are
	// named.
	Notification *social.Notification
	// Loss is set if one of a viewer's own notifications has lost acts. Notification is then what
	// the viewer sees of it now; nil: nothing.
	Loss *social.NotificationLoss
}

// NewsViewers finds the viewers whose news contain a post. A deleted post has none.
func (s *Service) NewsViewers(ctx context.Context, post social.PostID, viewers []social.UserID) (Sighting, error) {
	return s.postViewers(ctx, post, func(_ *social.Post, author *social.User) ([]social.UserID, viewerRule, error) {
		readers, err := s.newsReaders(ctx, author, viewers)
		return readers, inNews, err
	})
}

// WallViewers finds the viewers who see a post on the wall that it is on. A deleted post has none.
func (s *Service) WallViewers(ctx context.Context, post social.PostID, viewers []social.UserID) (Sighting, error) {
	return s.postViewers(ctx, post, func(p *social.Post, _ *social.User) ([]social.UserID, viewerRule, error) {
		rule, err := s.onWall(ctx, p.WallOwner, []*social.Post{p})
		return viewers, rule, err
	})
}

// IncomingViewers finds the viewers whose incoming contains a post. A deleted post has none. For a
// public post it only looks up the owner of its wall, however many viewers there are.
func (s *Service) IncomingViewers(ctx context.Context, post social.PostID, viewers []social.UserID) (Sighting, error) {
	return s.postViewers(ctx, post, func(p *social.Post, _ *social.User) ([]social.UserID, viewerRule, error) {
		addressed := slices.DeleteFunc(slices.Clone(viewers), func(v social.UserID) bool { return !social.IsAddressed(v, p) })
		return addressed, inIncoming, nil
	})
}

// viewerRule reports whether a viewer, with their relations to the people a post names, sees it in
// a list.
type viewerRule func(viewer social.UserID, p *social.Post, known map[social.UserID]social.Relation) bool

func canSee(viewer social.UserID, p *social.Post, known map[social.UserID]social.Relation) bool {
	return social.CanSeePost(viewer, p, known[p.Author])
}

// canSeeComment reports whether a viewer sees a comment, and the post that it is on.
func canSeeComment(viewer social.UserID, p *social.Post, c *social.Comment, known map[social.UserID]social.Relation) bool {
	return canSee(viewer, p, known) && social.CanSeeComment(viewer, c, known[c.Author])
}

func inNews(viewer social.UserID, p *social.Post, known map[social.UserID]social.Relation) bool {
	return social.InNews(viewer, p, known[p.Author])
}

func inIncoming(viewer social.UserID, p *social.Post, known map[social.UserID]social.Relation) bool {
	return social.InIncoming(viewer, p, known[p.Author])
}

// onWall returns the rule for posts on a wall.
func (s *Service) onWall(ctx context.Context, owner social.UserID, posts []*social.Post) (viewerRule, error) {
	owned := make([]social.UserID, len(posts))
	for i, p := range posts {
		owned[i] = p.Author
	}
	relations, err := s.relationsTo(ctx, []social.UserID{owner}, owned...)
	return func(viewer social.UserID, p *social.Post, known map[social.UserID]social.Relation) bool {
		if viewer == owner {
			return social.InWallView(social.ViewAll, viewer, p, known[p.Author])
		}
		return social.CanSeeUser(known[owner]) && social.OnWall(viewer, p, known[p.Author], relations[owner][p.Author])
	}, err
}

// postViewers finds the candidates that a rule admits to a post.
func (s *Service) postViewers(ctx context.Context, post social.PostID, candidates func(*social.Post, *social.User) ([]social.UserID, viewerRule, error)) (Sighting, error) {
	posts, err := s.store.Posts(ctx, []social.PostID{post})
	if err != nil || posts[post] == nil {
		return Sighting{}, err
	}
	p := posts[post]
	sighting, err := s.sight(ctx, p, nil)
	if err != nil || sighting.People[p.Author] == nil {
		return sighting, err
	}
	viewers, rule, err := candidates(p, sighting.People[p.Author])
	if err != nil {
		return sighting, err
	}
	err = s.admit(ctx, &sighting, viewers, func(viewer social.UserID, known map[social.UserID]social.Relation) bool {
		return rule(viewer, p, known)
	})
	return sighting, err
}

// newsReaders keeps the viewers who follow the author, and the author. It iterates over the smaller
// side, so that neither many viewers nor many followers make every post expensive.
func (s *Service) newsReaders(ctx context.Context, author *social.User, viewers []social.UserID) ([]social.UserID, error) {
	if author.FollowersCount >= len(viewers) {
		return viewers, nil
	}
	list := social.List[social.UserID]{Of: author.ID, Page: social.Page{Limit: len(viewers)}}
	followers, err := s.store.Followers(ctx, []social.List[social.UserID]{list})
	if err != nil {
		return nil, err
	}
	follows := map[social.UserID]bool{author.ID: true}
	for _, edge := range followers[list] {
		follows[edge.From] = true
	}
	return slices.DeleteFunc(slices.Clone(viewers), func(v social.UserID) bool { return !follows[v] }), nil
}

// CommentViewers finds the viewers in whose lists of the thread a new comment is; the zero viewer is
// signed out. A comment that has been deleted since has none, unless it has replies: then it is a
// tombstone, and the replies follow.
func (s *Service) CommentViewers(ctx context.Context, comment social.CommentID, viewers []social.UserID) (Sighting, error) {
	comments, err := s.store.Comments(ctx, []social.CommentID{comment})
	if err != nil || comments[comment] == nil {
		return Sighting{}, err
	}
	stored := comments[comment]
	c := toOthers(stored)
	if c == nil {
		return Sighting{}, nil
	}
	posts, err := s.store.Posts(ctx, []social.PostID{c.Post})
	if err != nil || posts[c.Post] == nil {
		return Sighting{}, err
	}
	return s.sightComment(ctx, posts[c.Post], c, stored, viewers)
}

// sightComment finds out who of the viewers sees a comment as others than its author see it. stored
// is the comment as it is stored.
func (s *Service) sightComment(ctx context.Context, p *social.Post, c, stored *social.Comment, viewers []social.UserID) (Sighting, error) {
	sighting, err := s.sight(ctx, p, c)
	if err != nil {
		return sighting, err
	}
	err = s.admit(ctx, &sighting, viewers, func(viewer social.UserID, known map[social.UserID]social.Relation) bool {
		return !isAuthorOfHidden(viewer, stored) && canSeeComment(viewer, p, c, known)
	})
	return sighting, err
}

// sight reads the people a post and a comment (nil: none) name.
func (s *Service) sight(ctx context.Context, p *social.Post, c *social.Comment) (Sighting, error) {
	sighting := Sighting{Post: p, Comment: c, Viewers: map[social.UserID]map[social.UserID]social.Relation{}}
	people, err := s.people.Users(ctx, sighting.named())
	sighting.People = people
	return sighting, err
}

// named lists the people a sighting names, without duplicates.
func (g *Sighting) named() []social.UserID {
	named := []social.UserID{g.Post.Author}
	if !slices.Contains(named, g.Post.WallOwner) {
		named = append(named, g.Post.WallOwner)
	}
	if g.Comment != nil && !g.Comment.Author.IsZero() && !slices.Contains(named, g.Comment.Author) {
		named = append(named, g.Comment.Author)
	}
	return named
}

// admit adds the viewers who see it by their relations to the people named.
func (s *Service) admit(ctx context.Context, g *Sighting, viewers []social.UserID, sees func(viewer social.UserID, known map[social.UserID]social.Relation) bool) error {
	relations, err := s.relationsTo(ctx, viewers, g.named()...)
	if err != nil {
		return err
	}
	for _, viewer := range viewers {
		if sees(viewer, relations[viewer]) {
			g.Viewers[viewer] = relations[viewer]
		}
	}
	return nil
}

// View describes how a viewer is related to what was sighted: which of the people named they are,
// and their relations to the others. The rules of policy.go look at nothing else of a viewer, so
// two viewers with the same view have the same rights, and see the same of the post, the comment
// and those people.
func (g *Sighting) View(viewer social.UserID) string {
	if viewer.IsZero() {
		return "signed out"
	}
	var view strings.Builder
	for _, person := range g.named() {
		if viewer == person {
			view.WriteString("self;")
		} else {
			describe(g.Viewers[viewer][person], &view)
		}
	}
	return view.String()
}

// describe writes a relation: equal ones get equal texts, and others different ones.
func describe(r social.Relation, to *strings.Builder) {
	for _, holds := range []bool{r.Follows, r.Mutes, r.Blocks, r.BlockedBy, r.Gone, r.Away} {
		if holds {
			to.WriteByte('1')
		} else {
			to.WriteByte('0')
		}
	}
	for _, circle := range byAge(r.Circles) {
		to.Write(circle.Bytes())
	}
	to.WriteByte(';')
}

// relationsTo reads the relations of many viewers to a few people, in one read.
func (s *Service) relationsTo(ctx context.Context, viewers []social.UserID, people ...social.UserID) (map[social.UserID]map[social.UserID]social.Relation, error) {
	relations := make(map[social.UserID]map[social.UserID]social.Relation, len(viewers))
	var pairs []social.Pair
	for _, viewer := range viewers {
		relations[viewer] = make(map[social.UserID]social.Relation, len(people))
		for _, person := range people {
			if _, done := relations[viewer][person]; done {
				continue
			}
			relations[viewer][person] = social.Relation{}
			if !person.IsZero() && viewer != person {
				pairs = append(pairs, social.Pair{Viewer: viewer, Other: person})
			}
		}
	}
	if len(pairs) == 0 {
		return relations, nil
	}
	read, err := s.people.Relations(ctx, pairs)
	if err != nil {
		return nil, err
	}
	for pair, relation := range read {
		relations[pair.Viewer][pair.Other] = relation
	}
	return relations, nil
}
