package social

import (
	"context"
	"slices"
	"strconv"

	"plaza/fault"
)

// maxHolders limits the search of values visible to circles: it covers the newest users who have
// the searcher in their circles. The limit exceeds nearly everyone's number, and is small enough to
// check for each page.
const maxHolders = 10_000

// Sought is a client's search condition: Equals, or In, or one or both of AtLeast and AtMost.
type Sought struct {
	Key                     string
	Equals, AtLeast, AtMost any // as Property.Parse takes them
	In                      []any
}

// ShownValue is a value of a profile that a viewer sees.
type ShownValue struct {
	*Property

	Value      any // as Property.Show gives it
	Visibility Visibility
}

// Properties lists the profile properties.
func (v *Viewer) Properties(ctx context.Context) ([]*Property, error) {
	return v.s.store.Properties(ctx)
}

// ProfileValues reads the values that users have set and the viewer may see, in the order of the
// properties.
func (v *Viewer) ProfileValues(ctx context.Context, users []UserID) (map[UserID][]ShownValue, error) {
	relations, err := v.Relations(ctx, users)
	if err != nil {
		return nil, err
	}
	profiles, err := v.s.store.Profiles(ctx, users)
	if err != nil {
		return nil, err
	}
	defined, err := v.s.store.Properties(ctx)
	if err != nil {
		return nil, err
	}
	shown := make(map[UserID][]ShownValue, len(profiles))
	for user, profile := range profiles {
		for _, p := range defined {
			value, ok := profile.Value(p.ID)
			if ok && CanSeeValue(v.ID, user, value.Visibility, relations[user]) {
				shown[user] = append(shown[user], ShownValue{p, p.Show(value.Value), value.Visibility})
			}
		}
	}
	return shown, nil
}

// Search lists the users whose profile values, as far as the viewer sees them, match all
// conditions. It is ordered by the value of the first condition with Equals, or else of the first,
// and then by user. Page.Last can't be set. Errors: INVALID and NOT_FOUND, naming the condition.
func (v *Viewer) Search(ctx context.Context, sought []Sought, p Page) (Slice[UserID], error) {
	where, err := v.conditions(ctx, sought)
	if err != nil {
		return Slice[UserID]{}, err
	}
	search := &search{v: v, where: where}
	if search.bound, err = search.point("before", p.Before); err != nil {
		return Slice[UserID]{}, err
	}
	if _, err = search.point("after", p.After); err != nil {
		return Slice[UserID]{}, err
	}
	list := List[PropertyID]{Of: where[0].Property, Page: p}
	slices, err := collect(ctx, v, []List[PropertyID]{list}, search.read, search.key, search.see)
	found := slices[list]
	people := Slice[UserID]{Keys: found.Keys, More: found.More}
	for _, profile := range found.Items {
		people.Items = append(people.Items, profile.User)
	}
	return people, err
}

// UsersNamed lists the users whose names begin with a text, ignoring case, by name. Errors:
// INVALID, BLANK, TOO_LONG, naming startsWith.
func (v *Viewer) UsersNamed(ctx context.Context, startsWith string, p Page) (Slice[*User], error) {
	if err := fault.CheckLine("startsWith", startsWith, 1, MaxNamePrefixLen); err != nil {
		return Slice[*User]{}, err
	}
	list := List[string]{Of: NameKey(startsWith), Page: p}
	read := func(ctx context.Context, lists []List[string]) (map[List[string]][]*User, error) {
		users, err := v.s.store.UsersNamed(ctx, lists[0].Of, lists[0].Page)
		return map[List[string]][]*User{lists[0]: users}, err
	}
	see := func(ctx context.Context, users []*User) (func(string, *User) bool, error) {
		others := []UserID{missingUser} // so that finding only hidden people takes as long as finding none
		for _, u := range users {
			others = append(others, u.ID)
		}
		relations, err := v.Relations(ctx, others)
		return func(_ string, u *User) bool { return CanSeeUser(relations[u.ID]) }, err
	}
	key := func(_ string, u *User) Key { return Key(NameOrder(u.Name, u.ID)) }
	found, err := collect(ctx, v, []List[string]{list}, read, key, see)
	return found[list], err
}

// search is one running search.
type search struct {
	v       *Viewer
	where   []PropertyCondition // the first determines the order
	bound   *ProfilePoint       // only results after it; nil: no bound
	special []*Profile          // profiles found by values that are not public; nil: not read yet
}

// point parses a bound of the page. Error: INVALID, for a key of a search by another property.
func (s *search) point(field string, k Key) (*ProfilePoint, error) {
	if k == "" {
		return nil, nil
	}
	point, ok := ParseProfilePoint(k)
	if !ok || point.Value.IsNumber != s.where[0].Intervals[0].Min.IsNumber {
		return nil, fault.Invalidf(field, "This is not a cursor of this list.")
	}
	return &point, nil
}

func (s *search) at(p *Profile) ProfilePoint {
	value, _ := p.Value(s.where[0].Property)
	return ProfilePoint{value.Sought, p.User}
}

func (s *search) key(_ PropertyID, p *Profile) Key { return s.at(p).key() }

// read returns candidates: profiles found by public values, merged with those found by values that
// only some may see.
func (s *search) read(ctx context.Context, lists []List[PropertyID]) (map[List[PropertyID]][]*Profile, error) {
	page := lists[0].Page
	after, err := s.point("after", page.After)
	if err != nil {
		return nil, err
	}
	found, err := s.v.s.store.FindProfiles(ctx, s.where, after, page.Limit)
	if err != nil {
		return nil, err
	}
	if s.special == nil {
		if s.special, err = s.findSpecial(ctx); err != nil {
			return nil, err
		}
	}
	for _, p := range s.special {
		if after == nil || s.at(p).Compare(*after) > 0 {
			found = append(found, p)
		}
	}
	slices.SortFunc(found, func(p, q *Profile) int { return s.at(p).Compare(s.at(q)) })
	found = slices.CompactFunc(found, func(p, q *Profile) bool { return p.User == q.User })
	found = found[:min(len(found), page.Limit)]
	if s.bound != nil {
		found = slices.DeleteFunc(found, func(p *Profile) bool { return s.at(p).Compare(*s.bound) >= 0 })
	}
	return map[List[PropertyID]][]*Profile{lists[0]: found}, nil
}

// findSpecial reads the profiles that the viewer finds by values that are not public: their own,
// and those of people who have them in circles.
func (s *search) findSpecial(ctx context.Context) ([]*Profile, error) {
	special := []*Profile{}
	if s.v.ID.IsZero() {
		return special, nil
	}
	own, err := s.v.s.store.Profiles(ctx, []UserID{s.v.ID})
	if err != nil {
		return nil, err
	}
	if profile := own[s.v.ID]; profile != nil && s.holds(profile, Relation{}) {
		special = append(special, profile)
	}
	list := List[UserID]{Of: s.v.ID, Page: Page{Limit: maxHolders}}
	edges, err := s.v.s.store.Followers(ctx, []List[UserID]{list})
	if err != nil || len(edges[list]) == 0 {
		return special, err
	}
	holders := make([]UserID, len(edges[list]))
	for i, e := range edges[list] {
		holders[i] = e.From
	}
	found, err := s.v.s.store.FindProfilesOf(ctx, holders, s.where)
	return append(special, found...), err
}

// see applies the rule to the candidates: each condition must match a value that the viewer sees.
func (s *search) see(ctx context.Context, candidates []*Profile) (func(PropertyID, *Profile) bool, error) {
	users := []UserID{missingUser} // as in UsersNamed
	for _, p := range candidates {
		users = append(users, p.User)
	}
	relations, err := s.v.Relations(ctx, users)
	if err != nil {
		return nil, err
	}
	return func(_ PropertyID, p *Profile) bool {
		return CanSeeUser(relations[p.User]) && s.holds(p, relations[p.User])
	}, nil
}

func (s *search) holds(p *Profile, toOwner Relation) bool {
	for i := range s.where {
		value, ok := p.Value(s.where[i].Property)
		if !ok || !CanSeeValue(s.v.ID, p.User, value.Visibility, toOwner) || !s.where[i].Holds(value.Sought) {
			return false
		}
	}
	return true
}

// conditions validates the conditions. The one that determines the order comes first.
func (v *Viewer) conditions(ctx context.Context, sought []Sought) ([]PropertyCondition, error) {
	if len(sought) == 0 || len(sought) > MaxConditions {
		return nil, fault.Invalidf("where", "A search must have 1 to %d conditions.", MaxConditions)
	}
	defined, err := v.s.store.Properties(ctx)
	if err != nil {
		return nil, err
	}
	where := make([]PropertyCondition, len(sought))
	first := -1
	for i, asked := range sought {
		if where[i], err = asked.condition(defined, "where."+strconv.Itoa(i)); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(where[:i], func(c PropertyCondition) bool { return c.Property == where[i].Property }) {
			return nil, fault.Invalidf("where."+strconv.Itoa(i)+".key", "There is already a condition on this property.")
		}
		if first < 0 && asked.Equals != nil {
			first = i
		}
	}
	if first > 0 {
		where[0], where[first] = where[first], where[0]
	}
	return where, nil
}

func (a *Sought) condition(defined []*Property, field string) (PropertyCondition, error) {
	p, err := propertyOf(defined, field+".key", a.Key)
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
		points[i] = Interval{p.sought(value), p.sought(value)}
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
