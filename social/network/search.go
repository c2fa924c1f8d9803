package network

import (
	"context"
	"slices"
	"strconv"

	"plaza/fault"
	"plaza/paging"
	"plaza/social"
)

// maxHolders limits searches of values visible to circles: they cover the newest users who have the
// searcher in their circles. Hardly anyone is in the circles of more users, and the number is small
// enough to check for each page.
const maxHolders = 10_000

// Properties lists the profile properties.
func (v *Viewer) Properties(ctx context.Context) ([]*social.Property, error) {
	return v.s.store.Properties(ctx)
}

// ProfileValues reads the values that users have set and the viewer may see, in the order of the
// properties.
func (v *Viewer) ProfileValues(ctx context.Context, users []social.UserID) (map[social.UserID][]social.ShownValue, error) {
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
	shown := make(map[social.UserID][]social.ShownValue, len(profiles))
	for user, profile := range profiles {
		for _, p := range defined {
			value, ok := profile.Value(p.ID)
			if ok && social.CanSeeValue(v.ID, user, value.Visibility, relations[user]) {
				shown[user] = append(shown[user], social.ShownValue{Property: p, Value: p.Show(value.Value), Visibility: value.Visibility})
			}
		}
	}
	return shown, nil
}

// Search lists the users whose profile values, as far as the viewer sees them, match all
// conditions. It is ordered by the value of the first condition with Equals, or else of the first,
// and then by user. Page.Last can't be set. Errors: INVALID and NOT_FOUND, naming the condition.
func (v *Viewer) Search(ctx context.Context, sought []social.Sought, p social.Page) (social.Slice[social.UserID], error) {
	where, err := v.conditions(ctx, sought)
	if err != nil {
		return social.Slice[social.UserID]{}, err
	}
	search := &search{v: v, where: where}
	if search.bound, err = search.point("before", p.Before); err != nil {
		return social.Slice[social.UserID]{}, err
	}
	if _, err = search.point("after", p.After); err != nil {
		return social.Slice[social.UserID]{}, err
	}
	list := social.List[social.PropertyID]{Of: where[0].Property, Page: p}
	slices, err := collect(ctx, v, []social.List[social.PropertyID]{list}, paging.Alone(search.read), search.key, search.see)
	found := slices[list]
	people := social.Slice[social.UserID]{Keys: found.Keys, More: found.More}
	for _, profile := range found.Items {
		people.Items = append(people.Items, profile.User)
	}
	return people, err
}

// UsersNamed lists the users whose names begin with a text, ignoring case, by name. Errors:
// INVALID, BLANK, TOO_LONG, naming startsWith.
func (v *Viewer) UsersNamed(ctx context.Context, startsWith string, p social.Page) (social.Slice[*social.User], error) {
	if err := fault.CheckLine("startsWith", startsWith, 1, social.MaxNamePrefixLen); err != nil {
		return social.Slice[*social.User]{}, err
	}
	list := social.List[string]{Of: social.NameKey(startsWith), Page: p}
	see := func(ctx context.Context, users []*social.User) (func(string, *social.User) bool, error) {
		others := []social.UserID{social.MissingUser} // so that finding only hidden people takes as long as finding none
		for _, u := range users {
			others = append(others, u.ID)
		}
		relations, err := v.Relations(ctx, others)
		return func(_ string, u *social.User) bool { return social.CanSeeUser(relations[u.ID]) }, err
	}
	key := func(_ string, u *social.User) social.Key { return social.Key(social.NameOrder(u.Name, u.ID)) }
	found, err := collect(ctx, v, []social.List[string]{list}, paging.Alone(v.s.store.UsersNamed), key, see)
	return found[list], err
}

// search is one running search.
type search struct {
	v       *Viewer
	where   []social.PropertyCondition // the first determines the order
	bound   *social.ProfilePoint       // only results after it; nil: no bound
	special []*social.Profile          // profiles found by values that are not public; nil: not read yet
}

// point parses a bound of the page. Error: INVALID for a key of a search by another property.
func (s *search) point(field string, k social.Key) (*social.ProfilePoint, error) {
	if k == "" {
		return nil, nil
	}
	point, ok := social.ParseProfilePoint(k)
	if !ok || point.Value.IsNumber != s.where[0].Intervals[0].Min.IsNumber {
		return nil, fault.Invalidf(field, "This is not a cursor of this list.")
	}
	return &point, nil
}

func (s *search) at(p *social.Profile) social.ProfilePoint {
	value, _ := p.Value(s.where[0].Property)
	return social.ProfilePoint{Value: value.Sought, User: p.User}
}

func (s *search) key(_ social.PropertyID, p *social.Profile) social.Key { return s.at(p).Key() }

// read returns candidates: profiles found by public values, merged with those found by values that
// only some may see.
func (s *search) read(ctx context.Context, _ social.PropertyID, page social.Page) ([]*social.Profile, error) {
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
	slices.SortFunc(found, func(p, q *social.Profile) int { return s.at(p).Compare(s.at(q)) })
	found = slices.CompactFunc(found, func(p, q *social.Profile) bool { return p.User == q.User })
	found = found[:min(len(found), page.Limit)]
	if s.bound != nil {
		found = slices.DeleteFunc(found, func(p *social.Profile) bool { return s.at(p).Compare(*s.bound) >= 0 })
	}
	return found, nil
}

// findSpecial reads the profiles that the viewer finds by values that are not public: their own,
// and those of people who have them in circles.
func (s *search) findSpecial(ctx context.Context) ([]*social.Profile, error) {
	special := []*social.Profile{}
	if s.v.ID.IsZero() {
		return special, nil
	}
	own, err := s.v.s.store.Profiles(ctx, []social.UserID{s.v.ID})
	if err != nil {
		return nil, err
	}
	if profile := own[s.v.ID]; profile != nil && s.holds(profile, social.Relation{}) {
		special = append(special, profile)
	}
	list := social.List[social.UserID]{Of: s.v.ID, Page: social.Page{Limit: maxHolders}}
	edges, err := s.v.s.store.Followers(ctx, []social.List[social.UserID]{list})
	if err != nil || len(edges[list]) == 0 {
		return special, err
	}
	found, err := s.v.s.store.FindProfilesOf(ctx, ends(edges[list], edgeStart), s.where)
	return append(special, found...), err
}

// see applies the rule to the candidates: each condition must match a value that the viewer sees.
func (s *search) see(ctx context.Context, candidates []*social.Profile) (func(social.PropertyID, *social.Profile) bool, error) {
	users := []social.UserID{social.MissingUser} // as in UsersNamed
	for _, p := range candidates {
		users = append(users, p.User)
	}
	relations, err := s.v.Relations(ctx, users)
	if err != nil {
		return nil, err
	}
	return func(_ social.PropertyID, p *social.Profile) bool {
		return social.CanSeeUser(relations[p.User]) && s.holds(p, relations[p.User])
	}, nil
}

func (s *search) holds(p *social.Profile, toOwner social.Relation) bool {
	for i := range s.where {
		value, ok := p.Value(s.where[i].Property)
		if !ok || !social.CanSeeValue(s.v.ID, p.User, value.Visibility, toOwner) || !s.where[i].Holds(value.Sought) {
			return false
		}
	}
	return true
}

// conditions validates the conditions. The one that determines the order comes first.
func (v *Viewer) conditions(ctx context.Context, sought []social.Sought) ([]social.PropertyCondition, error) {
	if len(sought) == 0 || len(sought) > social.MaxConditions {
		return nil, fault.Invalidf("where", "A search must have 1 to %d conditions.", social.MaxConditions)
	}
	defined, err := v.s.store.Properties(ctx)
	if err != nil {
		return nil, err
	}
	where := make([]social.PropertyCondition, len(sought))
	first := -1
	for i, asked := range sought {
		if where[i], err = asked.Condition(defined, "where."+strconv.Itoa(i)); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(where[:i], func(c social.PropertyCondition) bool { return c.Property == where[i].Property }) {
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
