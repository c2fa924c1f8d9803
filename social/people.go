package social

import "context"

// Followers lists each user's followers (Edge.From) who are visible to the viewer.
func (v *Viewer) Followers(ctx context.Context, lists []List[UserID]) (map[List[UserID]]Slice[Edge], error) {
	return v.edges(ctx, lists, v.s.store.Followers, func(e Edge) UserID { return e.From })
}

// Following lists the users whom each user follows (Edge.To) who are visible to the viewer.
func (v *Viewer) Following(ctx context.Context, lists []List[UserID]) (map[List[UserID]]Slice[Edge], error) {
	return v.edges(ctx, lists, v.s.store.Following, edgeEnd)
}

type readEdges func(context.Context, []List[UserID]) (map[List[UserID]][]Edge, error)

func (v *Viewer) edges(ctx context.Context, lists []List[UserID], read readEdges, end func(Edge) UserID) (map[List[UserID]]Slice[Edge], error) {
	visible, err := v.ownersSeen(ctx, lists)
	if err != nil {
		return nil, err
	}
	return collect(ctx, v, visible, read, edgeKey, seeEdges[UserID](v, end))
}

// seeEdges sees the edges whose end the viewer sees, in lists of a K.
func seeEdges[K any](v *Viewer, end func(Edge) UserID) func(context.Context, []Edge) (func(K, Edge) bool, error) {
	return func(ctx context.Context, edges []Edge) (func(K, Edge) bool, error) {
		people := make([]UserID, len(edges))
		for i, e := range edges {
			people[i] = end(e)
		}
		relations, err := v.recallOr(ctx, people, v.listed)
		if err != nil {
			return nil, err
		}
		return func(_ K, e Edge) bool { return CanSeeUser(relations[end(e)]) }, nil
	}
}

func edgeKey[K any](_ K, e Edge) Key { return Key(e.ID.Bytes()) }

func edgeEnd(e Edge) UserID { return e.To }

// Muted lists the users whom the viewer mutes (Edge.To) who are visible to the viewer.
func (v *Viewer) Muted(ctx context.Context, p Page) (Slice[Edge], error) {
	readOne := func(ctx context.Context, lists []List[UserID]) (map[List[UserID]][]Edge, error) {
		edges, err := v.s.store.Muted(ctx, v.ID, lists[0].Page)
		return map[List[UserID]][]Edge{lists[0]: edges}, err
	}
	list := List[UserID]{Of: v.ID, Page: p}
	slices, err := collect(ctx, v, []List[UserID]{list}, readOne, edgeKey, seeEdges[UserID](v, edgeEnd))
	return slices[list], err
}

// BlockedUser is a user whom the viewer blocks.
type BlockedUser struct {
	Edge Edge
	User *User
}

// Blocked lists the users whom the viewer blocks: the one list that still shows them.
func (v *Viewer) Blocked(ctx context.Context, p Page) (Slice[BlockedUser], error) {
	beyond := p
	beyond.Limit++
	edges, err := v.s.store.Blocked(ctx, v.ID, beyond)
	if err != nil {
		return Slice[BlockedUser]{}, err
	}
	page := cut(edges, p, func(e Edge) Key { return edgeKey(v.ID, e) })
	ids := make([]UserID, len(page.Items))
	for i, e := range page.Items {
		ids[i] = e.To
	}
	users, err := v.s.people.Users(ctx, ids)
	if err != nil {
		return Slice[BlockedUser]{}, err
	}
	blocked := Slice[BlockedUser]{More: page.More}
	for i, e := range page.Items {
		if users[e.To] != nil {
			blocked.Items = append(blocked.Items, BlockedUser{e, users[e.To]})
			blocked.Keys = append(blocked.Keys, page.Keys[i])
		}
	}
	return blocked, nil
}

// OwnCircles lists the viewer's circles, oldest first.
func (v *Viewer) OwnCircles(ctx context.Context, p Page) (Slice[*Circle], error) {
	beyond := p
	beyond.Limit++
	circles, err := v.s.store.CirclesOf(ctx, v.ID, beyond)
	return cut(circles, p, func(c *Circle) Key { return Key(c.ID.Bytes()) }), err
}

// Members lists the members (Edge.To) of the viewer's own circles, in the order in which they were
// added.
func (v *Viewer) Members(ctx context.Context, lists []List[CircleID]) (map[List[CircleID]]Slice[Edge], error) {
	ids := make([]CircleID, len(lists))
	for i, list := range lists {
		ids[i] = list.Of
	}
	own, err := v.Circles(ctx, ids)
	if err != nil {
		return nil, err
	}
	var visible []List[CircleID]
	for _, list := range lists {
		if own[list.Of] != nil {
			visible = append(visible, list)
		}
	}
	return collect(ctx, v, visible, v.s.store.Members, edgeKey, seeEdges[CircleID](v, edgeEnd))
}
