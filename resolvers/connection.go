package resolvers

import (
	"context"
	"time"

	"plaza/fault"
	"plaza/graph/model"
	"plaza/loaders"
	"plaza/social"
)

// pageArgs are the arguments of every connection.
type pageArgs struct {
	first  *int
	after  *string
	last   *int
	before *string
}

// page checks the arguments. Error: INVALID, naming the argument.
func (a pageArgs) page(cursors cursors) (social.Page, error) {
	page := social.Page{Limit: social.DefaultPageSize}
	switch {
	case a.first != nil && a.last != nil:
		return page, fault.Invalidf("last", "Give either first or last.")
	case a.first != nil:
		page.Limit = *a.first
	case a.last != nil:
		page.Limit, page.Last = *a.last, true
	}
	if page.Limit < 1 || page.Limit > social.MaxPageSize {
		argument := "first"
		if page.Last {
			argument = "last"
		}
		return page, fault.Invalidf(argument, "A page must have 1 to %d entries.", social.MaxPageSize)
	}
	var err error
	if page.After, err = cursors.decode("after", a.after); err != nil {
		return page, err
	}
	page.Before, err = cursors.decode("before", a.before)
	return page, err
}

// list can be read in pages.
type list[T any] struct {
	cursors cursors
	read    func(context.Context, social.Page) (social.Slice[T], error)
}

// within limits the list to a range of time, which narrow converts to the bounds of a page. Cursors
// stay those of the whole list; hasNextPage and hasPreviousPage apply to the range.
func (l list[T]) within(since, until *time.Time, narrow func(social.TimeRange, social.Page) (social.Page, error)) list[T] {
	read := l.read
	l.read = func(ctx context.Context, p social.Page) (social.Slice[T], error) {
		p, err := narrow(social.TimeRange{Since: since, Until: until}, p)
		if err != nil {
			return social.Slice[T]{}, err
		}
		return read(ctx, p)
	}
	return l
}

// connected is a page with its cursors, before it becomes a connection of the schema.
type connected[T any] struct {
	items   []T
	cursors []string
	info    *model.PageInfo
}

func (l list[T]) connect(ctx context.Context, args pageArgs) (connected[T], error) {
	page, err := args.page(l.cursors)
	if err != nil {
		return connected[T]{}, err
	}
	slice, err := l.read(ctx, page)
	if err != nil {
		return connected[T]{}, err
	}
	c := connected[T]{items: slice.Items, cursors: make([]string, len(slice.Keys))}
	for i, key := range slice.Keys {
		c.cursors[i] = l.cursors.encode(key)
	}
	c.info = l.pageInfo(page, slice)
	if n := len(c.cursors); n > 0 {
		c.info.StartCursor, c.info.EndCursor = &c.cursors[0], &c.cursors[n-1]
	}
	return c, nil
}

// pageInfo reports whether there are more entries before and after a page. Reading the page has
// determined one of the two; the other is read only if a client asks.
func (l list[T]) pageInfo(page social.Page, slice social.Slice[T]) *model.PageInfo {
	behind := func(ctx context.Context) (bool, error) { return l.beyond(ctx, page.Before, slice, false) }
	ahead := func(ctx context.Context) (bool, error) { return l.beyond(ctx, page.After, slice, true) }
	more := func(context.Context) (bool, error) { return true, nil }
	switch {
	case slice.More && page.Last:
		ahead = more
	case slice.More:
		behind = more
	}
	return &model.PageInfo{Next: behind, Previous: ahead}
}

// beyond reports whether the list has entries on the side of the page that a cursor bounds; without
// a cursor it has none.
func (l list[T]) beyond(ctx context.Context, bound social.Key, slice social.Slice[T], ahead bool) (bool, error) {
	if bound == "" {
		return false, nil
	}
	probe := social.Page{Limit: 1} // for an empty page: all entries are beyond it
	if n := len(slice.Keys); n > 0 && ahead {
		probe.Before = slice.Keys[0]
	} else if n > 0 {
		probe.After = slice.Keys[n-1]
	}
	found, err := l.read(ctx, probe)
	return len(found.Items) > 0, err
}

// connection converts a page to a connection; nodes has one node for each item.
func connection[T, N any](c connected[T], nodes []N) *model.Connection[N] {
	edges := make([]*model.Edge[N], len(nodes))
	for i, node := range nodes {
		edges[i] = &model.Edge[N]{Cursor: c.cursors[i], Node: node}
	}
	return &model.Connection[N]{PageInfo: c.info, Nodes: nodes, Edges: edges}
}

// connectionOf converts a page to a connection whose nodes are its wrapped items.
func connectionOf[T, N any](c connected[T], err error, wrap func(T) N) (*model.Connection[N], error) {
	if err != nil {
		return nil, err
	}
	nodes := make([]N, len(c.items))
	for i, item := range c.items {
		nodes[i] = wrap(item)
	}
	return connection(c, nodes), nil
}

// postConnection converts a page of posts to a connection. others are additional people to read
// together with those whom it shows.
func postConnection(ctx context.Context, c connected[*social.Post], err error, others ...social.UserID) (*model.PostConnection, error) {
	if err != nil {
		return nil, err
	}
	if err := prefetch(ctx, c.items, others...); err != nil {
		return nil, err
	}
	if c, err = withAuthors(ctx, c); err != nil {
		return nil, err
	}
	viewer := loaders.For(ctx).Viewer
	connection := &model.PostConnection{
		PageInfo: c.info, Nodes: make([]model.Post, len(c.items)), Edges: make([]*model.PostEdge, len(c.items)),
	}
	for i, p := range c.items {
		connection.Nodes[i] = model.NewPost(viewer, p)
		connection.Edges[i] = &model.PostEdge{Cursor: c.cursors[i], Node: connection.Nodes[i]}
	}
	return connection, nil
}

// withAuthors drops posts whose authors have deleted their accounts since the page was read.
func withAuthors(ctx context.Context, c connected[*social.Post]) (connected[*social.Post], error) {
	if len(c.items) == 0 || !selection(ctx)["author"] {
		return c, nil
	}
	there := connected[*social.Post]{info: c.info}
	for i, p := range c.items {
		author, err := loaders.For(ctx).Users.Load(ctx, p.Author) // prefetch has read them all
		if err != nil {
			return c, err
		}
		if author != nil {
			there.items, there.cursors = append(there.items, p), append(there.cursors, c.cursors[i])
		}
	}
	return there, nil
}

func commentConnection(ctx context.Context, c connected[*social.Comment], err error) (*model.CommentConnection, error) {
	if err != nil {
		return nil, err
	}
	if err := prefetchAuthors(ctx, c.items); err != nil {
		return nil, err
	}
	return connection(c, wrapComments(ctx, c.items)), nil
}

// userConnection takes the user of each item, and drops nil users.
func userConnection[T any](c connected[T], users []*social.User) *model.UserConnection {
	var there connected[T]
	nodes := []*model.User{}
	for i, user := range users {
		if user != nil {
			there.cursors, nodes = append(there.cursors, c.cursors[i]), append(nodes, &model.User{User: user})
		}
	}
	there.info = c.info
	return connection(there, nodes)
}
