package resolvers

import (
	"context"

	"plaza/graph/model"
	"plaza/graph/relay"
	"plaza/loaders"
	"plaza/social"
)

// connectPosts reads a page of posts.
func connectPosts(ctx context.Context, list relay.List[*social.Post], args relay.Args) (*model.PostConnection, error) {
	page, err := list.Page(ctx, args)
	if err != nil {
		return nil, err
	}
	return postConnection(ctx, page)
}

// postConnection converts a page of posts to a connection. others are additional people to read
// together with those it shows.
func postConnection(ctx context.Context, page relay.Page[*social.Post], others ...social.UserID) (*model.PostConnection, error) {
	if err := prefetch(ctx, page.Items, others...); err != nil {
		return nil, err
	}
	page, err := withAuthors(ctx, page)
	if err != nil {
		return nil, err
	}
	viewer := loaders.For(ctx).Viewer
	connection := &model.PostConnection{
		PageInfo: page.Info, Nodes: make([]model.Post, len(page.Items)), Edges: make([]*model.PostEdge, len(page.Items)),
	}
	for i, p := range page.Items {
		connection.Nodes[i] = model.NewPost(viewer, p)
		connection.Edges[i] = &model.PostEdge{Cursor: page.Cursors[i], Node: connection.Nodes[i]}
	}
	return connection, nil
}

// withAuthors drops posts whose authors have deleted their accounts since the page was read.
func withAuthors(ctx context.Context, page relay.Page[*social.Post]) (relay.Page[*social.Post], error) {
	if len(page.Items) == 0 || !selection(ctx)["author"] {
		return page, nil
	}
	there := relay.Page[*social.Post]{Info: page.Info}
	for i, p := range page.Items {
		author, err := loaders.For(ctx).Users.Load(ctx, p.Author) // prefetch has read them all
		if err != nil {
			return page, err
		}
		if author != nil {
			there.Items, there.Cursors = append(there.Items, p), append(there.Cursors, page.Cursors[i])
		}
	}
	return there, nil
}

// connectComments reads a page of comments.
func connectComments(ctx context.Context, list relay.List[*social.Comment], args relay.Args) (*model.CommentConnection, error) {
	page, err := list.Page(ctx, args)
	if err != nil {
		return nil, err
	}
	return commentConnection(ctx, page)
}

func commentConnection(ctx context.Context, page relay.Page[*social.Comment]) (*model.CommentConnection, error) {
	if err := prefetchAuthors(ctx, page.Items); err != nil {
		return nil, err
	}
	return relay.Connection(page, wrapComments(ctx, page.Items)), nil
}

// connectUsers reads a page of a list whose items lead to users.
func connectUsers[T any](ctx context.Context, list relay.List[T], args relay.Args, user func(T) social.UserID) (*model.UserConnection, error) {
	page, err := list.Page(ctx, args)
	if err != nil {
		return nil, err
	}
	ids := make([]social.UserID, len(page.Items))
	for i, item := range page.Items {
		ids[i] = user(item)
	}
	users, err := loaders.For(ctx).Users.LoadAll(ctx, ids)
	return userConnection(page, users), err
}

// from and to are the users that an edge leads to.
func from(e social.Edge) social.UserID { return e.From }

func to(e social.Edge) social.UserID { return e.To }

// userConnection takes the user of each item, and drops nil users.
func userConnection[T any](page relay.Page[T], users []*social.User) *model.UserConnection {
	there := relay.Page[T]{Info: page.Info}
	nodes := []*model.User{}
	for i, user := range users {
		if user != nil {
			there.Cursors, nodes = append(there.Cursors, page.Cursors[i]), append(nodes, wrapUser(user))
		}
	}
	return relay.Connection(there, nodes)
}
