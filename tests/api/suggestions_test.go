package api

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"plaza/batch"
	"plaza/id"
	"plaza/internal/plazatest"
	"plaza/social"
	"plaza/social/network"
)

// suggesting is a community whose members get suggestions. It is small enough for all of them to be
// considered.
type suggesting struct {
	t       *testing.T
	service *network.Service
	dice    *rand.Rand
	people  []social.UserID
	posted  []social.UserID // the authors of public posts, in order

	follows       []social.Pair // in order
	blocks, mutes map[social.Pair]bool
	away          map[social.UserID]bool
}

// TestSuggestionsFollowTheGraph compares the suggestions of everyone in a random community with
// what is expected from its follows, blocks and mutes.
func TestSuggestionsFollowTheGraph(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		st := e.Open(t)
		defer st.Close()
		v := &suggesting{
			t: t, service: network.New(st, plazatest.Cheap), dice: rand.New(rand.NewPCG(29, 11)),
			blocks: map[social.Pair]bool{}, mutes: map[social.Pair]bool{}, away: map[social.UserID]bool{},
		}
		var accounts []social.NewUser
		for i := range 19 {
			user := social.User{ID: social.UserID{ID: id.New()}, Handle: fmt.Sprint("s", i), Name: "S", WallPolicy: social.WallEveryone}
			accounts = append(accounts, social.NewUser{User: user, Following: social.NewBuiltInCircle(user.ID)})
			v.people = append(v.people, user.ID)
		}
		_, err := st.ImportUsers(t.Context(), accounts)
		v.ok(err)
		v.compare()
		for range 3 {
			for range 40 {
				v.act()
			}
			v.compare()
		}
		left := v.people[3]
		v.ok(v.service.DeleteUser(t.Context(), left))
		v.away[left] = true
		v.compare()
	})
}

func (v *suggesting) ok(err error) {
	v.t.Helper()
	if err != nil {
		v.t.Fatal(err)
	}
}

func (v *suggesting) one() social.UserID { return v.people[v.dice.IntN(len(v.people)-2)] } // two have no relations

// act lets someone do something.
func (v *suggesting) act() {
	v.t.Helper()
	ctx, a, b := v.t.Context(), v.one(), v.one()
	pair, back := social.Pair{Viewer: a, Other: b}, social.Pair{Viewer: b, Other: a}
	switch n := v.dice.IntN(20); {
	case n < 3:
		kind := []social.AudienceKind{social.AudiencePublic, social.AudienceCircles, social.AudienceOnlyMe}[n]
		_, err := v.service.CreatePost(ctx, a, network.NewPost{
			Content: social.Content{Status: &social.Status{Text: "Hello"}}, Audience: social.Audience{Kind: kind},
		})
		v.ok(err)
		if kind == social.AudiencePublic {
			v.posted = append(v.posted, a)
		}
	case a == b || v.blocks[pair] || v.blocks[back]:
	case n < 5:
		_, err := v.service.Block(ctx, a, b)
		v.ok(err)
		v.blocks[pair] = true
		v.follows = batch.Without(v.follows, []social.Pair{pair, back})
	case n < 7:
		v.ok(v.service.Mute(ctx, a, b))
		v.mutes[pair] = true
	case slices.Contains(v.follows, pair):
		v.ok(v.service.Unfollow(ctx, a, b))
		v.follows = batch.Without(v.follows, []social.Pair{pair})
	default:
		v.ok(v.service.Follow(ctx, a, b))
		v.follows = append(v.follows, pair)
	}
}

// mayGet reports whether a user may be suggested to a viewer.
func (v *suggesting) mayGet(viewer, other social.UserID) bool {
	pair, back := social.Pair{Viewer: viewer, Other: other}, social.Pair{Viewer: other, Other: viewer}
	return other != viewer && !v.away[other] && !slices.Contains(v.follows, pair) && !v.mutes[pair] && !v.blocks[pair] && !v.blocks[back]
}

// newest takes from entries that are in order, the newest first.
func newest[T, U any](entries []T, take func(T) (U, bool)) (taken []U) {
	for _, entry := range slices.Backward(entries) {
		if u, ok := take(entry); ok {
			taken = append(taken, u)
		}
	}
	return taken
}

func (v *suggesting) followed(by social.UserID) []social.UserID {
	return newest(v.follows, func(p social.Pair) (social.UserID, bool) { return p.Other, p.Viewer == by })
}

func (v *suggesting) followers(of social.UserID) []social.UserID {
	return newest(v.follows, func(p social.Pair) (social.UserID, bool) { return p.Viewer, p.Other == of })
}

// want returns who is suggested to a viewer, and through which users that the viewer follows.
func (v *suggesting) want(viewer social.UserID) (users []social.UserID, by map[social.UserID][]social.UserID) {
	by = map[social.UserID][]social.UserID{}
	for _, followed := range v.followed(viewer) {
		if !v.away[followed] && !v.mutes[social.Pair{Viewer: viewer, Other: followed}] {
			for _, other := range v.followed(followed) {
				users, by[other] = append(users, other), append(by[other], followed)
			}
		}
	}
	slices.SortStableFunc(users, func(a, b social.UserID) int { return len(by[b]) - len(by[a]) })
	users = append(users, v.followers(viewer)...)
	users = append(users, newest(v.posted, func(author social.UserID) (social.UserID, bool) { return author, true })...)
	users = slices.DeleteFunc(batch.Unique(users), func(other social.UserID) bool { return !v.mayGet(viewer, other) })
	return users, by
}

// compare checks what is suggested to everyone.
func (v *suggesting) compare() {
	v.t.Helper()
	for _, viewer := range v.people {
		if v.away[viewer] {
			continue
		}
		want, by := v.want(viewer)
		for _, limit := range []int{1, 3, 50} {
			found, err := v.service.Viewer(viewer).Suggestions(v.t.Context(), limit)
			v.ok(err)
			var got []social.UserID
			for _, s := range found {
				got = append(got, s.User.ID)
				var through []social.UserID
				for _, f := range s.FollowedBy {
					through = append(through, f.ID)
				}
				if all := by[s.User.ID]; !slices.Equal(through, all[:min(3, len(all))]) {
					v.t.Errorf("%v is suggested to %v because of %v, want the first of %v", s.User.ID, viewer, through, all)
				}
			}
			if !slices.Equal(got, want[:min(limit, len(want))]) {
				v.t.Errorf("%v gets the suggestions %v, want %d of %v", viewer, got, limit, want)
			}
		}
	}
}
