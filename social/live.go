package social

import (
	"context"
	"slices"
	"strings"
)

// Sighting is a new post, comment or notification, the people whom it names, the given viewers who may see it, and
// the relation of each to those people.
type Sighting struct {
	Post    *Post
	Comment *Comment // nil: the post itself is new
	People  map[UserID]*User
	Viewers map[UserID]map[UserID]Relation
	// Notification is of a viewer's own notifications; then there is no post, and nobody is named.
	Notification *Notification
}

// NewsViewers finds the viewers in whose news a post is. A deleted post has none.
func (s *Service) NewsViewers(ctx context.Context, post PostID, viewers []UserID) (Sighting, error) {
	posts, err := s.store.Posts(ctx, []PostID{post})
	if err != nil || posts[post] == nil {
		return Sighting{}, err
	}
	p := posts[post]
	sighting, err := s.sight(ctx, p, nil)
	if err != nil || sighting.People[p.Author] == nil {
		return sighting, err
	}
	readers, err := s.newsReaders(ctx, sighting.People[p.Author], viewers)
	if err != nil {
		return sighting, err
	}
	err = s.admit(ctx, &sighting, readers, func(viewer UserID, known map[UserID]Relation) bool {
		return inNews(viewer, p, known)
	})
	return sighting, err
}

// WallViewers finds the viewers who see a post on the wall that it is on. A deleted post has none.
func (s *Service) WallViewers(ctx context.Context, post PostID, viewers []UserID) (Sighting, error) {
	return s.postViewers(ctx, post, func(p *Post) ([]UserID, viewerRule, error) {
		rule, err := s.onWall(ctx, p.WallOwner, []*Post{p})
		return viewers, rule, err
	})
}

// IncomingViewers finds the viewers in whose incoming a post is. A deleted post has none. Of a public post only the
// owner of its wall is looked up, however many viewers there are.
func (s *Service) IncomingViewers(ctx context.Context, post PostID, viewers []UserID) (Sighting, error) {
	return s.postViewers(ctx, post, func(p *Post) ([]UserID, viewerRule, error) {
		addressed := slices.DeleteFunc(slices.Clone(viewers), func(v UserID) bool { return !isAddressed(v, p) })
		return addressed, inIncoming, nil
	})
}

// viewerRule reports whether a viewer, with their relations to the people whom a post names, sees it in a list.
type viewerRule func(viewer UserID, p *Post, known map[UserID]Relation) bool

func canSee(viewer UserID, p *Post, known map[UserID]Relation) bool {
	return CanSeePost(viewer, p, known[p.Author])
}

func inNews(viewer UserID, p *Post, known map[UserID]Relation) bool {
	return InNews(viewer, p, known[p.Author])
}

func inIncoming(viewer UserID, p *Post, known map[UserID]Relation) bool {
	return InIncoming(viewer, p, known[p.Author])
}

// onWall returns the rule for posts on a wall.
func (s *Service) onWall(ctx context.Context, owner UserID, posts []*Post) (viewerRule, error) {
	owned := make([]UserID, len(posts))
	for i, p := range posts {
		owned[i] = p.Author
	}
	relations, err := s.relationsTo(ctx, []UserID{owner}, owned...)
	return func(viewer UserID, p *Post, known map[UserID]Relation) bool {
		if viewer == owner {
			return InWallView(ViewAll, viewer, p, known[p.Author])
		}
		return CanSeeUser(known[owner]) && OnWall(viewer, p, known[p.Author], relations[owner][p.Author])
	}, err
}

// postViewers finds those of the candidates whom a rule admits to a post.
func (s *Service) postViewers(ctx context.Context, post PostID, candidates func(*Post) ([]UserID, viewerRule, error)) (Sighting, error) {
	posts, err := s.store.Posts(ctx, []PostID{post})
	if err != nil || posts[post] == nil {
		return Sighting{}, err
	}
	p := posts[post]
	sighting, err := s.sight(ctx, p, nil)
	if err != nil || sighting.People[p.Author] == nil {
		return sighting, err
	}
	viewers, rule, err := candidates(p)
	if err != nil {
		return sighting, err
	}
	err = s.admit(ctx, &sighting, viewers, func(viewer UserID, known map[UserID]Relation) bool { return rule(viewer, p, known) })
	return sighting, err
}

// newsReaders keeps the viewers who follow the author, and the author. It iterates over the smaller
// side, so that neither many viewers nor many followers make every post expensive.
func (s *Service) newsReaders(ctx context.Context, author *User, viewers []UserID) ([]UserID, error) {
	if author.FollowersCount >= len(viewers) {
		return viewers, nil
	}
	list := List[UserID]{Of: author.ID, Page: Page{Limit: len(viewers)}}
	followers, err := s.store.Followers(ctx, []List[UserID]{list})
	if err != nil {
		return nil, err
	}
	follows := map[UserID]bool{author.ID: true}
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
	sighting, err := s.sight(ctx, p, c)
	if err != nil {
		return sighting, err
	}
	err = s.admit(ctx, &sighting, viewers, func(viewer UserID, known map[UserID]Relation) bool {
		return IsNewComment(viewer, p, c, known[p.Author], known[c.Author])
	})
	return sighting, err
}

// sight reads the people whom a post and a comment (nil: none) name.
func (s *Service) sight(ctx context.Context, p *Post, c *Comment) (Sighting, error) {
	sighting := Sighting{Post: p, Comment: c, Viewers: map[UserID]map[UserID]Relation{}}
	people, err := s.people.Users(ctx, sighting.named())
	sighting.People = people
	return sighting, err
}

// named lists the people whom a sighting names, without duplicates.
func (g *Sighting) named() []UserID {
	named := []UserID{g.Post.Author}
	if !slices.Contains(named, g.Post.WallOwner) {
		named = append(named, g.Post.WallOwner)
	}
	if g.Comment != nil && !g.Comment.Author.IsZero() && !slices.Contains(named, g.Comment.Author) {
		named = append(named, g.Comment.Author)
	}
	return named
}

// admit adds the viewers who see it by their relations to the people named.
func (s *Service) admit(ctx context.Context, g *Sighting, viewers []UserID, sees func(viewer UserID, known map[UserID]Relation) bool) error {
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
// and their relations to the others. The rules of policy.go look at nothing else of a viewer, so two
// viewers with the same view have the same rights, and see the same of the post, the comment and
// those people.
func (g *Sighting) View(viewer UserID) string {
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

// describe writes a relation: equal ones in the same way, and others in another way.
func describe(r Relation, to *strings.Builder) {
	for _, holds := range []bool{r.Follows, r.Mutes, r.Blocks, r.BlockedBy, r.Gone} {
		if holds {
			to.WriteByte('1')
		} else {
			to.WriteByte('0')
		}
	}
	circles := slices.SortedFunc(slices.Values(r.Circles), func(a, b CircleID) int { return a.Compare(b.ID) })
	for _, circle := range circles {
		to.Write(circle.Bytes())
	}
	to.WriteByte(';')
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
	read, err := s.people.Relations(ctx, pairs)
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

// MayHaveHidden is called when events of other servers may have been missed.
func (s *Service) MayHaveHidden() { s.noteHiding() }

// noteHiding is deferred by operations that may hide something: it counts them after they are
// stored, and before they return.
func (s *Service) noteHiding() { s.hidings.Add(1) }
