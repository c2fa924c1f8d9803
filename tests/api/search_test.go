package api

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"plaza/id"
	"plaza/internal/plazatest"
	"plaza/social"
	"plaza/social/network"
	"plaza/storage"
)

// TestSearchesMatchVisibleValues runs searches as each member of a community with random values,
// circles and blocks. A search finds exactly the people on whose profiles the searcher sees the
// value, in pages of every size.
func TestSearchesMatchVisibleValues(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		st := e.Open(t)
		defer st.Close()
		v := newVillage(t, st)
		for range 25 {
			where := v.where()
			for _, viewer := range append(slices.Clone(v.people), social.UserID{}) {
				v.compare(viewer, where)
			}
		}
	})
}

// village is a community of a few people who hide much from each other.
type village struct {
	t       *testing.T
	service *network.Service
	dice    *rand.Rand
	people  []social.UserID
}

func newVillage(t *testing.T, st storage.Store) *village {
	t.Helper()
	v := &village{t: t, service: network.New(st, plazatest.Cheap), dice: rand.New(rand.NewPCG(7, 18))}
	var accounts []social.NewUser
	for i := range 12 {
		user := social.User{ID: social.UserID{ID: id.New()}, Handle: fmt.Sprint("v", i), Name: "V", WallPolicy: social.WallEveryone}
		builtIn := social.NewBuiltInCircle(user.ID)
		accounts = append(accounts, social.NewUser{User: user, Following: builtIn})
		v.people = append(v.people, user.ID)
	}
	_, err := st.ImportUsers(t.Context(), accounts)
	v.ok(err)
	_, err = v.service.GrantRight(t.Context(), "v0", social.RightAdmin)
	v.ok(err)
	v.ok(v.service.DefineProperty(t.Context(), v.people[0], social.Property{Key: "city", Label: "City", Type: social.PropertyText, Searchable: true}))
	v.ok(v.service.DefineProperty(t.Context(), v.people[0], social.Property{Key: "size", Label: "Size", Type: social.PropertyInt, Searchable: true}))
	for _, user := range v.people {
		v.live(user)
	}
	return v
}

func (v *village) ok(err error) {
	v.t.Helper()
	if err != nil {
		v.t.Fatal(err)
	}
}

// live fills in the profile of a user, who then follows some others and blocks some.
func (v *village) live(user social.UserID) {
	v.t.Helper()
	visibility := func() social.Visibility {
		return []social.Visibility{social.VisibleToAll, social.VisibleToCircles, social.VisibleToMe}[v.dice.IntN(3)]
	}
	v.ok(v.service.SetProfileValue(v.t.Context(), user, "city", v.city(), visibility()))
	v.ok(v.service.SetProfileValue(v.t.Context(), user, "size", v.size(), visibility()))
	for _, other := range v.people {
		switch n := v.dice.IntN(8); {
		case other == user:
		case n < 3:
			_ = v.service.Follow(v.t.Context(), user, other) // refused where there is a block
		case n == 3:
			_, _ = v.service.Block(v.t.Context(), user, other)
		}
	}
}

func (v *village) city() any { return []any{"Ulm", "ULM", "Bern", "aalen"}[v.dice.IntN(4)] }

func (v *village) size() any { return int64(v.dice.IntN(6)) }

func (v *village) where() []social.Sought {
	conditions := []social.Sought{
		{Key: "city", Equals: v.city()},
		{Key: "city", In: []any{v.city(), v.city()}},
		{Key: "size", Equals: v.size()},
		{Key: "size", AtLeast: v.size()},
		{Key: "size", AtMost: v.size()},
		{Key: "size", AtLeast: int64(1), AtMost: int64(3)},
	}
	v.dice.Shuffle(len(conditions), func(i, j int) { conditions[i], conditions[j] = conditions[j], conditions[i] })
	if v.dice.IntN(2) == 0 || conditions[0].Key == conditions[1].Key {
		return conditions[:1]
	}
	return conditions[:2]
}

// compare checks that a viewer finds exactly what the viewer sees.
func (v *village) compare(viewer social.UserID, where []social.Sought) {
	v.t.Helper()
	users, err := v.service.Viewer(viewer).Users(v.t.Context(), v.people)
	v.ok(err)
	seen, err := v.service.Viewer(viewer).ProfileValues(v.t.Context(), v.people)
	v.ok(err)
	var want []social.UserID
	for _, user := range v.people {
		if users[user] != nil && !slices.ContainsFunc(where, func(c social.Sought) bool { return !shows(seen[user], c) }) {
			want = append(want, user)
		}
	}
	for _, size := range []int{1, 2, 50} {
		got := v.search(viewer, where, size)
		slices.SortFunc(got, func(a, b social.UserID) int { return a.Compare(b.ID) })
		if !slices.Equal(got, want) {
			v.t.Errorf("viewer %v searches %+v in pages of %d, finds %v and sees %v", viewer, where, size, got, want)
		}
	}
}

// search reads all pages.
func (v *village) search(viewer social.UserID, where []social.Sought, size int) (found []social.UserID) {
	v.t.Helper()
	page := social.Page{Limit: size}
	for {
		slice, err := v.service.Viewer(viewer).Search(v.t.Context(), where, page)
		v.ok(err)
		found = append(found, slice.Items...)
		if !slice.More {
			return found
		}
		page.After = slice.Keys[len(slice.Keys)-1]
	}
}

// shows reports whether visible values match a condition.
func shows(values []social.ShownValue, c social.Sought) bool {
	for _, value := range values {
		if value.Key != c.Key {
			continue
		}
		switch shown := value.Value.(type) {
		case string:
			same := func(given any) bool { return social.NameKey(shown) == social.NameKey(given.(string)) }
			return c.Equals != nil && same(c.Equals) || slices.ContainsFunc(c.In, same)
		case int64:
			return (c.Equals == nil || shown == c.Equals) && (c.AtLeast == nil || shown >= c.AtLeast.(int64)) && (c.AtMost == nil || shown <= c.AtMost.(int64))
		}
	}
	return false
}
