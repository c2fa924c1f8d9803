package social

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"unicode/utf8"

	"plaza/id"
)

// ProfileValue is a value on a user's profile.
type ProfileValue struct {
	Property   PropertyID
	Visibility Visibility
	Value      PropertyValue // as the user gave it
	Sought     PropertyValue // the form that searches compare: a text's NameKey, otherwise the value itself
}

// Profile holds all values that a user has set, in no order.
type Profile struct {
	User   UserID
	Values []ProfileValue
}

// Value finds the value of a property.
func (p *Profile) Value(id PropertyID) (ProfileValue, bool) {
	i := slices.IndexFunc(p.Values, func(v ProfileValue) bool { return v.Property == id })
	if i < 0 {
		return ProfileValue{}, false
	}
	return p.Values[i], true
}

// Interval is a range of values, including both ends.
type Interval struct{ Min, Max PropertyValue }

// PropertyCondition matches profiles whose value of the property is within one of the intervals:
// either one interval, or several points in ascending order.
type PropertyCondition struct {
	Property  PropertyID
	Intervals []Interval
}

// Holds reports whether the condition matches a value.
func (c *PropertyCondition) Holds(sought PropertyValue) bool {
	return slices.ContainsFunc(c.Intervals, func(in Interval) bool {
		return in.Min.Compare(sought) <= 0 && sought.Compare(in.Max) <= 0
	})
}

// ProfilePoint is a profile's position in search results: they are ordered by the value, then by
// the user.
type ProfilePoint struct {
	Value PropertyValue
	User  UserID
}

// Compare orders points.
func (p ProfilePoint) Compare(q ProfilePoint) int {
	if c := p.Value.Compare(q.Value); c != 0 {
		return c
	}
	return p.User.Compare(q.User.ID)
}

// Properties stores the definitions of profile properties, and users' values.
type Properties interface {
	// InsertProperty stores a definition and the event. ErrTaken: another one has the key.
	InsertProperty(ctx context.Context, p *Property, e Event) error
	// UpdateProperty stores a definition's label, choices, searchability and visibility, and the
	// event. ErrNotFound.
	UpdateProperty(ctx context.Context, p *Property, e Event) error
	// DeleteProperty removes a definition, with the event; its values are removed in the
	// background. ErrNotFound.
	DeleteProperty(ctx context.Context, id PropertyID, e Event) error
	// Properties lists all definitions, oldest first.
	Properties(ctx context.Context) ([]*Property, error)

	// SetProfileValue stores a value, replacing the user's value of that property, and the event. A
	// visibility of "" keeps that of the replaced value, or else uses the property's. ErrNotFound:
	// no such property.
	SetProfileValue(ctx context.Context, user UserID, v ProfileValue, e Event) error
	// ClearProfileValue removes the user's value of that property, and stores the event. False, and
	// no event: there was none.
	ClearProfileValue(ctx context.Context, user UserID, property PropertyID, e Event) (bool, error)
	// Profiles reads by user; users who have set nothing are missing in the map.
	Profiles(ctx context.Context, users []UserID) (map[UserID]*Profile, error)
	// FindProfiles lists the profiles whose PUBLIC values match all conditions (at least one),
	// ordered by the value of the first condition's property, then by user: those after the point
	// after (nil: from the start), at most limit. Other values affect neither the result nor its
	// timing.
	FindProfiles(ctx context.Context, where []PropertyCondition, after *ProfilePoint, limit int) ([]*Profile, error)
	// FindProfilesOf lists, in no order, those of the users' profiles whose PUBLIC and CIRCLES
	// values match all conditions.
	FindProfilesOf(ctx context.Context, users []UserID, where []PropertyCondition) ([]*Profile, error)
}

// Key returns the point as a list's key: n and the 8 bytes of a number, or t, two bytes of length
// and a text; then the user.
func (p ProfilePoint) Key() Key {
	var raw []byte
	if p.Value.IsNumber {
		raw = binary.BigEndian.AppendUint64([]byte{'n'}, math.Float64bits(p.Value.Number))
	} else {
		raw = binary.BigEndian.AppendUint16([]byte{'t'}, uint16(len(p.Value.Text)))
		raw = append(raw, p.Value.Text...)
	}
	return Key(append(raw, p.User.Bytes()...))
}

// ParseProfilePoint reads a key of a list of profiles; false if it is not one.
func ParseProfilePoint(k Key) (ProfilePoint, bool) {
	var p ProfilePoint
	rest := []byte(k)
	switch {
	case len(rest) > 8 && rest[0] == 'n':
		p.Value = PropertyValue{IsNumber: true, Number: math.Float64frombits(binary.BigEndian.Uint64(rest[1:]))}
		rest = rest[9:]
	case len(rest) > 2 && rest[0] == 't':
		end := 3 + int(binary.BigEndian.Uint16(rest[1:]))
		if len(rest) < end || !utf8.Valid(rest[3:end]) {
			return p, false
		}
		p.Value.Text, rest = string(rest[3:end]), rest[end:]
	default:
		return p, false
	}
	user, err := id.FromBytes(rest)
	p.User = UserID{user}
	return p, err == nil && !math.IsNaN(p.Value.Number)
}

// ShownValue is a value of a profile that a viewer sees.
type ShownValue struct {
	*Property

	Value      any // as Property.Show gives it
	Visibility Visibility
}
