package resolvers

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"plaza/fault"
	"plaza/graph/model"
	"plaza/graph/relay"
	"plaza/loaders"
	"plaza/social"
)

const maxNodes = 100

// Node resolves Query.node.
func (r queryResolver) Node(ctx context.Context, id string) (model.Node, error) {
	node, err := loadNode(ctx, "id", id)
	if err == nil && node == nil {
		err = fault.NotFound("id", "object")
	}
	return node, err
}

// Nodes resolves Query.nodes.
func (r queryResolver) Nodes(ctx context.Context, ids []string) ([]model.Node, error) {
	if len(ids) > maxNodes {
		return nil, fault.Errorf(fault.CodeTooLong, "ids", "At most %d ids are allowed.", maxNodes)
	}
	return together(ids, func(i int, id string) (model.Node, error) {
		return loadNode(ctx, fmt.Sprintf("ids.%d", i), id)
	})
}

// loadNode loads the object with that id; nil if there is none that the viewer may see.
func loadNode(ctx context.Context, field, text string) (model.Node, error) {
	prefix, _, _ := strings.Cut(text, "_")
	switch prefix {
	case social.UserPrefix:
		id, err := relay.UserID(field, text)
		return nodeOf(ctx, id, err, loaders.For(ctx).Users, func(u *social.User) model.Node { return wrapUser(u) })
	case social.CirclePrefix:
		id, err := relay.CircleID(field, text)
		return nodeOf(ctx, id, err, loaders.For(ctx).Circles, func(c *social.Circle) model.Node { return wrapCircle(c) })
	case social.PostPrefix:
		id, err := relay.PostID(field, text)
		return nodeOf(ctx, id, err, loaders.For(ctx).Posts, func(p *social.Post) model.Node { return model.NewPost(loaders.For(ctx).Viewer, p) })
	case social.CommentPrefix:
		id, err := relay.CommentID(field, text)
		return nodeOf(ctx, id, err, loaders.For(ctx).Comments, func(c *social.Comment) model.Node { return wrapComment(ctx, c) })
	case social.NotificationPrefix:
		id, err := relay.NotificationID(field, text)
		return nodeOf(ctx, id, err, loaders.For(ctx).Notifications, func(n *social.Notification) model.Node { return wrapNotification(n) })
	default:
		return nil, fault.Invalidf(field, "This is not an id.")
	}
}

func nodeOf[K, V comparable](ctx context.Context, id K, parsing error, loader loaders.Loader[K, V], wrap func(V) model.Node) (model.Node, error) {
	if missing, ok := errors.AsType[*fault.Error](parsing); ok && missing.Code == fault.CodeNotFound {
		return nil, nil
	}
	if parsing != nil {
		return nil, parsing
	}
	var none V
	found, err := loader.Load(ctx, id)
	if err != nil || found == none {
		return nil, err
	}
	return wrap(found), nil
}
