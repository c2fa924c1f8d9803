package resolvers

import (
	"maps"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"plaza/graph/generated"
	"plaza/graph/model"
	"plaza/resolvers/advertising"
)

// root maps the schema's objects to the types that resolve their fields.
type root struct{ *Resolver }

var _ generated.ResolverRoot = root{}

// Executable returns the schema with its resolvers.
func (r *Resolver) Executable() graphql.ExecutableSchema {
	parsed := generated.NewExecutableSchema(generated.Config{}).Schema()
	return generated.NewExecutableSchema(generated.Config{Resolvers: root{r}, Schema: asSpecified(parsed)})
}

// asSpecified corrects what gqlparser adds to the schema, and introspection shows.
func asSpecified(parsed *ast.Schema) *ast.Schema {
	schema := *parsed
	schema.PossibleTypes, schema.Directives = objectsAlone(parsed.PossibleTypes), stableDirectives(parsed.Directives)
	return &schema
}

// objectsAlone removes interfaces from the possible types of interfaces: the specification allows
// only object types, but gqlparser lists everything that implements an interface.
func objectsAlone(possible map[string][]*ast.Definition) map[string][]*ast.Definition {
	possible = maps.Clone(possible)
	for name, types := range possible {
		possible[name] = slices.DeleteFunc(slices.Clone(types), func(d *ast.Definition) bool { return d.Kind != ast.Object })
	}
	return possible
}

// stableDirectives removes what no published version of the specification has: @defer, which
// operations may not use, and deprecated directives, whose location clients do not know.
func stableDirectives(all map[string]*ast.DirectiveDefinition) map[string]*ast.DirectiveDefinition {
	all = maps.Clone(all)
	delete(all, "defer")
	deprecated := *all["deprecated"]
	deprecated.Locations = slices.DeleteFunc(slices.Clone(deprecated.Locations), func(l ast.DirectiveLocation) bool { return l == ast.LocationDirectiveDefinition })
	all["deprecated"] = &deprecated
	return all
}

// Query resolves the fields of the schema's Query.
func (r root) Query() generated.QueryResolver {
	return queryResolver{r.Resolver, advertising.Query{Resolver: r.Advertising}}
}

// Mutation resolves the fields of the schema's Mutation.
func (r root) Mutation() generated.MutationResolver {
	return mutationResolver{r.Resolver, advertising.Mutation{Resolver: r.Advertising}}
}

// Subscription resolves the fields of the schema's Subscription.
func (r root) Subscription() generated.SubscriptionResolver { return subscriptionResolver(r) }

// Viewer resolves the fields of the schema's Viewer.
func (r root) Viewer() generated.ViewerResolver { return viewerResolver(r) }

// Notification resolves the fields of the schema's Notification.
func (root) Notification() generated.NotificationResolver { return notificationResolver{} }

// Moderation resolves the fields of the schema's Moderation.
func (r root) Moderation() generated.ModerationResolver { return moderationResolver(r) }

// AdManager resolves the fields of the schema's AdManager.
func (r root) AdManager() generated.AdManagerResolver {
	return advertising.Manager{Resolver: r.Advertising}
}

// AdUnit resolves the fields of the schema's AdUnit.
func (r root) AdUnit() generated.AdUnitResolver { return advertising.Unit{Resolver: r.Advertising} }

// User resolves the fields of the schema's User.
func (root) User() generated.UserResolver { return userResolver{} }

// Circle resolves the fields of the schema's Circle.
func (root) Circle() generated.CircleResolver { return circleResolver{} }

// Comment resolves the fields of the schema's Comment.
func (root) Comment() generated.CommentResolver { return commentResolver{} }

// AddCommentPayload resolves the fields of the schema's AddCommentPayload.
func (root) AddCommentPayload() generated.AddCommentPayloadResolver {
	return addCommentPayloadResolver{}
}

// DeleteCommentPayload resolves the fields of the schema's DeleteCommentPayload.
func (root) DeleteCommentPayload() generated.DeleteCommentPayloadResolver {
	return deleteCommentPayloadResolver{}
}

// Audience resolves the fields of the schema's Audience.
func (root) Audience() generated.AudienceResolver { return audienceResolver{} }

// ReplyPolicy resolves the fields of the schema's ReplyPolicy.
func (root) ReplyPolicy() generated.ReplyPolicyResolver { return replyPolicyResolver{} }

// NewsItemAdded resolves the fields of the schema's NewsItemAdded.
func (root) NewsItemAdded() generated.NewsItemAddedResolver { return newsItemAddedResolver{} }

// CommentAdded resolves the fields of the schema's CommentAdded.
func (root) CommentAdded() generated.CommentAddedResolver { return commentAddedResolver{} }

// PostChanged resolves the fields of the schema's PostChanged.
func (root) PostChanged() generated.PostChangedResolver { return postChangedResolver{} }

// NotificationAdded resolves the fields of the schema's NotificationAdded.
func (root) NotificationAdded() generated.NotificationAddedResolver {
	return notificationAddedResolver{}
}

// IncomingAdded resolves the fields of the schema's IncomingAdded.
func (root) IncomingAdded() generated.IncomingAddedResolver {
	return incomingAddedResolver{}
}

// WallPostAdded resolves the fields of the schema's WallPostAdded.
func (root) WallPostAdded() generated.WallPostAddedResolver {
	return wallPostAddedResolver{}
}

// CommentChanged resolves the fields of the schema's CommentChanged.
func (root) CommentChanged() generated.CommentChangedResolver {
	return commentChangedResolver{}
}

// StatusPost resolves the fields of the schema's StatusPost.
func (root) StatusPost() generated.StatusPostResolver {
	return postResolver[*model.StatusPost]{}
}

// PhotoPost resolves the fields of the schema's PhotoPost.
func (root) PhotoPost() generated.PhotoPostResolver { return postResolver[*model.PhotoPost]{} }

// LinkPost resolves the fields of the schema's LinkPost.
func (root) LinkPost() generated.LinkPostResolver { return postResolver[*model.LinkPost]{} }

// CheckinPost resolves the fields of the schema's CheckinPost.
func (root) CheckinPost() generated.CheckinPostResolver {
	return postResolver[*model.CheckinPost]{}
}

// PollPost resolves the fields of the schema's PollPost.
func (root) PollPost() generated.PollPostResolver { return pollPostResolver{} }
