package relay

import (
	"context"

	"plaza/graph/model"
)

// Connect reads the page of a list that the arguments ask for, as a connection whose nodes are its
// wrapped items.
func Connect[T, N any](ctx context.Context, l List[T], args Args, wrap func(T) N) (*model.Connection[N], error) {
	page, err := l.Page(ctx, args)
	if err != nil {
		return nil, err
	}
	nodes := make([]N, len(page.Items))
	for i, item := range page.Items {
		nodes[i] = wrap(item)
	}
	return Connection(page, nodes), nil
}

// Connection converts a page to a connection; nodes has one node for each item.
func Connection[T, N any](page Page[T], nodes []N) *model.Connection[N] {
	edges := make([]*model.Edge[N], len(nodes))
	for i, node := range nodes {
		edges[i] = &model.Edge[N]{Cursor: page.Cursors[i], Node: node}
	}
	return &model.Connection[N]{PageInfo: page.Info, Nodes: nodes, Edges: edges}
}
