package storagetest

import (
	"time"

	"plaza/ads"
	"plaza/id"
	"plaza/social"
)

// clickAds lets a user see an ad that has a cap, click on it and convert, and then click on an ad
// whose impression is not known. It returns the user's keyed hash.
func (w *world) clickAds(user social.UserID) ads.ProfileID {
	w.t.Helper()
	store, now := w.Ads(), time.Now().UTC().Truncate(time.Millisecond)
	key, err := store.SigningKey(w.ctx, []byte("a key"))
	w.ok(err, "SigningKey")
	person := ads.UserProfile(key, user.String())
	r := w.placeAd(store)
	r.At, r.KeepUntil, r.WaitUntil, r.Profile = now, now.Add(ads.EventLife), now.Add(time.Hour), person
	_, err = store.Reserve(w.ctx, ads.Reservation{Profile: person, Count: 1, Now: now, Candidates: []ads.Candidate{{
		Choice: r.Choice, Advertiser: ads.AdvertiserID{ID: id.New()}, Caps: []ads.ScopeCap{{Scope: r.Unit.ID, Cap: ads.Cap{Count: 1, Per: ads.Day}}},
	}}})
	w.ok(err, "Reserve")
	var keys []ads.RecordingKey
	for _, r.Kind = range ads.Kinds() {
		_, err := store.Record(w.ctx, r)
		w.ok(err, "Record")
		keys = append(keys, r.Key())
	}
	receipts, err := store.Count(w.ctx, keys, now)
	w.ok(err, "Count")
	w.same(len(receipts), len(keys), "the number of receipts")
	r.Choice, r.Kind = ads.ChoiceID{ID: id.New()}, ads.Click
	_, err = store.Record(w.ctx, r)
	w.ok(err, "Record")
	return person
}

// placeAd stores a unit, and returns an incomplete recording of it.
func (w *world) placeAd(store ads.Store) ads.Recording {
	w.t.Helper()
	a := ads.Advertiser{ID: ads.AdvertiserID{ID: id.New()}, Name: "Acme"}
	c := ads.Campaign{ID: ads.CampaignID{ID: id.New()}, Advertiser: a.ID, Name: "Spring", State: ads.Active}
	zone := ads.Zone{ID: ads.ZoneID{Site: "example.org", Name: "top"}, Currency: "EUR", Design: ads.ByZone}
	u := ads.Unit{
		ID: ads.UnitID{ID: id.New()}, Campaign: c.ID, State: ads.Active, Zones: []ads.ZoneID{zone.ID}, Bid: ads.Bid{Model: ads.CPC, Price: 1, Currency: "EUR"},
		Creative: ads.Creative{Headline: "Anvils", LandingURL: "https://acme.example/"},
	}
	_, err := store.Save(w.ctx, ads.Batch{Advertisers: []ads.Advertiser{a}, Campaigns: []ads.Campaign{c}, Zones: []ads.Zone{zone}, Units: []ads.Unit{u}})
	w.ok(err, "Save")
	return ads.Recording{Choice: ads.ChoiceID{ID: id.New()}, Unit: u.ID, Campaign: c.ID, Zone: zone.ID, Cost: 1, Days: 1}
}
