package social

import (
	"slices"

	"plaza/fault"
)

// Sought is a client's search condition: Equals, or In, or one or both of AtLeast and AtMost.
type Sought struct {
	Key                     string
	Equals, AtLeast, AtMost any // as Property.Parse takes them
	In                      []any
}

// Condition validates the condition, of one of the defined properties. Errors: INVALID and
// NOT_FOUND, naming the field.
func (a *Sought) Condition(defined []*Property, field string) (PropertyCondition, error) {
	p, err := PropertyOf(defined, field+".key", a.Key)
	if err != nil {
		return PropertyCondition{}, err
	}
	if !p.Searchable {
		return PropertyCondition{}, fault.Invalidf(field+".key", "The property %s is not searchable.", p.Key)
	}
	c := PropertyCondition{Property: p.ID}
	switch {
	case a.Equals != nil && a.In == nil && a.AtLeast == nil && a.AtMost == nil:
		c.Intervals, err = p.points(field+".equals", []any{a.Equals})
	case a.In != nil && a.Equals == nil && a.AtLeast == nil && a.AtMost == nil:
		c.Intervals, err = p.points(field+".in", a.In)
	case a.Equals == nil && a.In == nil && (a.AtLeast != nil || a.AtMost != nil):
		c.Intervals, err = p.between(field, a.AtLeast, a.AtMost)
	default:
		err = fault.Invalidf(field, "Give equals, or in, or atLeast and atMost.")
	}
	return c, err
}

// points are the values of a list, ascending and without duplicates.
func (p *Property) points(field string, values []any) ([]Interval, error) {
	if len(values) == 0 || len(values) > MaxSoughtValues {
		return nil, fault.Invalidf(field, "The list must have 1 to %d values.", MaxSoughtValues)
	}
	points := make([]Interval, len(values))
	for i, given := range values {
		value, err := p.Parse(field, given)
		if err != nil {
			return nil, err
		}
		points[i] = Interval{p.Sought(value), p.Sought(value)}
	}
	slices.SortFunc(points, func(a, b Interval) int { return a.Min.Compare(b.Min) })
	return slices.Compact(points), nil
}

func (p *Property) between(field string, atLeast, atMost any) ([]Interval, error) {
	in := p.all()
	for _, end := range []struct {
		name  string
		given any
		to    *PropertyValue
	}{{"atLeast", atLeast, &in.Min}, {"atMost", atMost, &in.Max}} {
		if end.given == nil {
			continue
		}
		if !p.hasOrder() {
			return nil, fault.Invalidf(field+"."+end.name, "%s has no order: use equals or in.", p.Key)
		}
		var err error
		if *end.to, err = p.Parse(field+"."+end.name, end.given); err != nil {
			return nil, err
		}
	}
	if in.Min.Compare(in.Max) > 0 {
		return nil, fault.Invalidf(field, "atLeast must not be above atMost.")
	}
	return []Interval{in}, nil
}
