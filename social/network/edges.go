package network

import (
	"context"
	"maps"

	"plaza/paging"
	"plaza/social"
)

// Followers lists each user's followers (Edge.From) who are visible to the viewer.
func (v *Viewer) Followers(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]]social.Slice[social.Edge], error) {
	return v.edges(ctx, lists, v.s.store.Followers, edgeStart)
}

// Following lists the users each user follows (Edge.To) who are visible to the viewer.
func (v *Viewer) Following(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]]social.Slice[social.Edge], error) {
	return v.edges(ctx, lists, v.s.store.Following, edgeEnd)
}

type readEdges func(context.Context, []social.List[social.UserID]) (map[social.List[social.UserID]][]social.Edge, error)

func (v *Viewer) edges(ctx context.Context, lists []social.List[social.UserID], read readEdges, end func(social.Edge) social.UserID) (map[social.List[social.UserID]]social.Slice[social.Edge], error) {
	visible, err := v.ownersSeen(ctx, lists)
	if err != nil {
		return nil, err
	}
	return collect(ctx, v, visible, read, edgeKey, seeEdges[social.UserID](v, end))
}

// seeEdges sees the edges whose end the viewer sees, in lists of a K.
func seeEdges[K any](v *Viewer, end func(social.Edge) social.UserID) func(context.Context, []social.Edge) (func(K, social.Edge) bool, error) {
	return func(ctx context.Context, edges []social.Edge) (func(K, social.Edge) bool, error) {
		relations, err := v.recallOr(ctx, ends(edges, end), v.listed)
		if err != nil {
			return nil, err
		}
		return func(_ K, e social.Edge) bool { return social.CanSeeUser(relations[end(e)]) }, nil
	}
}

func edgeKey[K any](_ K, e social.Edge) social.Key { return social.Key(e.ID.Bytes()) }

func edgeStart(e social.Edge) social.UserID { return e.From }

func edgeEnd(e social.Edge) social.UserID { return e.To }

// ends returns the user at one end of each edge: edgeStart or edgeEnd.
func ends(edges []social.Edge, end func(social.Edge) social.UserID) []social.UserID {
	users := make([]social.UserID, len(edges))
	for i, e := range edges {
		users[i] = end(e)
	}
	return users
}

// Muted lists the users the viewer mutes (Edge.To) who are visible to the viewer.
func (v *Viewer) Muted(ctx context.Context, p social.Page) (social.Slice[social.Edge], error) {
	return v.ownEdges(ctx, p, v.s.store.Muted, seeEdges[social.UserID](v, edgeEnd))
}

// BlockedUser is a user the viewer blocks.
type BlockedUser struct {
	Edge social.Edge
	User *social.User
}

// Blocked lists the users the viewer blocks: the only list that still shows them.
func (v *Viewer) Blocked(ctx context.Context, p social.Page) (social.Slice[BlockedUser], error) {
	known := map[social.UserID]*social.User{}
	see := func(ctx context.Context, edges []social.Edge) (func(social.UserID, social.Edge) bool, error) {
		users, err := v.s.people.Users(ctx, ends(edges, edgeEnd))
		maps.Copy(known, users)
		return func(_ social.UserID, e social.Edge) bool {
			return users[e.To] != nil && !social.IsAway(users[e.To].Standing)
		}, err
	}
	page, err := v.ownEdges(ctx, p, v.s.store.Blocked, see)
	blocked := social.Slice[BlockedUser]{Keys: page.Keys, More: page.More}
	for _, e := range page.Items {
		blocked.Items = append(blocked.Items, BlockedUser{e, known[e.To]})
	}
	return blocked, err
}

// ownEdges reads a page of a list that belongs to the viewer.
func (v *Viewer) ownEdges(
	ctx context.Context,
	p social.Page,
	read func(context.Context, social.UserID, social.Page) ([]social.Edge, error),
	see func(context.Context, []social.Edge) (func(social.UserID, social.Edge) bool, error),
) (social.Slice[social.Edge], error) {
	list := social.List[social.UserID]{Of: v.ID, Page: p}
	slices, err := collect(ctx, v, []social.List[social.UserID]{list}, paging.Alone(read), edgeKey, see)
	return slices[list], err
}

// OwnCircles lists the viewer's circles, oldest first.
func (v *Viewer) OwnCircles(ctx context.Context, p social.Page) (social.Slice[*social.Circle], error) {
	circles, err := v.s.store.CirclesOf(ctx, v.ID, p.Beyond())
	return paging.Cut(circles, p, func(c *social.Circle) social.Key { return social.Key(c.ID.Bytes()) }), err
}

// Members lists the members (Edge.To) of the viewer's own circles, in the order in which they were
// added.
func (v *Viewer) Members(ctx context.Context, lists []social.List[social.CircleID]) (map[social.List[social.CircleID]]social.Slice[social.Edge], error) {
	ids := make([]social.CircleID, len(lists))
	for i, list := range lists {
		ids[i] = list.Of
	}
	own, err := v.Circles(ctx, ids)
	if err != nil {
		return nil, err
	}
	var visible []social.List[social.CircleID]
	for _, list := range lists {
		if own[list.Of] != nil {
			visible = append(visible, list)
		}
	}
	return collect(ctx, v, visible, v.s.store.Members, edgeKey, seeEdges[social.CircleID](v, edgeEnd))
}
