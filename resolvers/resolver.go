// Package resolvers resolves the schema's fields: each parses its arguments, calls the domain, and
// wraps the result.
package resolvers

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"plaza/ads/adserver"
	"plaza/graph/generated"
	"plaza/graph/model"
	"plaza/live"
	"plaza/loaders"
	"plaza/social"
	"plaza/social/network"
)

// Resolver is the root of all resolvers.
type Resolver struct {
	Social *network.Service
	Ads    *adserver.Service
	Hub    *live.Hub
	Logger *slog.Logger
	// ClickURL is the base URL of the handler of clicks on ads; a click token is appended.
	ClickURL string
	// NewsAds configures ads in news.
	NewsAds NewsAds
	// MembersOnly lets only those who are signed in read.
	MembersOnly bool
	// StreamOf returns the subscription of a context.
	StreamOf func(ctx context.Context) Stream
	// LoaderWait is how long a look-up waits for others to batch with; default:
	// loaders.DefaultWait.
	LoaderWait time.Duration
	// ClientOf returns what limits of sign-ins count as the client of ctx's request.
	ClientOf func(ctx context.Context) string
	// RequestID returns the id of ctx's request, for the log.
	RequestID func(ctx context.Context) string
}

// Each type of the schema that has resolvers.
type (
	queryResolver             struct{ *Resolver }
	mutationResolver          struct{ *Resolver }
	subscriptionResolver      struct{ *Resolver }
	viewerResolver            struct{ *Resolver }
	notificationResolver      struct{ *Resolver }
	adManagerResolver         struct{ *Resolver }
	adUnitResolver            struct{ *Resolver }
	userResolver              struct{ *Resolver }
	circleResolver            struct{ *Resolver }
	commentResolver           struct{ *Resolver }
	audienceResolver          struct{ *Resolver }
	replyPolicyResolver       struct{ *Resolver }
	newsItemAddedResolver     struct{ *Resolver }
	commentAddedResolver      struct{ *Resolver }
	incomingAddedResolver     struct{ newsItemAddedResolver }
	wallPostAddedResolver     struct{ newsItemAddedResolver }
	commentChangedResolver    struct{ *Resolver }
	notificationAddedResolver struct{ *Resolver }
	postChangedResolver       struct{ *Resolver }
	pollPostResolver          struct{ postResolver[*model.PollPost] }
)

var _ generated.ResolverRoot = (*Resolver)(nil)

// Executable returns the schema with its resolvers.
func (r *Resolver) Executable() graphql.ExecutableSchema {
	parsed := generated.NewExecutableSchema(generated.Config{}).Schema()
	return generated.NewExecutableSchema(generated.Config{Resolvers: r, Schema: withObjectsAlone(parsed)})
}

// withObjectsAlone removes interfaces from the possible types of interfaces: the specification
// allows only object types, but gqlparser lists everything that implements an interface.
func withObjectsAlone(parsed *ast.Schema) *ast.Schema {
	schema := *parsed
	schema.PossibleTypes = maps.Clone(parsed.PossibleTypes)
	for name, types := range schema.PossibleTypes {
		schema.PossibleTypes[name] = slices.DeleteFunc(slices.Clone(types), func(d *ast.Definition) bool { return d.Kind != ast.Object })
	}
	return &schema
}

// Query resolves the fields of the schema's Query.
func (r *Resolver) Query() generated.QueryResolver { return queryResolver{r} }

// Mutation resolves the fields of the schema's Mutation.
func (r *Resolver) Mutation() generated.MutationResolver { return mutationResolver{r} }

// Subscription resolves the fields of the schema's Subscription.
func (r *Resolver) Subscription() generated.SubscriptionResolver { return subscriptionResolver{r} }

// Viewer resolves the fields of the schema's Viewer.
func (r *Resolver) Viewer() generated.ViewerResolver { return viewerResolver{r} }

// Notification implements generated.ResolverRoot.
func (r *Resolver) Notification() generated.NotificationResolver { return notificationResolver{r} }

// AdManager resolves the fields of the schema's AdManager.
func (r *Resolver) AdManager() generated.AdManagerResolver { return adManagerResolver{r} }

// AdUnit resolves the fields of the schema's AdUnit.
func (r *Resolver) AdUnit() generated.AdUnitResolver { return adUnitResolver{r} }

// User resolves the fields of the schema's User.
func (r *Resolver) User() generated.UserResolver { return userResolver{r} }

// Circle resolves the fields of the schema's Circle.
func (r *Resolver) Circle() generated.CircleResolver { return circleResolver{r} }

// Comment resolves the fields of the schema's Comment.
func (r *Resolver) Comment() generated.CommentResolver { return commentResolver{r} }

// AddCommentPayload resolves the fields of the schema's AddCommentPayload.
func (r *Resolver) AddCommentPayload() generated.AddCommentPayloadResolver {
	return addCommentPayloadResolver{r}
}

// DeleteCommentPayload resolves the fields of the schema's DeleteCommentPayload.
func (r *Resolver) DeleteCommentPayload() generated.DeleteCommentPayloadResolver {
	return deleteCommentPayloadResolver{r}
}

// Audience resolves the fields of the schema's Audience.
func (r *Resolver) Audience() generated.AudienceResolver { return audienceResolver{r} }

// ReplyPolicy resolves the fields of the schema's ReplyPolicy.
func (r *Resolver) ReplyPolicy() generated.ReplyPolicyResolver { return replyPolicyResolver{r} }

// NewsItemAdded resolves the fields of the schema's NewsItemAdded.
func (r *Resolver) NewsItemAdded() generated.NewsItemAddedResolver { return newsItemAddedResolver{r} }

// CommentAdded resolves the fields of the schema's CommentAdded.
func (r *Resolver) CommentAdded() generated.CommentAddedResolver { return commentAddedResolver{r} }

// PostChanged resolves the fields of the schema's PostChanged.
func (r *Resolver) PostChanged() generated.PostChangedResolver { return postChangedResolver{r} }

// NotificationAdded resolves the fields of the schema's NotificationAdded.
func (r *Resolver) NotificationAdded() generated.NotificationAddedResolver {
	return notificationAddedResolver{r}
}

// IncomingAdded resolves the fields of the schema's IncomingAdded.
func (r *Resolver) IncomingAdded() generated.IncomingAddedResolver {
	return incomingAddedResolver{newsItemAddedResolver{r}}
}

// WallPostAdded resolves the fields of the schema's WallPostAdded.
func (r *Resolver) WallPostAdded() generated.WallPostAddedResolver {
	return wallPostAddedResolver{newsItemAddedResolver{r}}
}

// CommentChanged resolves the fields of the schema's CommentChanged.
func (r *Resolver) CommentChanged() generated.CommentChangedResolver {
	return commentChangedResolver{r}
}

// StatusPost resolves the fields of the schema's StatusPost.
func (r *Resolver) StatusPost() generated.StatusPostResolver {
	return postResolver[*model.StatusPost]{}
}

// PhotoPost resolves the fields of the schema's PhotoPost.
func (r *Resolver) PhotoPost() generated.PhotoPostResolver { return postResolver[*model.PhotoPost]{} }

// LinkPost resolves the fields of the schema's LinkPost.
func (r *Resolver) LinkPost() generated.LinkPostResolver { return postResolver[*model.LinkPost]{} }

// CheckinPost resolves the fields of the schema's CheckinPost.
func (r *Resolver) CheckinPost() generated.CheckinPostResolver {
	return postResolver[*model.CheckinPost]{}
}

// PollPost resolves the fields of the schema's PollPost.
func (r *Resolver) PollPost() generated.PollPostResolver { return pollPostResolver{} }

func (r *Resolver) newLoaders(ctx context.Context, viewer social.UserID) *loaders.Loaders {
	v := r.Social.Viewer(viewer)
	v.ShowsPeople = showsPeople(ctx)
	return loaders.New(v, r.LoaderWait)
}
