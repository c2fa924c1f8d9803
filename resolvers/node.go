package resolvers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"plaza/ads"
	"plaza/fault"
	"plaza/graph/model"
	"plaza/graph/relay"
	"plaza/loaders"
	"plaza/resolvers/gate"
	"plaza/social"
)

const maxNodes = 100

// Node resolves Query.node.
func (r queryResolver) Node(ctx context.Context, id string) (model.Node, error) {
	node, err := r.loadNode(ctx, "id", id)
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
		return r.loadNode(ctx, fmt.Sprintf("ids.%d", i), id)
	})
}

// loadNode loads the object with that id; nil if there is none that the viewer may see.
func (r *Resolver) loadNode(ctx context.Context, field, text string) (model.Node, error) {
	prefix, _, _ := strings.Cut(text, "_")
	switch of := loaders.For(ctx); prefix {
	case social.UserPrefix:
		return nodeOf(ctx, field, text, relay.UserID, of.Users, func(u *social.User) model.Node { return wrapUser(u) })
	case social.CirclePrefix:
		return nodeOf(ctx, field, text, relay.CircleID, of.Circles, func(c *social.Circle) model.Node { return wrapCircle(c) })
	case social.PostPrefix:
		return nodeOf(ctx, field, text, relay.PostID, of.Posts, func(p *social.Post) model.Node { return model.NewPost(of.Viewer, p) })
	case social.CommentPrefix:
		return nodeOf(ctx, field, text, relay.CommentID, of.Comments, func(c *social.Comment) model.Node { return wrapComment(ctx, c) })
	case social.NotificationPrefix:
		return nodeOf(ctx, field, text, relay.NotificationID, of.Notifications, func(n *social.Notification) model.Node { return wrapNotification(n) })
	case social.SessionPrefix:
		return nodeOf(ctx, field, text, relay.SessionID, loaders.Of(ctx, r.sessionsByID), asNode)
	case social.AccessTokenPrefix:
		return nodeOf(ctx, field, text, relay.AccessTokenID, loaders.Of(ctx, r.accessTokensByID), asNode)
	case social.InvitationPrefix:
		return nodeOf(ctx, field, text, relay.InvitationID, loaders.Of(ctx, r.invitationsByID), asNode)
	case social.CasePrefix:
		return nodeOf(ctx, field, text, relay.CaseID, loaders.Of(ctx, holding(social.ScopeModerate, r.casesByID)), asNode)
	case ads.AdvertiserPrefix:
		return nodeOf(ctx, field, text, relay.AdvertiserID, loaders.Of(ctx, holding(social.ScopeManageAds, r.Advertising.AdvertisersByID)), asNode)
	case ads.CampaignPrefix:
		return nodeOf(ctx, field, text, relay.CampaignID, loaders.Of(ctx, holding(social.ScopeManageAds, r.Advertising.CampaignsByID)), asNode)
	case ads.UnitPrefix:
		return nodeOf(ctx, field, text, relay.AdUnitID, loaders.Of(ctx, holding(social.ScopeManageAds, r.Advertising.UnitsByID)), asNode)
	default:
		return nil, fault.Invalidf(field, "This is not an id.")
	}
}

func asNode[N model.Node](n N) model.Node { return n }

func nodeOf[K, V comparable](
	ctx context.Context, field, text string, parse func(field, text string) (K, error), loader loaders.Loader[K, V], wrap func(V) model.Node,
) (model.Node, error) {
	id, err := parse(field, text)
	if missing, ok := errors.AsType[*fault.Error](err); ok && missing.Code == fault.CodeNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var none V
	found, err := loader.Load(ctx, id)
	if err != nil || found == none {
		return nil, err
	}
	return wrap(found), nil
}

// holding limits a read to viewers who hold the right that it needs, with a session that has the
// scope of the same name. For all others the objects do not exist.
func holding[K comparable, V any](scope social.Scope, read func(context.Context, []K) (map[K]V, error)) func(context.Context, []K) (map[K]V, error) {
	return func(ctx context.Context, ids []K) (map[K]V, error) {
		if session := gate.SessionOf(ctx); session.User.IsZero() || !session.May(scope) {
			return nil, nil
		}
		found, err := read(ctx, ids)
		if refusal, ok := errors.AsType[*fault.Error](err); ok && slices.Contains(refusalsOfRights, refusal.Code) {
			return nil, nil
		}
		return found, err
	}
}

// refusalsOfRights are the errors of RequireRight.
var refusalsOfRights = []fault.Code{fault.CodeUnauthenticated, fault.CodeForbidden, fault.CodeSuspended}

// ownByID finds objects in a list of the viewer's own; in those of an access token there are none,
// because no access token may select such a list.
func ownByID[K interface {
	comparable
	String() string
}, V any](ctx context.Context, ids []K, list func(context.Context, *model.Viewer) ([]V, error), idOf func(V) string) (map[K]V, error) {
	session := gate.SessionOf(ctx)
	if session.User.IsZero() || session.Grant != nil {
		return nil, nil
	}
	own, err := list(ctx, &model.Viewer{UserID: session.User})
	if err != nil {
		return nil, err
	}
	found := map[K]V{}
	for _, id := range ids {
		text := id.String()
		if i := slices.IndexFunc(own, func(v V) bool { return idOf(v) == text }); i >= 0 {
			found[id] = own[i]
		}
	}
	return found, nil
}
