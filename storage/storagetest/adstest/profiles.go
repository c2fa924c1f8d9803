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
	{"ForgetUserForgetsOneProfile", forgetProfile},
	{"ForgetUserKeepsWhatClicksCost", forgetClicks},
	{"ForgetUserTakesParts", forgetInParts},
	{"ForgetUserNeedsAKey", forgetWithoutKey},
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
	gone, other, scope := w.user("ada"), w.user("ben"), id.New()
	of := func(person ads.ProfileID) ads.Reservation {
		return ads.Reservation{Profile: person, Count: 1, Now: noon, Candidates: []ads.Candidate{candidate(anAdvertiser(), capOf(scope, 1, ads.Day))}}
	}
	w.reserve(of(gone), 0)
	w.reserve(of(other), 0)
	w.forget("ada")
	w.forget("ada")
	w.forget("cem") // who has no profile
	profile, err := w.Profile(w.ctx, gone)
	w.ok(err, "Profile")
	w.same(len(profile.Seen), 0, "what is left of the profile")
	w.reserve(of(gone), 0)
	w.reserve(of(other))
}

// user returns the profile of a user.
func (w *world) user(name string) ads.ProfileID {
	w.t.Helper()
	key, err := w.SigningKey(w.ctx, []byte("a key"))
	w.ok(err, "SigningKey")
	return ads.UserProfile(key, name)
}

// forget forgets a user completely, and returns how many parts that took.
func (w *world) forget(user string) (parts int) {
	w.t.Helper()
	for {
		left, err := w.ForgetUser(w.ctx, user)
		w.ok(err, "ForgetUser")
		parts++
		if !left {
			return parts
		}
	}
}

// charged returns the newest charges of a campaign, those of a person if there is one.
func (w *world) charged(c ads.Campaign, by ads.ProfileID) ads.Charges {
	w.t.Helper()
	s := selectionOf(c)
	s.Person = by
	found, err := w.Charged(w.ctx, s)
	w.ok(err, "Charged")
	return found
}

func forgetClicks(w *world) {
	ada, ben := w.user("ada"), w.user("ben")
	c, zone := w.budgeted(ads.Budget{Total: 1_000}), w.zone("top")
	u := w.place(c, cpc(100), zone)
	for _, person := range []ads.ProfileID{ada, ben} {
		v := newVisit(u, zone)
		v.clicked.Profile, v.converted.Profile = person, person
		v.clicked.Cost, v.converted.Cost = 100, 30
		for _, r := range []ads.Recording{v.shown, v.clicked, v.converted} {
			w.record(r)
		}
	}
	waiting := newVisit(u, zone).clicked
	waiting.Profile = ada
	w.same(w.take(waiting), true, "whether a click without an impression was recorded")

	w.forget("ada")
	w.forget("ada")
	w.same(w.charged(c, ada), ads.Charges{}, "what the user is charged with")
	w.same(w.charged(c, ben).Count, 2, "what another user is charged with")
	all := w.charged(c, ads.ProfileID{})
	w.same([]any{all.Count, all.Amount}, []any{4, ads.Micros(260)}, "all charges")
	for _, charge := range all.Newest {
		if charge.Person == ada {
			w.t.Errorf("%+v names the user", charge)
		}
	}
	w.counts(u, 2, 2)
	w.converts(u, 2)
	w.same(w.ledger(c).Spent, ads.Micros(260), "what was spent")
}

func forgetInParts(w *world) {
	const clicks = ads.MaxForgotten + 1
	ada := w.user("ada")
	c, zone := w.budgeted(ads.Budget{Total: clicks}), w.zone("top")
	u := w.place(c, cpc(1), zone)
	for i := range clicks {
		v := newVisit(u, zone)
		v.clicked.Profile, v.clicked.Cost = ada, 1
		v.clicked.At = noon.Add(time.Duration(i) * ads.ClickWindow / ads.MaxPersonClicks) // as fast as a person may click
		v.clicked.WaitUntil = v.clicked.At
		w.record(v.shown)
		w.record(v.clicked)
	}
	w.same(w.charged(c, ada).Count, clicks, "what the user is charged with")
	left, err := w.ForgetUser(w.ctx, "ada")
	w.ok(err, "ForgetUser")
	w.same([]any{left, w.charged(c, ada).Count}, []any{true, 1}, "what is left after the first part")
	w.same(w.forget("ada"), 1, "further parts")
	w.same(w.charged(c, ada).Count, 0, "what is left")
	w.same(w.charged(c, ads.ProfileID{}).Count, clicks, "all charges")
}

func forgetWithoutKey(w *world) { w.same(w.forget("ada"), 1, "parts") }

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
