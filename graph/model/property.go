package model

import "plaza/social"

// ProfileProperty is the schema's ProfileProperty.
type ProfileProperty struct{ *social.Property }

// DefaultVisibility is the visibility of values that do not say.
func (p *ProfileProperty) DefaultVisibility() social.Visibility { return p.Visibility }

// Choices are never null.
func (p *ProfileProperty) Choices() []string { return append([]string{}, p.Property.Choices...) }

// UserProperty is the schema's UserProperty.
type UserProperty struct{ social.ShownValue }

// Property is what it is a value of.
func (p *UserProperty) Property() *ProfileProperty { return &ProfileProperty{p.ShownValue.Property} }
