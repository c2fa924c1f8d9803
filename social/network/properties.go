package network

import (
	"context"
	"errors"
	"slices"

	"plaza/fault"
	"plaza/social"
)

// DefineProperty adds a property to all profiles. Errors: FORBIDDEN (without RightAdmin), INVALID,
// BLANK, TOO_LONG, TAKEN, LIMIT_REACHED.
func (s *Service) DefineProperty(ctx context.Context, viewer social.UserID, p social.Property) error {
	if err := s.RequireRight(ctx, viewer, social.RightAdmin); err != nil {
		return err
	}
	defined, err := s.store.Properties(ctx)
	if err != nil {
		return err
	}
	if err := fault.All(p.Check(), unused(defined, p.Key)); err != nil {
		return err
	}
	if len(defined) >= social.MaxProperties {
		return fault.Errorf(fault.CodeLimitReached, "", "There are already %d properties, the maximum.", social.MaxProperties)
	}
	p.ID = social.PropertyID{ID: s.newID()}
	err = s.store.InsertProperty(ctx, &p, s.event(social.EventPropertyDefined, viewer))
	if errors.Is(err, social.ErrTaken) {
		return keyTaken(p.Key)
	}
	return err
}

func unused(defined []*social.Property, key string) error {
	if slices.ContainsFunc(defined, func(p *social.Property) bool { return p.Key == key }) {
		return keyTaken(key)
	}
	return nil
}

func keyTaken(key string) error {
	return fault.Errorf(fault.CodeTaken, "key", "The property %s already exists.", key)
}

// UpdateProperty changes a property. Errors: FORBIDDEN (without RightAdmin), NOT_FOUND, INVALID,
// BLANK, TOO_LONG.
func (s *Service) UpdateProperty(ctx context.Context, viewer social.UserID, key string, change social.PropertyChange) error {
	if err := s.RequireRight(ctx, viewer, social.RightAdmin); err != nil {
		return err
	}
	p, err := s.property(ctx, key)
	if err != nil {
		return fault.All(err, change.CheckLabel())
	}
	changed := *p
	change.Apply(&changed)
	if err := changed.Check(); err != nil {
		return err
	}
	return propertyError(s.store.UpdateProperty(ctx, &changed, s.event(social.EventPropertyUpdated, viewer)))
}

// RemoveProperty removes a property from all profiles, with its values. Errors: FORBIDDEN (without
// RightAdmin), NOT_FOUND.
func (s *Service) RemoveProperty(ctx context.Context, viewer social.UserID, key string) error {
	if err := s.RequireRight(ctx, viewer, social.RightAdmin); err != nil {
		return err
	}
	p, err := s.property(ctx, key)
	if err != nil {
		return err
	}
	return propertyError(s.store.DeleteProperty(ctx, p.ID, s.event(social.EventPropertyRemoved, viewer)))
}

// property reads a property by its key. Error: NOT_FOUND.
func (s *Service) property(ctx context.Context, key string) (*social.Property, error) {
	defined, err := s.store.Properties(ctx)
	if err != nil {
		return nil, err
	}
	return social.PropertyOf(defined, "key", key)
}

func propertyError(err error) error {
	if errors.Is(err, social.ErrNotFound) {
		return fault.NotFound("key", "property")
	}
	return err
}

// SetProfileValue sets a property of the viewer's profile. A visibility of "" keeps the current
// one; for a first value it is the property's. Errors: NOT_FOUND, INVALID, BLANK, TOO_LONG.
func (s *Service) SetProfileValue(ctx context.Context, viewer social.UserID, key string, given any, visibility social.Visibility) error {
	p, err := s.property(ctx, key)
	if err != nil {
		return err
	}
	value, err := p.Parse("value", given)
	if err != nil {
		return err
	}
	entry := social.ProfileValue{Property: p.ID, Visibility: visibility, Value: value, Sought: p.Sought(value)}
	return propertyError(s.store.SetProfileValue(ctx, viewer, entry, s.event(social.EventProfileFilledIn, viewer)))
}

// ClearProfileValue clears a property of the viewer's profile; does nothing if it is not set.
// Error: NOT_FOUND.
func (s *Service) ClearProfileValue(ctx context.Context, viewer social.UserID, key string) error {
	p, err := s.property(ctx, key)
	if err != nil {
		return err
	}
	_, err = s.store.ClearProfileValue(ctx, viewer, p.ID, s.event(social.EventProfileFilledIn, viewer))
	return err
}
