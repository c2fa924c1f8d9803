package social

import (
	"context"
	"errors"
	"regexp"
	"slices"

	"plaza/fault"
)

// DefineProperty adds a property to all profiles. Errors: FORBIDDEN (without RightAdmin), INVALID, BLANK, TOO_LONG, TAKEN,
// LIMIT_REACHED.
func (s *Service) DefineProperty(ctx context.Context, viewer UserID, p Property) error {
	if err := s.RequireRight(ctx, viewer, RightAdmin); err != nil {
		return err
	}
	defined, err := s.store.Properties(ctx)
	if err != nil {
		return err
	}
	if err := fault.All(p.check(), unused(defined, p.Key)); err != nil {
		return err
	}
	if len(defined) >= MaxProperties {
		return fault.Errorf(fault.CodeLimitReached, "", "There are already %d properties, the maximum.", MaxProperties)
	}
	p.ID = PropertyID{s.newID()}
	err = s.store.InsertProperty(ctx, &p, s.event(EventPropertyDefined, viewer))
	if errors.Is(err, ErrTaken) {
		return keyTaken(p.Key)
	}
	return err
}

func unused(defined []*Property, key string) error {
	if slices.ContainsFunc(defined, func(p *Property) bool { return p.Key == key }) {
		return keyTaken(key)
	}
	return nil
}

func keyTaken(key string) error {
	return fault.Errorf(fault.CodeTaken, "key", "The property %s already exists.", key)
}

// PropertyChange holds the changes of a property; nil fields are not changed.
type PropertyChange struct {
	Label      *string
	Choices    []string
	Searchable *bool
	Visibility *Visibility
}

// UpdateProperty changes a property. Errors: FORBIDDEN (without RightAdmin), NOT_FOUND, INVALID, BLANK, TOO_LONG.
func (s *Service) UpdateProperty(ctx context.Context, viewer UserID, key string, change PropertyChange) error {
	if err := s.RequireRight(ctx, viewer, RightAdmin); err != nil {
		return err
	}
	p, err := s.property(ctx, key)
	if err != nil {
		return fault.All(err, change.checkLabel())
	}
	changed := *p
	change.apply(&changed)
	if err := changed.check(); err != nil {
		return err
	}
	return propertyError(s.store.UpdateProperty(ctx, &changed, s.event(EventPropertyUpdated, viewer)))
}

func (c PropertyChange) checkLabel() error {
	if c.Label == nil {
		return nil
	}
	return fault.CheckLine("label", *c.Label, 1, MaxPropertyLabel)
}

func (c PropertyChange) apply(p *Property) {
	if c.Label != nil {
		p.Label = *c.Label
	}
	if c.Choices != nil {
		p.Choices = c.Choices
	}
	if c.Searchable != nil {
		p.Searchable = *c.Searchable
	}
	if c.Visibility != nil {
		p.Visibility = *c.Visibility
	}
}

// RemoveProperty removes a property from all profiles, with its values. Errors: FORBIDDEN (without
// RightAdmin), NOT_FOUND.
func (s *Service) RemoveProperty(ctx context.Context, viewer UserID, key string) error {
	if err := s.RequireRight(ctx, viewer, RightAdmin); err != nil {
		return err
	}
	p, err := s.property(ctx, key)
	if err != nil {
		return err
	}
	return propertyError(s.store.DeleteProperty(ctx, p.ID, s.event(EventPropertyRemoved, viewer)))
}

// property reads a property by its key. Error: NOT_FOUND.
func (s *Service) property(ctx context.Context, key string) (*Property, error) {
	defined, err := s.store.Properties(ctx)
	if err != nil {
		return nil, err
	}
	return propertyOf(defined, "key", key)
}

func propertyOf(defined []*Property, field, key string) (*Property, error) {
	i := slices.IndexFunc(defined, func(p *Property) bool { return p.Key == key })
	if i < 0 {
		return nil, fault.NotFound(field, "property")
	}
	return defined[i], nil
}

func propertyError(err error) error {
	if errors.Is(err, ErrNotFound) {
		return fault.NotFound("key", "property")
	}
	return err
}

var propertyKeyPattern = regexp.MustCompile(`^[a-z][A-Za-z0-9_]{0,31}$`)

func (p *Property) check() error {
	var key error
	if !propertyKeyPattern.MatchString(p.Key) {
		key = fault.Invalidf("key", "A key has 1 to 32 letters (a–z), digits or underscores, and begins with a lower-case letter.")
	}
	return fault.All(key, fault.CheckLine("label", p.Label, 1, MaxPropertyLabel), p.checkChoices())
}

func (p *Property) checkChoices() error {
	switch {
	case p.Type != PropertyChoice && len(p.Choices) > 0:
		return fault.Invalidf("choices", "Only a CHOICE has choices.")
	case p.Type != PropertyChoice:
		return nil
	case len(p.Choices) == 0:
		return fault.Invalidf("choices", "A CHOICE needs choices.")
	case len(p.Choices) > MaxPropertyChoices:
		return fault.Errorf(fault.CodeTooLong, "choices", "At most %d choices are allowed.", MaxPropertyChoices)
	}
	for i, choice := range p.Choices {
		if err := fault.CheckLine("choices", choice, 1, MaxPropertyTextLen); err != nil {
			return err
		}
		if slices.Contains(p.Choices[:i], choice) {
			return fault.Invalidf("choices", "This choice is a duplicate.")
		}
	}
	return nil
}

// SetProfileValue sets a property of the viewer's profile. A visibility of "" keeps the current
// one; for a first value it is the property's. Errors: NOT_FOUND, INVALID, BLANK, TOO_LONG.
func (s *Service) SetProfileValue(ctx context.Context, viewer UserID, key string, given any, visibility Visibility) error {
	p, err := s.property(ctx, key)
	if err != nil {
		return err
	}
	value, err := p.Parse("value", given)
	if err != nil {
		return err
	}
	entry := ProfileValue{Property: p.ID, Visibility: visibility, Value: value, Sought: p.sought(value)}
	return propertyError(s.store.SetProfileValue(ctx, viewer, entry, s.event(EventProfileFilledIn, viewer)))
}

// ClearProfileValue clears a property of the viewer's profile; does nothing if it is not set.
// Error: NOT_FOUND.
func (s *Service) ClearProfileValue(ctx context.Context, viewer UserID, key string) error {
	p, err := s.property(ctx, key)
	if err != nil {
		return err
	}
	_, err = s.store.ClearProfileValue(ctx, viewer, p.ID, s.event(EventProfileFilledIn, viewer))
	return err
}
