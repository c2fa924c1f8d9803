package resolvers

import (
	"context"
	"log/slog"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"plaza/graph/model"
	"plaza/live"
	"plaza/loaders"
	"plaza/resolvers/advertising"
	"plaza/resolvers/gate"
	"plaza/social"
	"plaza/social/moderation"
	"plaza/social/network"
	"plaza/social/notifications"
)

// Resolver has what resolvers need.
type Resolver struct {
	Social      *network.Service
	Moderator   *moderation.Service
	Advertising *advertising.Resolver
	Hub         *live.Hub
	Notices     *notifications.Service
	Providers   Providers
	Logger      *slog.Logger
	// StreamOf returns the subscription of a context.
	StreamOf func(ctx context.Context) Stream
	// LoaderWait is how long a look-up waits for others to batch with; default:
	// loaders.DefaultWait.
	LoaderWait time.Duration
	// ClientOf returns the client of ctx's request, as the limits of sign-ins count it.
	ClientOf func(ctx context.Context) string
}

// Providers are the OpenID providers whose users can sign in.
type Providers interface {
	// Clients names what people can sign in with.
	Clients() []*model.IdentityProvider
	// Verify returns what an ID token says, for a sign-in that began with a secret. Errors:
	// BAD_CREDENTIALS, NOT_ALLOWED, INVALID, BLANK, TOO_LONG; social.ErrIssuerUnavailable.
	Verify(ctx context.Context, idToken, secret string) (social.Assertion, error)
}

// Stream is a subscription that has begun, as the transport has it.
type Stream interface {
	// Context returns the subscription's context, which ends with it and contains its session.
	Context() context.Context
	// Await charges another response to the rate limits, and waits until they admit it.
	Await()
	// Admit charges another response to the rate limits if they admit it now.
	Admit() bool
	// Executions returns a function that resolves the subscription for one event, which its field's
	// resolver finds in ctx, and returns the response. It is called for one event after another.
	Executions() func(ctx context.Context) []byte
	// Send sends such responses, perhaps of another subscription with the same selection.
	Send(responses ...[]byte)
	// End ends the subscription with an error.
	End(err error)
}

// Each type of the schema that has resolvers here.
type (
	queryResolver struct {
		*Resolver
		advertising.Query
	}
	mutationResolver struct {
		*Resolver
		advertising.Mutation
	}
	subscriptionResolver         struct{ *Resolver }
	viewerResolver               struct{ *Resolver }
	notificationResolver         struct{}
	moderationResolver           struct{ *Resolver }
	userResolver                 struct{}
	circleResolver               struct{}
	commentResolver              struct{}
	audienceResolver             struct{}
	replyPolicyResolver          struct{}
	postResolver[P model.Post]   struct{} // the fields that all types of posts share
	pollPostResolver             struct{ postResolver[*model.PollPost] }
	addCommentPayloadResolver    struct{}
	deleteCommentPayloadResolver struct{}
	newsItemAddedResolver        struct{}
	commentAddedResolver         struct{}
	incomingAddedResolver        struct{ newsItemAddedResolver }
	wallPostAddedResolver        struct{ newsItemAddedResolver }
	commentChangedResolver       struct{}
	notificationAddedResolver    struct{}
	postChangedResolver          struct{}
)

// OperationLoaders gives each operation loaders of its own; it is a graphql.OperationMiddleware.
func (r *Resolver) OperationLoaders(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	return next(loaders.Install(ctx, r.newLoaders(ctx, gate.ViewerOf(ctx))))
}

func (r *Resolver) newLoaders(ctx context.Context, viewer social.UserID) *loaders.Loaders {
	return r.loadersFor(viewer, showsPeople(ctx))
}

func (r *Resolver) loadersFor(viewer social.UserID, showsPeople bool) *loaders.Loaders {
	v := r.Social.Viewer(viewer)
	v.ShowsPeople = showsPeople
	return loaders.New(v, r.LoaderWait)
}
