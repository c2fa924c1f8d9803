package adstest

import (
	"errors"
	"sync"

	"plaza/ads"
)

var campaignCases = []testCase{
	{"PauseTakesUnitsOutOfAllZones", pauseTakesUnitsOut},
	{"ResumePutsUnitsBackInOrder", resumePutsUnitsBack},
	{"PauseAndResumeAreIdempotent", pauseAndResumeAreIdempotent},
	{"UnitsOfAPausedCampaignAreAddedPaused", unitsAreAddedPaused},
	{"ConcurrentPausingResumingAndAddingAgree", pausingResumingAndAddingAgree},
}

func pauseTakesUnitsOut(w *world) {
	spring, autumn := w.campaign(), w.campaign()
	top, side, foot := w.zone("top"), w.zone("side"), w.zone("foot")
	w.place(spring, cpm(5), top)
	w.place(spring, cpm(3), top, side, foot)
	rest := w.place(autumn, cpm(4), top, side)

	paused, err := w.pause(spring.ID)
	w.ok(err, "PauseCampaign")
	w.same(paused, true, "whether it was paused")
	w.runs(top, rest)
	w.runs(side, rest)
	w.runs(foot)
	w.campaignIs(spring.ID, true)
	w.campaignIs(autumn.ID, false)
}

func (w *world) campaignIs(c ads.CampaignID, paused bool) {
	w.t.Helper()
	found, err := w.Campaigns(w.ctx, []ads.CampaignID{c})
	w.ok(err, "Campaigns")
	if found[c] == nil || (found[c].State == ads.Paused) != paused {
		w.t.Errorf("the campaign is %+v, want paused %v", found[c], paused)
	}
}

func resumePutsUnitsBack(w *world) {
	spring, autumn := w.campaign(), w.campaign()
	top, side := w.zone("top"), w.zone("side")
	best := w.place(spring, cpm(5_000_000), top)
	learnt := w.place(spring, cpc(500_000), top, side) // 5.00 at first
	rest := w.place(autumn, cpm(4_900_000), top, side)
	w.runs(side, learnt, rest)

	if _, err := w.pause(spring.ID); err != nil {
		w.t.Fatal(err)
	}
	for range 30 { // impressions from before the pause are recorded during it
		w.record(recording(ads.Impression, learnt, side))
	}
	w.runs(side, rest)
	resumed, err := w.resume(spring.ID)
	w.ok(err, "ResumeCampaign")
	w.same(resumed, true, "whether it was resumed")
	w.runs(top, best, rest, learnt)
	w.runs(side, rest, learnt)
	w.campaignIs(spring.ID, false)
	w.counts(learnt, 30, 0)
}

func pauseAndResumeAreIdempotent(w *world) {
	c, zone := w.campaign(), w.zone("top")
	u := w.place(c, cpm(1), zone)
	for _, step := range []struct {
		name string
		call func() (bool, error)
		want bool
		runs []ads.UnitID
	}{
		{"resume what runs", func() (bool, error) { return w.resume(c.ID) }, false, []ads.UnitID{u}},
		{"pause", func() (bool, error) { return w.pause(c.ID) }, true, nil},
		{"pause again", func() (bool, error) { return w.pause(c.ID) }, false, nil},
		{"resume", func() (bool, error) { return w.resume(c.ID) }, true, []ads.UnitID{u}},
		{"resume again", func() (bool, error) { return w.resume(c.ID) }, false, []ads.UnitID{u}},
	} {
		changed, err := step.call()
		w.ok(err, step.name)
		w.same(changed, step.want, step.name)
		w.runs(zone, step.runs...)
	}
}

func unitsAreAddedPaused(w *world) {
	c, zone := w.campaign(), w.zone("top")
	if _, err := w.pause(c.ID); err != nil {
		w.t.Fatal(err)
	}
	u := w.place(c, cpm(1), zone)
	w.runs(zone)
	if _, err := w.resume(c.ID); err != nil {
		w.t.Fatal(err)
	}
	w.runs(zone, u)
}

// pausingResumingAndAddingAgree has many callers change one campaign, in zones that it was not in
// before, and checks that the running units match the campaign's state in the end.
func pausingResumingAndAddingAgree(w *world) {
	c, other := w.campaign(), w.campaign()
	zones := []ads.ZoneID{w.zone("a"), w.zone("b"), w.zone("c"), w.zone("d")}
	rest := w.place(other, cpm(1), zones...)
	units := make([]ads.Unit, crowd)
	var calls sync.Map
	together(func(i int) {
		units[i] = unit(c, cpc(ads.Micros(1_000_000+i)), zones[i%len(zones)])
		var err error
		switch i % 4 {
		case 0:
			_, err = w.pause(c.ID)
		case 1:
			_, err = w.resume(c.ID)
		}
		if err == nil {
			_, err = w.Save(w.ctx, ads.Batch{Units: []ads.Unit{units[i]}})
		}
		if err == nil {
			r := recording(ads.Impression, units[i].ID, units[i].Zones[0])
			_, recordErr := w.Record(w.ctx, r)
			_, countErr := w.Count(w.ctx, []ads.RecordingKey{r.Key()}, r.At)
			err = errors.Join(recordErr, countErr)
		}
		calls.Store(i, err)
	})
	calls.Range(func(i, err any) bool {
		if err != nil {
			w.t.Errorf("caller %d: %v", i, err)
		}
		return true
	})
	for i := range units { // before anything is corrected
		w.counts(units[i].ID, 1, 0)
	}
	if _, err := w.pause(c.ID); err != nil {
		w.t.Fatal(err)
	}
	for _, zone := range zones {
		w.runs(zone, rest)
	}
	if _, err := w.resume(c.ID); err != nil {
		w.t.Fatal(err)
	}
	for _, zone := range zones {
		w.same(len(w.running(zone)), 1+crowd/len(zones), "the units that run after all")
	}
	for i := range units {
		w.counts(units[i].ID, 1, 0)
	}
}
