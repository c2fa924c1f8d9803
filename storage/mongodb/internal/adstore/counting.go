package adstore

import (
	"context"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/ads"
	"plaza/id"
	"plaza/storage/mongodb/internal/mdb"
)

// Count implements ads.Recorder. It confirms impressions in profiles before the transaction, not in
// it: otherwise a person's next ad would have to wait for the transaction, and each profile that
// changes meanwhile would make all of it run again. If Count ends in between, the next call counts
// the recordings and confirms them again.
func (a *Store) Count(ctx context.Context, keys []ads.RecordingKey, now time.Time) (receipts []ads.Receipt, err error) {
	var waiting []ads.Recording
	err = a.calls.Read(ctx, "ads to count", func(ctx context.Context) error {
		if waiting, _, err = a.waitingOf(ctx, keys); err != nil {
			return err
		}
		return a.confirm(ctx, waiting)
	})
	if err != nil || len(waiting) == 0 {
		return nil, err
	}
	hot := distinct(waiting, func(r *ads.Recording) []id.ID { return []id.ID{r.Unit.ID, r.Campaign.ID, hotZone(r.Zone)} })
	err = a.calls.Write(ctx, "count ads", hot, func(ctx context.Context) error {
		receipts, err = a.count(ctx, keys, now)
		return err
	})
	if err != nil {
		return nil, err
	}
	return receipts, nil
}

// outcome is how a recording was counted, for the recordings that follow it.
type outcome struct {
	valid bool
	at    time.Time
}

// waitingOf returns the waiting recordings of the choices in keys, in the order in which they are
// counted, and the outcomes of those that have been counted. It looks for conversions only if there
// is a click, or a key of a conversion.
func (a *Store) waitingOf(ctx context.Context, keys []ads.RecordingKey) (waiting []ads.Recording, counted map[ads.RecordingKey]outcome, err error) {
	counted = map[ads.RecordingKey]outcome{}
	choices := distinct(keys, func(k *ads.RecordingKey) []ads.ChoiceID { return []ads.ChoiceID{k.Choice} })
	for _, kind := range ads.Kinds() {
		docs, err := mdb.FindIn[recordingDoc](ctx, a.recordings(kind), "_id", choices)
		if err != nil {
			return nil, nil, err
		}
		if kind == ads.Click {
			choices = mayHaveConverted(keys, docs)
		}
		var some []ads.Recording
		for i := range docs {
			d := &docs[i]
			if d.Waiting == nil {
				counted[ads.RecordingKey{Kind: kind, Choice: d.Choice}] = outcome{d.Invalid == "", mdb.UTC(d.At)}
				continue
			}
			r, err := d.recording(kind)
			if err != nil {
				return nil, nil, err
			}
			some = append(some, r)
		}
		slices.SortFunc(some, ads.Recording.Compare)
		waiting = append(waiting, some...)
	}
	return waiting, counted, nil
}

// mayHaveConverted returns the choices that were clicked, and those whose conversion is to be
// counted.
func mayHaveConverted(keys []ads.RecordingKey, clicks []recordingDoc) []ads.ChoiceID {
	choices := mdb.Map(clicks, func(d *recordingDoc) ads.ChoiceID { return d.Choice })
	for _, k := range keys {
		if k.Kind == ads.Conversion {
			choices = append(choices, k.Choice)
		}
	}
	return distinct(choices, func(c *ads.ChoiceID) []ads.ChoiceID { return []ads.ChoiceID{*c} })
}

// counting is one transaction that counts.
type counting struct {
	*Store

	now       time.Time
	counted   map[ads.RecordingKey]outcome // see waitingOf
	campaigns map[ads.UnitID]ads.CampaignID
	books     *books
	counts    map[countKey]int64
	updates   map[ads.Kind][]mongo.WriteModel // of impressions and conversions
	late      []time.Time                     // hours
	receipts  []ads.Receipt
}

// countKey identifies what is counted together.
type countKey struct {
	unit ads.UnitID
	kind ads.Kind
}

func (a *Store) count(ctx context.Context, keys []ads.RecordingKey, now time.Time) ([]ads.Receipt, error) {
	waiting, counted, err := a.waitingOf(ctx, keys)
	if err != nil || len(waiting) == 0 {
		return nil, err
	}
	units, err := mdb.FindIn[unitDoc](ctx, a.units, "_id", distinct(waiting, func(r *ads.Recording) []ads.UnitID { return []ads.UnitID{r.Unit} }))
	if err != nil {
		return nil, err
	}
	c := &counting{
		Store: a, now: now, counted: counted, campaigns: map[ads.UnitID]ads.CampaignID{}, counts: map[countKey]int64{}, updates: map[ads.Kind][]mongo.WriteModel{},
	}
	for i := range units {
		c.campaigns[units[i].ID] = units[i].Campaign
	}
	if c.books, err = c.open(ctx, waiting); err != nil {
		return nil, err
	}
	for i := range waiting {
		if err := c.one(ctx, &waiting[i]); err != nil {
			return nil, err
		}
	}
	return c.receipts, c.end(ctx)
}

// open reads the ledgers and leases that the recordings may be charged to.
func (c *counting) open(ctx context.Context, waiting []ads.Recording) (*books, error) {
	priced := slices.DeleteFunc(slices.Clone(waiting), func(r ads.Recording) bool { return r.Cost == 0 })
	campaigns := distinct(priced, func(r *ads.Recording) []ads.CampaignID { return []ads.CampaignID{c.campaigns[r.Unit]} })
	leases := distinct(priced, func(r *ads.Recording) []ads.LeaseID { return []ads.LeaseID{r.Lease} })
	return c.openBooks(ctx, campaigns, leases)
}

// one counts a recording, unless it waits for another one.
func (c *counting) one(ctx context.Context, r *ads.Recording) error {
	campaign, ok := c.campaigns[r.Unit]
	if !ok {
		_, err := c.recordings(r.Kind).DeleteOne(ctx, mdb.Doc("_id", r.Choice))
		return err
	}
	evidence, err := c.evidence(ctx, r)
	if err != nil {
		return err
	}
	verdict, waits := r.Judge(evidence, c.now)
	if waits {
		_, err := c.recordings(r.Kind).UpdateOne(ctx, stillWaiting(r.Choice), mdb.Doc("$set", mdb.Doc(whenDue, r.LookAgain(c.now))))
		return err
	}
	receipt := ads.Receipt{RecordingKey: r.Key(), Campaign: campaign, Zone: r.Zone, Invalid: verdict}
	day := ""
	switch {
	case verdict == "":
		receipt.Billed, day = c.books.charge(campaign, r)
		c.counts[countKey{r.Unit, r.Kind}]++
	case verdict == ads.TooMany && evidence.Burst():
		err = c.takeBackBurst(ctx, r)
	}
	if err != nil {
		return err
	}
	return c.settled(ctx, r, receipt, day)
}

// settled stores how a recording was counted. Clicks are stored immediately, because the next ones
// are judged by them.
func (c *counting) settled(ctx context.Context, r *ads.Recording, receipt ads.Receipt, day string) error {
	set := mdb.Doc("campaign", receipt.Campaign, "billed", receipt.Billed, "v", c.writes(c.recordings(r.Kind).Name()))
	if day != "" {
		set = append(set, bson.E{Key: "day", Value: day})
	}
	if receipt.Invalid != "" {
		set = append(set, bson.E{Key: "invalid", Value: receipt.Invalid})
	}
	update := mdb.Doc("$set", set, "$unset", mdb.Doc("waiting", ""))
	if r.IsLate(c.now) {
		c.late = append(c.late, r.At.Truncate(time.Hour))
	}
	outcome := outcome{receipt.Invalid == "", r.At}
	if r.Kind != ads.Click {
		c.counted[r.Key()] = outcome
		c.updates[r.Kind] = append(c.updates[r.Kind], mongo.NewUpdateOneModel().SetFilter(mdb.Doc("_id", r.Choice)).SetUpdate(update))
		c.receipts = append(c.receipts, receipt)
		return nil
	}
	result, err := c.clicks.UpdateOne(ctx, stillWaiting(r.Choice), update)
	if err == nil && result.MatchedCount > 0 {
		c.counted[r.Key()] = outcome
		c.receipts = append(c.receipts, receipt)
	}
	return err
}

// stillWaiting matches a recording until it has been counted.
func stillWaiting(choice ads.ChoiceID) bson.D {
	return mdb.Doc("_id", choice, "waiting", mdb.Doc("$exists", true))
}

// end stores what was added up.
func (c *counting) end(ctx context.Context) error {
	for kind, updates := range c.updates {
		if _, err := c.recordings(kind).BulkWrite(ctx, updates, options.BulkWrite().SetOrdered(false)); err != nil {
			return err
		}
	}
	for each, n := range c.counts {
		if err := c.countBy(ctx, each.unit, each.kind, n); err != nil {
			return err
		}
	}
	if len(c.late) > 0 {
		if err := c.markStale(ctx, distinct(c.late, func(hour *time.Time) []time.Time { return []time.Time{*hour} })); err != nil {
			return err
		}
	}
	return c.books.close(ctx)
}

// evidence reads what a recording is judged by.
func (c *counting) evidence(ctx context.Context, r *ads.Recording) (e ads.Evidence, err error) {
	outcome, arrived := c.counted[ads.RecordingKey{Kind: r.Kind.Before(), Choice: r.Choice}]
	e.Arrived, e.Valid, e.At = arrived, outcome.valid, outcome.at
	if !e.Valid || r.Kind != ads.Click {
		return e, nil
	}
	if e.PersonClicks, err = c.recentClicks(ctx, "profile", r.Profile, r, ads.MaxPersonClicks); err != nil {
		return e, err
	}
	e.AddressClicks, err = c.recentClicks(ctx, "address", r.Address, r, ads.MaxAddressClicks)
	return e, err
}

func (a *Store) recentClicks(ctx context.Context, field string, of ads.ProfileID, r *ads.Recording, most int64) (int, error) {
	if of.IsZero() {
		return 0, nil
	}
	n, err := a.clicks.CountDocuments(ctx, clicksBefore(field, of, r), options.Count().SetLimit(most))
	return int(n), err
}

// clicksBefore matches the clicks that count for the rate of another one: earlier ones, and those
// of the same moment that have been counted.
func clicksBefore(field string, of ads.ProfileID, r *ads.Recording) bson.D {
	return mdb.Doc(
		field, of, "at", mdb.Doc("$gt", r.At.Add(-ads.ClickWindow), "$lte", r.At), "_id", mdb.Doc("$ne", r.Choice),
		"$or", bson.A{mdb.Doc("at", mdb.Doc("$lt", r.At)), mdb.Doc("waiting", mdb.Doc("$exists", false))},
	)
}

// takeBackBurst refunds a person's clicks shortly before one that is TooMany, and the conversions
// of these clicks, also of those that were invalid before: a refund by hand leaves conversions.
// Waiting clicks become invalid, and are not judged any more.
func (c *counting) takeBackBurst(ctx context.Context, r *ads.Recording) error {
	some, err := mdb.FindAll[recordingDoc](ctx, c.clicks, clicksBefore("profile", r.Profile, r), ads.MaxPersonClicks, options.Find().SetHint(byPerson))
	if err != nil {
		return err
	}
	var valid, waiting []recordingDoc
	for _, d := range some {
		switch {
		case d.Waiting != nil:
			waiting = append(waiting, d)
		case d.Invalid == "":
			valid = append(valid, d)
		default:
			continue
		}
		c.counted[ads.RecordingKey{Kind: ads.Click, Choice: d.Choice}] = outcome{false, mdb.UTC(d.At)}
	}
	if err := c.endWaiting(ctx, waiting, ads.TooMany); err != nil {
		return err
	}
	if _, err := c.takeBack(ctx, c.books, ads.Click, valid, ads.TooMany, ads.RefundID{}, r.At); err != nil {
		return err
	}
	choices := mdb.Map(some, func(d *recordingDoc) ads.ChoiceID { return d.Choice })
	converted, err := mdb.FindIn[recordingDoc](ctx, c.conversions, "_id", choices)
	if err != nil {
		return err
	}
	converted = slices.DeleteFunc(converted, func(d recordingDoc) bool { return d.Waiting != nil || d.Invalid != "" })
	_, err = c.takeBack(ctx, c.books, ads.Conversion, converted, ads.TooMany, ads.RefundID{}, r.At)
	return err
}
