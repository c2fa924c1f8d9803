package gate

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"plaza/fault"
	"plaza/resolvers/presenter"
	"plaza/social"
)

// OncePerKey runs a mutation with extensions.idempotencyKey at most once for each user and key, and
// answers all requests with that key alike; it is a graphql.OperationMiddleware. Other operations
// ignore the key, and so do those that need no user.
func (g *Gate) OncePerKey(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	op := graphql.GetOperationContext(ctx)
	key, hasKey := op.Extensions["idempotencyKey"].(string)
	if !hasKey || op.Operation.Operation != ast.Mutation || !slices.ContainsFunc(rootFields(op), needsUser) {
		return next(ctx)
	}
	response, err := g.once(ctx, key, next)
	if err != nil {
		return g.Errors.Refuse(ctx, err)
	}
	return graphql.OneShot(response)
}

func (g *Gate) once(ctx context.Context, key string, next graphql.OperationHandler) (*graphql.Response, error) {
	op := graphql.GetOperationContext(ctx)
	for _, field := range rootFields(op) {
		if slices.Contains(SignedOut, field.Name) {
			return nil, fault.Invalidf("", "%s takes no idempotency key: send it in a separate request.", field.Name)
		}
	}
	user, err := SignedIn(ctx)
	if err != nil {
		return nil, err
	}
	fingerprint, err := g.fingerprintOf(ctx, user, key)
	if err != nil {
		return nil, err
	}
	answer, err := g.Social.Once(ctx, user, key, fingerprint, func(ctx context.Context) ([]byte, bool) {
		response := next(ctx)(ctx)
		answer, err := json.Marshal(response)
		if err != nil {
			panic(err) // it holds JSON and texts
		}
		return answer, isFinal(response) && !slices.ContainsFunc(rootFields(op), isSecret)
	})
	if err != nil {
		return nil, err
	}
	var response graphql.Response
	err = json.Unmarshal(answer, &response)
	return &response, err
}

// countedOnce are the mutations that need no session and have an effect only once, for each token.
var countedOnce = []string{"recordAdImpression", "recordAdConversion"}

func needsUser(field graphql.CollectedField) bool {
	return !slices.Contains(SignedOut, field.Name) && !slices.Contains(countedOnce, field.Name)
}

// isSecret reports whether a field's answer holds a token or a code, which is never stored.
func isSecret(field graphql.CollectedField) bool {
	return field.Name == "createAccessToken" || field.Name == "createInvitation"
}

// fingerprintOf returns the same hash for a user's requests with the same key, operation and
// variables. It is stored, so it must not be a faster way to guess a password than the password's
// own hash. Errors: RATE_LIMITED; ctx's.
func (g *Gate) fingerprintOf(ctx context.Context, user social.UserID, key string) ([sha256.Size]byte, error) {
	op := graphql.GetOperationContext(ctx)
	text, err := json.Marshal([]any{op.RawQuery, op.OperationName, op.Variables})
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	fingerprint := sha256.Sum256(text)
	if mayHoldPassword(op.RawQuery) {
		return g.Social.SlowFingerprint(ctx, user, key, fingerprint)
	}
	return fingerprint, nil
}

// isFinal reports whether the same operation would fail again, or has succeeded.
func isFinal(response *graphql.Response) bool {
	return !slices.ContainsFunc(response.Errors, func(err *gqlerror.Error) bool {
		code, _ := err.Extensions["code"].(string)
		return presenter.IsPassing(code)
	})
}
