package resolvers

import (
	"context"

	"plaza/graph/model"
	"plaza/graph/relay"
	"plaza/loaders"
	"plaza/social"
)

// Members resolves Circle.members.
func (r circleResolver) Members(ctx context.Context, obj *model.Circle, first *int, after *string, last *int, before *string) (*model.UserConnection, error) {
	members := relay.ListOf(edgeCursors("members", obj.ID.String()), pagesOf(loaders.For(ctx).Members, obj.ID))
	return connectUsers(ctx, members, relay.ArgsOf(first, after, last, before), to)
}

// CreateCircle resolves Mutation.createCircle.
func (r mutationResolver) CreateCircle(ctx context.Context, input model.CreateCircleInput) (*model.CreateCirclePayload, error) {
	payload := &model.CreateCirclePayload{}
	mistakes, err := r.mutate(ctx, func(viewer social.UserID) error {
		circle, err := r.Social.CreateCircle(ctx, viewer, input.Name)
		if err == nil {
			payload.Circle = wrapCircle(circle)
			payload.Edge = &model.CircleEdge{Cursor: circleCursors(viewer).Encode(social.Key(circle.ID.Bytes())), Node: payload.Circle}
		}
		return err
	})
	payload.UserErrors = mistakes
	return payload, err
}

// circleCursors are the cursors of an owner's list of circles.
func circleCursors(owner social.UserID) relay.Cursors {
	return relay.CursorsOf(relay.KindCircle, "circles", owner.String())
}

// RenameCircle resolves Mutation.renameCircle.
func (r mutationResolver) RenameCircle(ctx context.Context, input model.RenameCircleInput) (*model.RenameCirclePayload, error) {
	circle, mistakes, err := circles.change(ctx, r, input.CircleID, with(r.Social.RenameCircle, input.Name), social.CheckCircleName(input.Name))
	return &model.RenameCirclePayload{Circle: circle, UserErrors: mistakes}, err
}

// DeleteCircle resolves Mutation.deleteCircle.
func (r mutationResolver) DeleteCircle(ctx context.Context, input model.DeleteCircleInput) (*model.DeleteCirclePayload, error) {
	deleted, mistakes, err := circles.remove(ctx, r, input.CircleID, r.Social.DeleteCircle)
	return &model.DeleteCirclePayload{DeletedCircleID: deleted, UserErrors: mistakes}, err
}

// AddToCircle resolves Mutation.addToCircle.
func (r mutationResolver) AddToCircle(ctx context.Context, input model.AddToCircleInput) (*model.AddToCirclePayload, error) {
	circle, user, mistakes, err := r.changeMember(ctx, input.CircleID, input.UserID, r.Social.AddToCircle)
	return &model.AddToCirclePayload{Circle: circle, User: user, Viewer: changedViewer(ctx, mistakes), UserErrors: mistakes}, err
}

// RemoveFromCircle resolves Mutation.removeFromCircle.
func (r mutationResolver) RemoveFromCircle(ctx context.Context, input model.RemoveFromCircleInput) (*model.RemoveFromCirclePayload, error) {
	circle, user, mistakes, err := r.changeMember(ctx, input.CircleID, input.UserID, r.Social.RemoveFromCircle)
	return &model.RemoveFromCirclePayload{Circle: circle, User: user, Viewer: changedViewer(ctx, mistakes), UserErrors: mistakes}, err
}

type memberChange func(ctx context.Context, viewer social.UserID, circle social.CircleID, member social.UserID) error

// changeMember adds or removes a member of a circle, and reads both again.
func (r mutationResolver) changeMember(ctx context.Context, circleText, userText string, change memberChange) (*model.Circle, *model.User, []*model.UserError, error) {
	member, malformed := relay.UserID("userId", userText)
	circle, mistakes, err := circles.change(ctx, r, circleText, func(ctx context.Context, viewer social.UserID, circle social.CircleID) error {
		return change(ctx, viewer, circle, member)
	}, malformed)
	if err != nil || len(mistakes) > 0 {
		return nil, nil, mistakes, err
	}
	user, err := loadUser(ctx, member)
	return circle, user, mistakes, err
}
