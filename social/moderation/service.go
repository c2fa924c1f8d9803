package moderation

import (
	"context"

	"plaza/fault"
	"plaza/id"
	"plaza/social"
	"plaza/social/network"
)

// Service takes reports, and carries out what moderators decide.
type Service struct {
	store   social.Store
	network *network.Service
}

// New creates the service over a store, beside the network's.
func New(store social.Store, n *network.Service) *Service { return &Service{store, n} }

// mustModerate returns an error unless the viewer has the right now. Errors: FORBIDDEN,
// UNAUTHENTICATED.
func (s *Service) mustModerate(ctx context.Context, viewer social.UserID) error {
	return s.network.RequireRight(ctx, viewer, social.RightModerate)
}

// event creates an event without an actor: it does not reveal which moderator has decided.
func event(kind social.EventKind, post social.PostID, target social.UserID) social.Event {
	return social.Event{ID: social.EventID{ID: id.New()}, Kind: kind, Post: post, Target: target}
}

// one returns the object with that id, if the viewer sees it. Error: NOT_FOUND, naming the field.
func one[K comparable, V any](found map[K]*V, id K, field, kind string, err error) (*V, error) {
	if err == nil && found[id] == nil {
		err = fault.NotFound(field, kind)
	}
	return found[id], err
}
