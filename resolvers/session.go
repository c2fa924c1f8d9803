package resolvers

import (
	"context"

	"plaza/graph/model"
	"plaza/graph/relay"
	"plaza/resolvers/gate"
	"plaza/resolvers/presenter"
	"plaza/social"
)

// Sessions resolves Viewer.sessions.
func (r viewerResolver) Sessions(ctx context.Context, obj *model.Viewer) ([]*model.Session, error) {
	sessions, err := r.Social.Sessions(ctx, obj.UserID)
	if err != nil {
		return nil, err
	}
	current := obj.NewHash
	if current == [32]byte{} {
		current = gate.SessionOf(ctx).TokenHash
	}
	found := make([]*model.Session, len(sessions))
	for i, s := range sessions {
		found[i] = &model.Session{ID: s.ID().String(), CreatedAt: s.Began(), LastUsedAt: s.LastUse(), ExpiresAt: s.ExpiresAt, IsCurrent: s.TokenHash == current}
	}
	return found, nil
}

// sessionsByID finds the viewer's own sign-ins.
func (r *Resolver) sessionsByID(ctx context.Context, ids []social.SessionID) (map[social.SessionID]*model.Session, error) {
	return ownByID(ctx, ids, viewerResolver{r}.Sessions, func(found *model.Session) string { return found.ID })
}

// RevokeSession resolves Mutation.revokeSession.
func (r mutationResolver) RevokeSession(ctx context.Context, input model.RevokeSessionInput) (*model.RevokeSessionPayload, error) {
	current := gate.SessionOf(ctx)
	var ended social.Session
	mistakes, err := r.mutate(ctx, func(viewer social.UserID) error {
		which, err := relay.SessionID("sessionId", input.SessionID)
		if err != nil {
			return err
		}
		ended, err = r.Social.RevokeSession(ctx, viewer, which)
		return err
	})
	if err != nil || len(mistakes) > 0 {
		return &model.RevokeSessionPayload{UserErrors: mistakes}, err
	}
	revoked := ended.ID().String()
	if ended.TokenHash == current.TokenHash {
		r.leave(ctx, current)
		return &model.RevokeSessionPayload{RevokedSessionID: &revoked, UserErrors: mistakes}, nil
	}
	r.Hub.EndSession(ended.TokenHash)
	return &model.RevokeSessionPayload{RevokedSessionID: &revoked, Viewer: &model.Viewer{UserID: current.User}, UserErrors: mistakes}, nil
}

// RevokeOtherSessions resolves Mutation.revokeOtherSessions.
func (r mutationResolver) RevokeOtherSessions(ctx context.Context) (*model.RevokeOtherSessionsPayload, error) {
	session := gate.SessionOf(ctx)
	mistakes, err := r.mutate(ctx, func(social.UserID) error { return r.Social.RevokeOtherSessions(ctx, session) })
	if err != nil {
		return &model.RevokeOtherSessionsPayload{UserErrors: mistakes}, err
	}
	r.Hub.EndOldSessions(ctx, session.User)
	return &model.RevokeOtherSessionsPayload{Viewer: presenter.Unless(mistakes, model.Viewer{UserID: session.User}), UserErrors: mistakes}, nil
}
