package social

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"unicode/utf8"

	"plaza/id"
)

// ProfileValue is a value on somebody's profile.
type ProfileValue struct {
	Property   PropertyID
	Visibility Visibility
	Value      PropertyValue // as it was given
	Sought     PropertyValue // what searches compare: a text's NameKey, else the value itself
}

// Profile is all that somebody has filled in, in no order.
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

// Interval is a range of values, with both its ends.
type Interval struct{ Min, Max PropertyValue }

// PropertyCondition holds for profiles whose value of the property lies in one of the intervals: one, or several points that
// ascend.
type PropertyCondition struct {
	Property  PropertyID
	Intervals []Interval
}

// Holds says whether a value is sought.
func (c *PropertyCondition) Holds(sought PropertyValue) bool {
	return slices.ContainsFunc(c.Intervals, func(in Interval) bool {
		return in.Min.Compare(sought) <= 0 && sought.Compare(in.Max) <= 0
	})
}

// ProfilePoint is where a profile stands among those that are found: they are ordered by the value, then by the user.
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

// Properties stores which properties profiles have, and their values.
type Properties interface {
	// InsertProperty stores a definition and the event. ErrTaken: another one has the key.
	InsertProperty(ctx context.Context, p *Property, e Event) error
	// UpdateProperty stores a definition's label, choices, searchability and visibility, and the event. ErrNotFound.
	UpdateProperty(ctx context.Context, p *Property, e Event) error
	// DeleteProperty removes a definition, with the event; its values go in the background. ErrNotFound.
	DeleteProperty(ctx context.Context, id PropertyID, e Event) error
	// Properties lists all definitions, oldest first.
	Properties(ctx context.Context) ([]*Property, error)

	// SetProfileValue stores a value in place of the user's value of that property, and the event. A visibility of "" is that of the
	// value in whose place it comes, or else the property's. ErrNotFound: no such property.
	SetProfileValue(ctx context.Context, user UserID, v ProfileValue, e Event) error
	// ClearProfileValue removes the user's value of that property, and stores the event. False, and no event: there was none.
	ClearProfileValue(ctx context.Context, user UserID, property PropertyID, e Event) (bool, error)
	// Profiles reads by user; users who have filled nothing in are missing in the map.
	Profiles(ctx context.Context, users []UserID) (map[UserID]*Profile, error)
	// FindProfiles lists the profiles on which all conditions (at least one) hold for PUBLIC values, ordered by the value of
	// the first condition's property, then by user: those behind after (nil: from the start), at most limit. No other
	// value has a part in the answer, or in how long it takes.
	FindProfiles(ctx context.Context, where []PropertyCondition, after *ProfilePoint, limit int) ([]*Profile, error)
	// FindProfilesOf lists, in no order, those of the users' profiles on which all conditions hold for PUBLIC and CIRCLES values.
	FindProfilesOf(ctx context.Context, users []UserID, where []PropertyCondition) ([]*Profile, error)
}

// key is the point as a list's key: n and the 8 bytes of a number, or t, two bytes of length and a text; then the user.
func (p ProfilePoint) key() Key {
	var raw []byte
	if p.Value.IsNumber {
		raw = binary.BigEndian.AppendUint64([]byte{'n'}, math.Float64bits(p.Value.Number))
	} else {
		raw = binary.BigEndian.AppendUint16([]byte{'t'}, uint16(len(p.Value.Text)))
		raw = append(raw, p.Value.Text...)
	}
	return Key(append(raw, p.User.Bytes()...))
}

// ParseProfilePoint reads a key of a list of profiles; false where it is none.
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
