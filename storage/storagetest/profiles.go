package storagetest

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"plaza/id"
	"plaza/social"
)

var profileCases = []testCase{
	{"PropertiesAreKeptByTheirKeys", propertiesAreKeptByTheirKeys},
	{"DeletePropertyRemovesItsValues", deletePropertyRemovesItsValues},
	{"ProfileValuesAreStored", profileValuesAreStored},
	{"ProfileValuesAreIndependent", profileValuesAreIndependent},
	{"FindProfilesFindsMatches", findProfilesFindsMatches},
	{"FindProfilesOrdersAllNumbers", findProfilesOrdersAllNumbers},
	{"OtherValuesDoNotAffectSearches", otherValuesDoNotAffectSearches},
	{"VisibilitiesAreKept", visibilitiesAreKept},
}

func newPropertyID() social.PropertyID { return social.PropertyID{ID: id.New()} }

// property defines a property of a key.
func (w *world) property(key string, kind social.PropertyType) *social.Property {
	w.t.Helper()
	p := &social.Property{ID: newPropertyID(), Key: key, Label: key, Type: kind, Searchable: true, Visibility: social.VisibleToAll}
	w.ok(w.InsertProperty(w.ctx, p, event(social.EventPropertyDefined)), "InsertProperty")
	return p
}

func (w *world) fillIn(user person, p *social.Property, visibility social.Visibility, value social.PropertyValue) {
	w.t.Helper()
	v := social.ProfileValue{Property: p.ID, Visibility: visibility, Value: value, Sought: value}
	w.ok(w.SetProfileValue(w.ctx, user.ID, v, event(social.EventProfileFilledIn)), "SetProfileValue")
}

// valuesOf returns a user's values, by property.
func (w *world) valuesOf(user person) []social.ProfileValue {
	w.t.Helper()
	profiles := lookup(w, w.Profiles, []social.UserID{user.ID})
	if profiles[user.ID] == nil {
		return nil
	}
	w.same(profiles[user.ID].User, user.ID, "the profile's user")
	values := profiles[user.ID].Values
	slices.SortFunc(values, func(a, b social.ProfileValue) int { return a.Property.Compare(b.Property.ID) })
	return values
}

func propertiesAreKeptByTheirKeys(w *world) {
	city := w.property("city", social.PropertyText)
	size := &social.Property{
		ID: newPropertyID(), Key: "size", Label: "Größe $x.y", Type: social.PropertyChoice, Choices: []string{"$small", "la.rge", "'"},
		Visibility: social.VisibleToMe,
	}
	w.ok(w.InsertProperty(w.ctx, size, event(social.EventPropertyDefined)), "InsertProperty")
	defined := func(want ...*social.Property) {
		w.t.Helper()
		got, err := w.Properties(w.ctx)
		w.ok(err, "Properties")
		w.same(got, want, "the properties")
	}
	defined(city, size)
	again := *city
	again.ID = newPropertyID()
	w.fails(w.InsertProperty(w.ctx, &again, event(social.EventPropertyDefined)), social.ErrTaken, "the second with the key")

	changed := *size
	changed.Label, changed.Choices, changed.Searchable, changed.Visibility = "Size", []string{"S"}, true, social.VisibleToCircles
	w.ok(w.UpdateProperty(w.ctx, &changed, event(social.EventPropertyUpdated)), "UpdateProperty")
	defined(city, &changed)

	unknown := &social.Property{ID: newPropertyID(), Key: "size"}
	w.fails(w.UpdateProperty(w.ctx, unknown, event(social.EventPropertyUpdated)), social.ErrNotFound, "UpdateProperty of what is absent")
	w.fails(w.DeleteProperty(w.ctx, unknown.ID, event(social.EventPropertyRemoved)), social.ErrNotFound, "DeleteProperty of what is absent")
	w.ok(w.DeleteProperty(w.ctx, city.ID, event(social.EventPropertyRemoved)), "DeleteProperty")
	defined(&changed)
	w.ok(w.InsertProperty(w.ctx, &again, event(social.EventPropertyDefined)), "the key is free again")
	defined(&changed, &again)
}

func deletePropertyRemovesItsValues(w *world) {
	people := w.users(20)
	city, age := w.property("city", social.PropertyText), w.property("age", social.PropertyInt)
	for _, u := range people {
		w.fillIn(u, city, social.VisibleToAll, social.TextValue("ulm"))
	}
	w.fillIn(people[0], age, social.VisibleToAll, social.NumberValue(7))
	w.ok(w.DeleteProperty(w.ctx, city.ID, event(social.EventPropertyRemoved)), "DeleteProperty")
	w.ok(settle(w.ctx, w.Store), "the background work")
	for _, u := range people[1:] {
		w.same(len(w.valuesOf(u)), 0, "the number of values that are left")
	}
	w.same(len(w.valuesOf(people[0])), 1, "the number of values of the other property")
	v := social.ProfileValue{Property: city.ID, Visibility: social.VisibleToAll, Value: social.TextValue("x"), Sought: social.TextValue("x")}
	w.fails(w.SetProfileValue(w.ctx, people[0].ID, v, event(social.EventProfileFilledIn)), social.ErrNotFound, "a value of a removed property")
}

func profileValuesAreStored(w *world) {
	ada, ben := w.user(), w.user()
	text, number := w.property("text", social.PropertyText), w.property("number", social.PropertyFloat)
	for name, hard := range hardTexts {
		v := social.ProfileValue{Property: text.ID, Visibility: social.VisibleToCircles, Value: social.TextValue(hard), Sought: social.TextValue(hard)}
		if hard == "" || len(hard) > 1000 {
			continue // no property has such a value
		}
		for _, sought := range []string{hard, "folded " + hard} {
			v.Sought = social.TextValue(sought)
			w.ok(w.SetProfileValue(w.ctx, ada.ID, v, event(social.EventProfileFilledIn)), "SetProfileValue of %s", name)
			w.same(w.valuesOf(ada), []social.ProfileValue{v}, "the value with %s", name)
		}
	}
	for _, n := range []float64{0, 1, -1, 0.1, math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 1 << 53, -(1 << 53)} {
		w.fillIn(ben, number, social.VisibleToMe, social.NumberValue(n))
		w.same(w.valuesOf(ben)[0].Value, social.NumberValue(n), "the number")
	}
	w.did(true)(w.ClearProfileValue(w.ctx, ben.ID, number.ID, event(social.EventProfileFilledIn)))
	w.did(false)(w.ClearProfileValue(w.ctx, ben.ID, number.ID, event(social.EventProfileFilledIn)))
	w.did(false)(w.ClearProfileValue(w.ctx, newUserID(), number.ID, event(social.EventProfileFilledIn)))
	absent(w, "profile that was emptied", w.Profiles, ben.ID, newUserID())
}

// visibilitiesAreKept sets values without a visibility: the first has its property's, and others
// that of the value before.
func visibilitiesAreKept(w *world) {
	ada := w.user()
	city, size := w.property("city", social.PropertyText), w.property("size", social.PropertyInt)
	city.Visibility = social.VisibleToCircles
	w.ok(w.UpdateProperty(w.ctx, city, event(social.EventPropertyUpdated)), "UpdateProperty")
	filled := func(want ...social.Visibility) {
		w.t.Helper()
		var got []social.Visibility
		for _, v := range w.valuesOf(ada) {
			got = append(got, v.Visibility)
		}
		w.same(got, want, "the visibilities")
	}
	w.fillIn(ada, city, "", social.TextValue("$a"))
	filled(social.VisibleToCircles)
	w.fillIn(ada, size, "", social.NumberValue(1))
	filled(social.VisibleToCircles, social.VisibleToAll)
	w.fillIn(ada, city, social.VisibleToMe, social.TextValue("b"))
	w.fillIn(ada, city, "", social.TextValue("c"))
	w.fillIn(ada, size, "", social.NumberValue(2))
	filled(social.VisibleToMe, social.VisibleToAll)
	w.same(w.valuesOf(ada)[0].Value, social.TextValue("c"), "the value")
	w.did(true)(w.ClearProfileValue(w.ctx, ada.ID, city.ID, event(social.EventProfileFilledIn)))
	w.fillIn(ada, city, "", social.TextValue("d"))
	filled(social.VisibleToCircles, social.VisibleToAll)
}

// profileValuesAreIndependent sets many properties of one profile concurrently: all are stored in
// the end.
func profileValuesAreIndependent(w *world) {
	ada := w.user()
	var properties []*social.Property
	for i := range 8 {
		properties = append(properties, w.property(fmt.Sprint("p", i), social.PropertyInt))
	}
	w.tally(together(crowd, func(i int) error {
		v := social.NumberValue(float64(i))
		return w.SetProfileValue(w.ctx, ada.ID, social.ProfileValue{
			Property: properties[i%8].ID, Visibility: social.VisibleToAll, Value: v, Sought: v,
		}, event(social.EventProfileFilledIn))
	}))
	values := w.valuesOf(ada)
	w.same(len(values), 8, "the number of values")
	for i, v := range values {
		if v.Property != properties[i].ID || int(v.Value.Number)%8 != i {
			w.t.Errorf("the value %d is %+v", i, v)
		}
	}
}

var visibilities = []social.Visibility{social.VisibleToAll, social.VisibleToAll, social.VisibleToCircles, social.VisibleToMe}

// findProfilesFindsMatches fills random profiles in, and compares many searches with what looking
// at all profiles finds.
func findProfilesFindsMatches(w *world) {
	people := w.users(60)
	text, number, date := w.property("text", social.PropertyText), w.property("number", social.PropertyInt), w.property("date", social.PropertyDate)
	random := map[social.PropertyID]func() social.PropertyValue{
		text.ID:   func() social.PropertyValue { return social.TextValue(string(rune('a' + w.dice.IntN(5)))) },
		number.ID: func() social.PropertyValue { return social.NumberValue(float64(w.dice.IntN(12) - 4)) },
		date.ID:   func() social.PropertyValue { return social.TextValue(fmt.Sprintf("2026-11-%02d", 1+w.dice.IntN(20))) },
	}
	var ids []social.UserID
	for _, u := range people {
		ids = append(ids, u.ID)
		for _, p := range []*social.Property{text, number, date} {
			if w.dice.IntN(8) > 0 {
				w.fillIn(u, p, visibilities[w.dice.IntN(4)], random[p.ID]())
			}
		}
	}
	all := lookup(w, w.Profiles, ids)
	for range 60 {
		where := randomWhere(w, random)
		w.finds(where, all)
	}
}

func randomWhere(w *world, random map[social.PropertyID]func() social.PropertyValue) []social.PropertyCondition {
	var where []social.PropertyCondition
	for property, value := range random { // in any order
		if w.dice.IntN(2) > 0 {
			continue
		}
		c := social.PropertyCondition{Property: property}
		if w.dice.IntN(2) == 0 {
			a, b := value(), value()
			if b.Compare(a) < 0 {
				a, b = b, a
			}
			c.Intervals = []social.Interval{{Min: a, Max: b}}
		} else {
			for range 1 + w.dice.IntN(3) {
				v := value()
				c.Intervals = append(c.Intervals, social.Interval{Min: v, Max: v})
			}
			slices.SortFunc(c.Intervals, func(a, b social.Interval) int { return a.Min.Compare(b.Min) })
			c.Intervals = slices.Compact(c.Intervals)
		}
		where = append(where, c)
	}
	if len(where) == 0 {
		return randomWhere(w, random)
	}
	return where
}

// finds compares a search, read in pages of each of several sizes, with a look at all profiles.
func (w *world) finds(where []social.PropertyCondition, all map[social.UserID]*social.Profile) {
	w.t.Helper()
	at := func(p *social.Profile) social.ProfilePoint {
		v, _ := p.Value(where[0].Property)
		return social.ProfilePoint{Value: v.Sought, User: p.User}
	}
	holding := func(visibilities ...social.Visibility) []social.ProfilePoint {
		points := []social.ProfilePoint{}
		for _, p := range all {
			if !slices.ContainsFunc(where, func(c social.PropertyCondition) bool {
				v, ok := p.Value(c.Property)
				return !ok || !slices.Contains(visibilities, v.Visibility) || !c.Holds(v.Sought)
			}) {
				points = append(points, at(p))
			}
		}
		slices.SortFunc(points, social.ProfilePoint.Compare)
		return points
	}
	want := holding(social.VisibleToAll)
	for _, limit := range []int{1, 3, 100} {
		got := []social.ProfilePoint{}
		var after *social.ProfilePoint
		for {
			page, err := w.FindProfiles(w.ctx, where, after, limit)
			w.ok(err, "FindProfiles")
			for _, p := range page {
				got = append(got, at(p))
			}
			if len(page) < limit {
				break
			}
			after = &got[len(got)-1]
		}
		w.same(got, want, "what pages of %d find for %+v", limit, where)
	}
	var some []social.UserID
	for user := range all {
		some = append(some, user, newUserID())
	}
	found, err := w.FindProfilesOf(w.ctx, some, where)
	w.ok(err, "FindProfilesOf")
	got := []social.ProfilePoint{}
	for _, p := range found {
		got = append(got, at(p))
	}
	slices.SortFunc(got, social.ProfilePoint.Compare)
	w.same(got, holding(social.VisibleToAll, social.VisibleToCircles), "what is found among users for %+v", where)
}

func findProfilesOrdersAllNumbers(w *world) {
	number := w.property("number", social.PropertyFloat)
	numbers := []float64{0, 1, -1, 0.5, 1e300, -1e300, math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 3, 1 << 53}
	for _, n := range numbers {
		w.fillIn(w.user(), number, social.VisibleToAll, social.NumberValue(n))
	}
	everything := social.PropertyCondition{Property: number.ID, Intervals: []social.Interval{
		{Min: social.NumberValue(math.Inf(-1)), Max: social.NumberValue(math.Inf(1))},
	}}
	found, err := w.FindProfiles(w.ctx, []social.PropertyCondition{everything}, nil, 100)
	w.ok(err, "FindProfiles")
	var got []float64
	for _, p := range found {
		got = append(got, p.Values[0].Value.Number)
	}
	slices.SortFunc(numbers, cmp.Compare[float64])
	w.same(got, numbers, "the numbers in their order")
}

// otherValuesDoNotAffectSearches changes values that are not public: neither pages nor their order
// change.
func otherValuesDoNotAffectSearches(w *world) {
	people := w.users(12)
	city := w.property("city", social.PropertyText)
	ulm := social.TextValue("ulm")
	for i, u := range people {
		visibility := social.VisibleToAll
		if i%2 == 0 {
			visibility = visibilities[2+i%4/2]
		}
		w.fillIn(u, city, visibility, ulm)
	}
	where := []social.PropertyCondition{{Property: city.ID, Intervals: []social.Interval{{Min: ulm, Max: ulm}}}}
	page := func() []*social.Profile {
		found, err := w.FindProfiles(w.ctx, where, nil, 4)
		w.ok(err, "FindProfiles")
		return found
	}
	before := page()
	w.same(len(before), 4, "the size of a page")
	for i := 0; i < len(people); i += 2 {
		w.fillIn(people[i], city, visibilities[2+i%4/2], social.TextValue("aalen"))
	}
	w.same(page(), before, "the page")
}
