package resolvers

import (
	"context"

	"plaza/fault"
	"plaza/graph/model"
	"plaza/graph/relay"
	"plaza/loaders"
	"plaza/resolvers/gate"
	"plaza/resolvers/presenter"
	"plaza/social"
)

// mutate makes one change for the signed-in viewer: input errors become userErrors, and the payload
// reads everything again.
func (r *Resolver) mutate(ctx context.Context, change func(viewer social.UserID) error) ([]*model.UserError, error) {
	viewer, err := gate.SignedIn(ctx)
	if err != nil {
		return nil, err
	}
	mistakes, err := presenter.UserErrors(ctx, change(viewer))
	loaders.Renew(ctx, r.newLoaders(ctx, viewer))
	return mistakes, err
}

// noun is a type of objects that mutations change.
type noun[ID any, T comparable] struct {
	name     string
	argument string // the mutation input's field with the id
	parse    func(argument, text string) (ID, error)
	load     func(context.Context, ID) (T, error) // as the viewer may see it; zero if there is none
}

var (
	users    = noun[social.UserID, *model.User]{"user", "userId", relay.UserID, loadUser}
	circles  = noun[social.CircleID, *model.Circle]{"circle", "circleId", relay.CircleID, loadCircle}
	posts    = noun[social.PostID, model.Post]{"post", "postId", relay.PostID, loadPost}
	comments = noun[social.CommentID, *model.Comment]{"comment", "commentId", relay.CommentID, loadComment}
)

// write creates or changes an object, and then reads it.
func (n noun[ID, T]) write(ctx context.Context, r mutationResolver, do func(viewer social.UserID) (ID, error)) (written T, mistakes []*model.UserError, err error) {
	var id ID
	mistakes, err = r.mutate(ctx, func(viewer social.UserID) (err error) {
		id, err = do(viewer)
		return err
	})
	if err != nil || len(mistakes) > 0 {
		return written, mistakes, err
	}
	written, err = n.load(ctx, id)
	return written, mistakes, err
}

type change[ID any] func(ctx context.Context, viewer social.UserID, id ID) error

// with returns the change that a call of the domain makes with one more argument.
func with[ID, A any](do func(ctx context.Context, viewer social.UserID, id ID, argument A) error, argument A) change[ID] {
	return func(ctx context.Context, viewer social.UserID, id ID) error { return do(ctx, viewer, id, argument) }
}

// rewrite is with, for calls that also return the object.
func rewrite[ID, A, T any](do func(ctx context.Context, viewer social.UserID, id ID, argument A) (T, error), argument A) change[ID] {
	return func(ctx context.Context, viewer social.UserID, id ID) error {
		_, err := do(ctx, viewer, id, argument)
		return err
	}
}

// change changes the object with an id, and then reads it again. wrong holds the errors of the rest
// of the input: if it is not nil, nothing is changed, and it is returned together with the errors
// of the id.
func (n noun[ID, T]) change(ctx context.Context, r mutationResolver, text string, do change[ID], wrong ...error) (T, []*model.UserError, error) {
	return n.write(ctx, r, func(viewer social.UserID) (ID, error) {
		id, err := n.parse(n.argument, text)
		mistakes := fault.All(wrong...)
		switch {
		case err != nil:
			return id, fault.All(err, mistakes)
		case mistakes != nil:
			return id, fault.All(n.mustExist(ctx, id), mistakes)
		}
		return id, do(ctx, viewer, id)
	})
}

// mustExist checks that the viewer may see the object with an id. Error: NOT_FOUND.
func (n noun[ID, T]) mustExist(ctx context.Context, id ID) error {
	var none T
	thing, err := n.load(ctx, id)
	if err == nil && thing == none {
		err = fault.NotFound(n.argument, n.name)
	}
	return err
}

// remove deletes the object with an id, and returns that id.
func (n noun[ID, T]) remove(ctx context.Context, r mutationResolver, text string, do change[ID]) (*string, []*model.UserError, error) {
	removed := func(context.Context, ID) (*string, error) { return &text, nil }
	return noun[ID, *string]{n.name, n.argument, n.parse, removed}.change(ctx, r, text, do)
}

// changedViewer returns the viewer after a mutation, or nil if there were errors.
func changedViewer(ctx context.Context, mistakes []*model.UserError) *model.Viewer {
	return presenter.Unless(mistakes, model.Viewer{UserID: loaders.For(ctx).Viewer.ID})
}
