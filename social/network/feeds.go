package network

import (
	"context"
	"maps"
	"slices"

	"plaza/paging"
	"plaza/social"
)

// News lists the posts by the users the viewer follows, and the viewer's own.
func (v *Viewer) News(ctx context.Context, p social.Page) (social.Slice[*social.Post], error) {
	return v.feed(ctx, p, v.s.store.News, social.InNews)
}

// Incoming lists the posts that others addressed to the viewer.
func (v *Viewer) Incoming(ctx context.Context, p social.Page) (social.Slice[*social.Post], error) {
	return v.feed(ctx, p, v.s.store.Incoming, social.InIncoming)
}

type feedRule func(viewer social.UserID, p *social.Post, toAuthor social.Relation) bool

func (v *Viewer) feed(ctx context.Context, p social.Page, read func(context.Context, social.UserID, social.Page) ([]*social.Post, error), rule feedRule) (social.Slice[*social.Post], error) {
	list := social.List[social.UserID]{Of: v.ID, Page: p}
	found, err := collectByAudience(ctx, v, []social.List[social.UserID]{list}, paging.Alone(read), postKey, v.seePosts(rule))
	return found[list], err
}

// OwnWall lists the viewer's own wall in a view.
func (v *Viewer) OwnWall(ctx context.Context, view social.WallView, p social.Page) (social.Slice[*social.Post], error) {
	rule := func(viewer social.UserID, p *social.Post, toAuthor social.Relation) bool {
		return social.InWallView(view, viewer, p, toAuthor)
	}
	list := social.List[social.UserID]{Of: v.ID, Page: p}
	found, err := collectByAudience(ctx, v, []social.List[social.UserID]{list}, v.s.store.Wall, postKey, v.seePosts(rule))
	return found[list], err
}

// Walls lists the walls of users as the viewer may see them, the viewer's own as ViewAll. Walls of
// users who are invisible to the viewer are empty.
func (v *Viewer) Walls(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]]social.Slice[*social.Post], error) {
	visible, err := v.ownersSeen(ctx, lists)
	if err != nil {
		return nil, err
	}
	see := func(ctx context.Context, posts []*social.Post) (func(social.UserID, *social.Post) bool, error) {
		relations, err := v.postRelations(ctx, posts, social.CanSeePost)
		if err != nil {
			return nil, err
		}
		owners, err := v.ownersRelations(ctx, visible, posts)
		if err != nil {
			return nil, err
		}
		return func(owner social.UserID, p *social.Post) bool {
			if owner == v.ID {
				return social.InWallView(social.ViewAll, v.ID, p, relations[p.Author])
			}
			return social.OnWall(v.ID, p, relations[p.Author], owners[social.Pair{Viewer: owner, Other: p.Author}])
		}, nil
	}
	return collectByAudience(ctx, v, visible, v.s.store.Wall, postKey, see)
}

// PostsBy lists the users' posts on any wall that the viewer may see. A wall's owner who blocks the
// author hides posts from that wall only, so they are in this list. For authors who are invisible
// to the viewer the lists are empty.
func (v *Viewer) PostsBy(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]]social.Slice[*social.Post], error) {
	visible, err := v.ownersSeen(ctx, lists)
	if err != nil {
		return nil, err
	}
	return collectByAudience(ctx, v, visible, v.s.store.PostsBy, postKey, v.seePosts(social.CanSeePost))
}

// ownersRelations reads the wall owners' relations to the authors of posts on their walls, in one
// read. It reads as much if only the owners have written, so that a wall whose other posts are all
// hidden takes as long as one without any.
func (v *Viewer) ownersRelations(ctx context.Context, walls []social.List[social.UserID], posts []*social.Post) (map[social.Pair]social.Relation, error) {
	pairs := map[social.Pair]bool{}
	for _, wall := range walls {
		pairs[social.Pair{Viewer: wall.Of, Other: social.MissingUser}] = true
	}
	for _, p := range posts {
		if p.Author != p.WallOwner {
			pairs[social.Pair{Viewer: p.WallOwner, Other: p.Author}] = true
		}
	}
	maps.DeleteFunc(pairs, func(pair social.Pair, _ bool) bool { return pair.Viewer == v.ID })
	if len(pairs) == 0 {
		return nil, nil
	}
	return v.s.people.Relations(ctx, slices.Collect(maps.Keys(pairs)))
}

func (v *Viewer) seePosts(rule feedRule) func(context.Context, []*social.Post) (func(social.UserID, *social.Post) bool, error) {
	return func(ctx context.Context, posts []*social.Post) (func(social.UserID, *social.Post) bool, error) {
		relations, err := v.postRelations(ctx, posts, rule)
		if err != nil {
			return nil, err
		}
		return func(_ social.UserID, p *social.Post) bool { return rule(v.ID, p, relations[p.Author]) }, nil
	}
}

// postRelations reads the relations to everyone named by posts: authors, wall owners and the
// authors of the newest comments. It takes one read, so that showing the posts takes no other,
// unless one of these is hidden. If all posts are hidden, the read is the same as if there are
// none.
func (v *Viewer) postRelations(ctx context.Context, posts []*social.Post, rule feedRule) (map[social.UserID]social.Relation, error) {
	return v.recallOrRead(ctx, PeopleOf(posts), func(relations map[social.UserID]social.Relation) bool {
		return slices.ContainsFunc(posts, func(p *social.Post) bool { return rule(v.ID, p, relations[p.Author]) })
	})
}

// PeopleOf lists the authors, wall owners and authors of the newest PreviewLen comments of posts,
// with duplicates.
func PeopleOf(posts []*social.Post) []social.UserID {
	people := make([]social.UserID, 0, len(posts)*(2+PreviewLen))
	for _, p := range posts {
		people = append(people, p.Author, p.WallOwner)
		people = append(people, authorsOf(newest(p))...)
	}
	return people
}

func postKey(_ social.UserID, p *social.Post) social.Key { return social.Key(p.ID.Bytes()) }

// ownersSeen keeps the lists whose owners are visible to the viewer.
func (v *Viewer) ownersSeen(ctx context.Context, lists []social.List[social.UserID]) ([]social.List[social.UserID], error) {
	owners := make([]social.UserID, len(lists))
	for i, list := range lists {
		owners[i] = list.Of
	}
	relations, err := v.Relations(ctx, owners)
	if err != nil {
		return nil, err
	}
	var seen []social.List[social.UserID]
	for _, list := range lists {
		if social.CanSeeUser(relations[list.Of]) {
			seen = append(seen, list)
		}
	}
	return seen, nil
}
