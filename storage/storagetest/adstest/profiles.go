package adstest

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"plaza/ads"
	"plaza/id"
)

var profileCases = []testCase{
	{"ReserveTakesTheBestWithinTheCaps", reserveTakesTheBest},
	{"ReserveTakesNoAdvertiserTwice", reserveTakesNoAdvertiserTwice},
	{"ManyReservationsKeepACap", manyReservationsKeepACap},
	{"UnshownReservationsStopCounting", whatWasNotShown},
	{"ConfirmedImpressionsCountForTheirWindow", confirmedImpressionsCount},
	{"ForgetProfileForgetsOneProfile", forgetProfile},
	{"ReserveMatchesTheDomain", reserveMatchesTheDomain},
}

// candidate returns a unit of an advertiser, with caps.
func candidate(a ads.AdvertiserID, caps ...ads.ScopeCap) ads.Candidate {
	return ads.Candidate{Choice: ads.ChoiceID{ID: id.New()}, Advertiser: a, Caps: caps}
}

func capOf(scope id.ID, count int, per ads.Window) ads.ScopeCap {
	return ads.ScopeCap{Scope: scope, Cap: ads.Cap{Count: count, Per: per}}
}

func newPerson() ads.ProfileID { return ads.ProfileID{ID: id.New()} }

func anAdvertiser() ads.AdvertiserID { return ads.AdvertiserID{ID: id.New()} }

func (w *world) reserve(r ads.Reservation, want ...int) {
	w.t.Helper()
	if want == nil {
		want = []int{}
	}
	chosen, err := w.Reserve(w.ctx, r)
	w.ok(err, "Reserve")
	w.same(chosen, want, "what was chosen")
}

func forgetProfile(w *world) {
	gone, other, scope := newPerson(), newPerson(), id.New()
	of := func(person ads.ProfileID) ads.Reservation {
		return ads.Reservation{Profile: person, Count: 1, Now: noon, Candidates: []ads.Candidate{candidate(anAdvertiser(), capOf(scope, 1, ads.Day))}}
	}
	w.reserve(of(gone), 0)
	w.reserve(of(other), 0)
	w.ok(w.ForgetProfile(w.ctx, gone), "ForgetProfile")
	w.ok(w.ForgetProfile(w.ctx, gone), "ForgetProfile again")
	profile, err := w.Profile(w.ctx, gone)
	w.ok(err, "Profile")
	w.same(len(profile.Seen), 0, "what is left of the profile")
	w.reserve(of(gone), 0)
	w.reserve(of(other))
}

func reserveTakesTheBest(w *world) {
	person, unit, campaign := newPerson(), id.New(), id.New()
	r := func(count int) ads.Reservation {
		return ads.Reservation{Profile: person, Count: count, Now: noon, Candidates: []ads.Candidate{
			candidate(anAdvertiser(), capOf(unit, 1, ads.Day), capOf(campaign, 3, ads.Hour)),
			candidate(anAdvertiser(), capOf(campaign, 3, ads.Hour)),
			candidate(anAdvertiser()),
		}}
	}
	w.reserve(r(1), 0)
	w.reserve(r(1), 1)
	w.reserve(r(2), 1, 2)
	w.reserve(r(1), 2)
	w.reserve(r(9), 2)
	other := r(3)
	other.Profile = newPerson()
	w.reserve(other, 0, 1, 2)
}

func reserveTakesNoAdvertiserTwice(w *world) {
	a, b, house := anAdvertiser(), anAdvertiser(), anAdvertiser()
	limit := capOf(id.New(), 100, ads.Week)
	fallback := candidate(house, limit)
	fallback.Fallback = true
	r := ads.Reservation{Profile: newPerson(), Now: noon, Candidates: []ads.Candidate{
		candidate(a, limit), candidate(a), candidate(b), fallback,
	}}
	for count, want := range map[int][]int{1: {0}, 2: {0, 2}, 3: {0, 2, 1}, 4: {0, 2, 1, 3}, 5: {0, 2, 1, 3}} {
		r.Count = count
		for i := range r.Candidates {
			r.Candidates[i].Choice = ads.ChoiceID{ID: id.New()}
		}
		w.reserve(r, want...)
	}
}

func manyReservationsKeepACap(w *world) {
	person, scope := newPerson(), id.New()
	var chosen atomic.Int64
	together(func(int) {
		got, err := w.Reserve(w.ctx, ads.Reservation{Profile: person, Count: 2, Now: noon, Candidates: []ads.Candidate{
			candidate(anAdvertiser(), capOf(scope, 5, ads.Lifetime)), candidate(anAdvertiser(), capOf(scope, 5, ads.Lifetime)),
		}})
		if err != nil {
			w.t.Errorf("Reserve: %v", err)
		}
		chosen.Add(int64(len(got)))
	})
	w.same(chosen.Load(), int64(5), "how often it was chosen")
}

func whatWasNotShown(w *world) {
	person, scope := newPerson(), id.New()
	r := ads.Reservation{Profile: person, Count: 1, Now: noon, Candidates: []ads.Candidate{candidate(anAdvertiser(), capOf(scope, 1, ads.Lifetime))}}
	w.reserve(r, 0)
	r.Now = noon.Add(ads.ImpressionLife - time.Millisecond)
	w.reserve(r)
	r.Now = noon.Add(ads.ImpressionLife)
	r.Candidates[0].Choice = ads.ChoiceID{ID: id.New()}
	w.reserve(r, 0)
}

func confirmedImpressionsCount(w *world) {
	c, zone := w.campaign(), w.zone("top")
	u := w.place(c, cpm(1_000), zone)
	person, scope := newPerson(), id.New()
	r := ads.Reservation{Profile: person, Count: 1, Now: noon, Candidates: []ads.Candidate{candidate(anAdvertiser(), capOf(scope, 1, ads.Day))}}
	w.reserve(r, 0)
	shown := recording(ads.Impression, u, zone)
	shown.Choice, shown.Profile, shown.At = r.Candidates[0].Choice, person, noon.Add(time.Second)
	w.record(shown)
	profile, err := w.Profile(w.ctx, person)
	w.ok(err, "Profile")
	w.same(profile, &ads.Profile{ID: person, Seen: []ads.Sighting{
		{Scope: scope, Choice: shown.Choice, At: noon, Until: noon.AddDate(0, 0, 1), Keep: noon.AddDate(0, 0, 1)},
	}}, "the profile")
	r.Now = noon.AddDate(0, 0, 1).Add(-time.Millisecond)
	w.reserve(r)
	r.Now = noon.AddDate(0, 0, 1)
	r.Candidates[0].Choice = ads.ChoiceID{ID: id.New()}
	w.reserve(r, 0)
	empty, err := w.Profile(w.ctx, newPerson())
	w.ok(err, "Profile")
	w.same(len(empty.Seen), 0, "what an unknown person has seen")
}

// reserveMatchesTheDomain compares the engine with Profile.Reserve, for random reservations of one
// person.
func reserveMatchesTheDomain(w *world) {
	random := rand.New(rand.NewPCG(7, 11)) //nolint:gosec // a fixed seed
	model := &ads.Profile{ID: newPerson()}
	scopes, advertisers := []id.ID{id.New(), id.New(), id.New()}, []ads.AdvertiserID{anAdvertiser(), anAdvertiser()}
	windows := []ads.Window{ads.Hour, ads.Day, ads.Week, ads.Lifetime}
	now := noon
	for range 60 {
		now = now.Add(time.Duration(random.IntN(40)) * time.Minute)
		r := ads.Reservation{Profile: model.ID, Count: 1 + random.IntN(3), Now: now}
		for range random.IntN(5) {
			c := candidate(advertisers[random.IntN(2)])
			for range random.IntN(3) {
				c.Caps = append(c.Caps, capOf(scopes[random.IntN(3)], 1+random.IntN(4), windows[random.IntN(4)]))
			}
			r.Candidates = append(r.Candidates, c)
		}
		w.reserve(r, model.Reserve(r)...)
	}
}
