package resolvers

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"plaza/fault"
	"plaza/graph/model"
	"plaza/loaders"
	"plaza/social"
	"plaza/social/network"
)

const maxNodes = 100

// Viewer resolves Query.viewer.
func (r queryResolver) Viewer(ctx context.Context) (*model.Viewer, error) {
	if viewerOf(ctx).IsZero() {
		return nil, nil // null: signed out
	}
	return &model.Viewer{UserID: viewerOf(ctx)}, nil
}

// Registration resolves Query.registration.
func (r queryResolver) Registration(context.Context) (model.Registration, error) {
	if r.Social.AcceptsSignUps() {
		return model.RegistrationOpen, nil
	}
	return model.RegistrationClosed, nil
}

// User resolves Query.user.
func (r queryResolver) User(ctx context.Context, handle string) (*model.User, error) {
	user, err := loaders.For(ctx).Viewer.UserByHandle(ctx, handle)
	if err != nil {
		return nil, err
	}
	return &model.User{User: user}, nil
}

// Post resolves Query.post.
func (r queryResolver) Post(ctx context.Context, id string) (model.Post, error) {
	parsed, err := postID("id", id)
	if err != nil {
		return nil, err
	}
	post, err := loadPost(ctx, parsed)
	if err == nil && post == nil {
		err = fault.NotFound("id", "post")
	}
	return post, err
}

// Node resolves Query.node.
func (r queryResolver) Node(ctx context.Context, id string) (model.Node, error) {
	node, err := loadNode(ctx, "id", id)
	if err == nil && node == nil {
		err = fault.NotFound("id", "thing")
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
		id, err := userID(field, text)
		return nodeOf(ctx, id, err, loaders.For(ctx).Users, wrapUser)
	case social.CirclePrefix:
		id, err := circleID(field, text)
		return nodeOf(ctx, id, err, loaders.For(ctx).Circles, wrapCircle)
	case social.PostPrefix:
		id, err := postID(field, text)
		return nodeOf(ctx, id, err, loaders.For(ctx).Posts, func(p *social.Post) model.Node { return model.NewPost(loaders.For(ctx).Viewer, p) })
	case social.CommentPrefix:
		id, err := commentID(field, text)
		return nodeOf(ctx, id, err, loaders.For(ctx).Comments, func(c *social.Comment) model.Node { return wrapComment(ctx, c) })
	case social.NotificationPrefix:
		id, err := notificationID(field, text)
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

func wrapUser(u *social.User) model.Node     { return &model.User{User: u} }
func wrapCircle(c *social.Circle) model.Node { return &model.Circle{Circle: c} }

// onePassword rejects operations that would hash several passwords: hashing is expensive, and would
// allow several guesses.
func onePassword(ctx context.Context) error {
	op := graphql.GetOperationContext(ctx)
	hashes := 0
	for _, field := range graphql.CollectFields(op, op.Operation.SelectionSet, []string{"Mutation"}) {
		if field.Name == "signUp" || field.Name == "signIn" || field.Name == "changePassword" || field.Name == "deleteAccount" {
			hashes++
		}
	}
	if hashes > 1 {
		return fault.Invalidf("", "An operation may contain only one password.")
	}
	return nil
}

// SignUp resolves Mutation.signUp.
func (r mutationResolver) SignUp(ctx context.Context, input model.SignUpInput) (*model.SignUpPayload, error) {
	if err := onePassword(ctx); err != nil {
		return nil, err
	}
	session, token, err := r.Social.SignUp(ctx, network.SignUpInput{Handle: input.Handle, Name: input.Name, Password: input.Password, From: r.ClientOf(ctx)})
	payload, err := r.enter(ctx, session, token, err)
	return (*model.SignUpPayload)(payload), err
}

// SignIn resolves Mutation.signIn.
func (r mutationResolver) SignIn(ctx context.Context, input model.SignInInput) (*model.SignInPayload, error) {
	if err := onePassword(ctx); err != nil {
		return nil, err
	}
	session, token, err := r.Social.SignIn(ctx, network.Credentials{Handle: input.Handle, Password: input.Password, From: r.ClientOf(ctx)})
	return r.enter(ctx, session, token, err)
}

// enter returns the payload of a new session, read for its user.
func (r mutationResolver) enter(ctx context.Context, session social.Session, token string, err error) (*model.SignInPayload, error) {
	mistakes, err := userErrors(ctx, err)
	if err != nil || len(mistakes) > 0 {
		return &model.SignInPayload{UserErrors: mistakes}, err
	}
	loaders.Renew(ctx, r.newLoaders(ctx, session.User))
	return &model.SignInPayload{Token: &token, ExpiresAt: &session.ExpiresAt, Viewer: &model.Viewer{UserID: session.User}, UserErrors: mistakes}, nil
}

// SignOut resolves Mutation.signOut.
func (r mutationResolver) SignOut(ctx context.Context) (*model.SignOutPayload, error) {
	session := sessionOf(ctx)
	mistakes, err := r.mutate(ctx, func(social.UserID) error { return r.Social.SignOut(ctx, session) })
	if err == nil {
		r.leave(ctx, session)
	}
	return &model.SignOutPayload{UserErrors: mistakes}, err
}

// leave signs the rest of an operation out after its session was ended.
func (r mutationResolver) leave(ctx context.Context, session social.Session) {
	r.Hub.EndSession(session.TokenHash)
	forgetSession(ctx)
	loaders.Renew(ctx, r.newLoaders(ctx, social.UserID{}))
}

// ChangePassword resolves Mutation.changePassword.
func (r mutationResolver) ChangePassword(ctx context.Context, input model.ChangePasswordInput) (*model.ChangePasswordPayload, error) {
	if err := onePassword(ctx); err != nil {
		return nil, err
	}
	session := sessionOf(ctx)
	mistakes, err := r.mutate(ctx, func(social.UserID) error {
		return r.Social.ChangePassword(ctx, session, input.CurrentPassword, input.NewPassword)
	})
	return &model.ChangePasswordPayload{Viewer: unless(mistakes, model.Viewer{UserID: session.User}), UserErrors: mistakes}, err
}

// DeleteAccount resolves Mutation.deleteAccount.
func (r mutationResolver) DeleteAccount(ctx context.Context, input model.DeleteAccountInput) (*model.DeleteAccountPayload, error) {
	if err := onePassword(ctx); err != nil {
		return nil, err
	}
	session := sessionOf(ctx)
	mistakes, err := r.mutate(ctx, func(viewer social.UserID) error {
		return r.Social.DeleteAccount(ctx, viewer, input.Password)
	})
	if err != nil || len(mistakes) > 0 {
		return &model.DeleteAccountPayload{UserErrors: mistakes}, err
	}
	if err := r.Ads.Forget(ctx, session.User.String()); err != nil {
		r.Logger.WarnContext(ctx, "an ad profile could not be deleted and remains until it expires", "error", err)
	}
	r.leave(ctx, session)
	return &model.DeleteAccountPayload{DeletedUserID: unless(mistakes, session.User.String()), UserErrors: mistakes}, nil
}
