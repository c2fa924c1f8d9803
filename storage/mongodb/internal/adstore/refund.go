package adstore

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/ads"
	"plaza/id"
	"plaza/storage/mongodb/internal/mdb"
)

// refundDoc is a document of adRefunds.
type refundDoc struct {
	ID       ads.RefundID   `bson:"_id"`
	Version  int            `bson:"v"`
	Campaign ads.CampaignID `bson:"campaign"`
	Unit     *ads.UnitID    `bson:"unit,omitempty"` // the optional parts of the selection
	Choice   *ads.ChoiceID  `bson:"choice,omitempty"`
	Kind     ads.Kind       `bson:"kind,omitempty"`
	Person   *ads.ProfileID `bson:"person,omitempty"`
	Address  *ads.ProfileID `bson:"address,omitempty"`
	From     time.Time      `bson:"from"`
	To       time.Time      `bson:"to"`
	Most     int            `bson:"most"`
	By       string         `bson:"by"`
	Reason   string         `bson:"reason"`
	Begun    time.Time      `bson:"begun"`
	Count    int            `bson:"count"`
	Amount   ads.Micros     `bson:"amount"`
	Open     bool           `bson:"open,omitempty"` // true until it is done
}

func newRefundDoc(r *ads.Refund) refundDoc {
	return refundDoc{
		ID: r.ID, Version: mdb.FirstVersion, Campaign: r.Campaign, Unit: orNil(r.Unit), Choice: orNil(r.Choice), Kind: r.Kind, Person: orNil(r.Person), Address: orNil(r.Address),
		From: r.From, To: r.To, Most: r.Most, By: r.By, Reason: r.Reason, Begun: r.Begun, Count: r.Count, Amount: r.Amount, Open: !r.Done,
	}
}

func (d *refundDoc) refund() *ads.Refund {
	return &ads.Refund{
		ID: d.ID,
		Selection: ads.Selection{
			Campaign: d.Campaign, Unit: orZero(d.Unit), Choice: orZero(d.Choice), Kind: d.Kind, From: mdb.UTC(d.From), To: mdb.UTC(d.To), Person: orZero(d.Person), Address: orZero(d.Address),
		},
		Most: d.Most, By: d.By, Reason: d.Reason, Begun: mdb.UTC(d.Begun), Count: d.Count, Amount: d.Amount, Done: !d.Open,
	}
}

// charged returns a filter for a selection, and the index to use.
func charged(s *ads.Selection) (filter bson.D, hint string) {
	filter = mdb.Doc("campaign", s.Campaign, "at", mdb.Doc("$gte", s.From, "$lt", s.To), "billed", mdb.Doc("$gt", 0))
	hint = byBilling
	if !s.Unit.IsZero() {
		filter = append(filter, bson.E{Key: "unit", Value: s.Unit})
	}
	if !s.Address.IsZero() {
		filter, hint = append(filter, bson.E{Key: "address", Value: s.Address}), byAddress
	}
	if !s.Person.IsZero() {
		filter, hint = append(filter, bson.E{Key: "profile", Value: s.Person}), byPerson
	}
	if !s.Choice.IsZero() {
		filter, hint = append(filter, bson.E{Key: "_id", Value: s.Choice}), "_id_"
	}
	return filter, hint
}

// findCharged reads recordings of one kind in a selection, by time; order is 1 for oldest first, -1
// for newest first.
func (a *Store) findCharged(ctx context.Context, s *ads.Selection, kind ads.Kind, order, limit int) ([]recordingDoc, error) {
	filter, hint := charged(s)
	find := options.Find().SetHint(hint).SetLimit(int64(limit))
	if s.Choice.IsZero() { // otherwise there is at most one
		find.SetSort(mdb.Doc("at", order))
	}
	return mdb.FindAll[recordingDoc](ctx, a.recordings(kind), filter, limit, find)
}

// chargesDoc is a sum of recordings.
type chargesDoc struct {
	Count  int        `bson:"count"`
	Amount ads.Micros `bson:"amount"`
}

// Charged implements ads.Refunds.
func (a *Store) Charged(ctx context.Context, s ads.Selection) (c ads.Charges, err error) {
	err = a.calls.Read(ctx, "charges", func(ctx context.Context) error {
		c = ads.Charges{}
		for _, kind := range s.Kinds() {
			sum, err := a.sumCharged(ctx, &s, kind, ads.MaxRefund+1-c.Count)
			if err != nil {
				return err
			}
			c.Count += sum.Count
			c.Amount += sum.Amount
			newest, err := a.findCharged(ctx, &s, kind, -1, ads.MaxCharges)
			if err != nil {
				return err
			}
			for i := range newest {
				charge, err := newest[i].charge(kind)
				if err != nil {
					return err
				}
				c.Add(charge)
			}
		}
		return nil
	})
	return c, err
}

func (a *Store) sumCharged(ctx context.Context, s *ads.Selection, kind ads.Kind, limit int) (sum chargesDoc, err error) {
	if limit <= 0 {
		return sum, nil
	}
	filter, hint := charged(s)
	total := mdb.Doc("_id", nil, "count", mdb.Doc("$sum", 1), "amount", mdb.Doc("$sum", "$billed"))
	cursor, err := a.recordings(kind).Aggregate(ctx, mongo.Pipeline{mdb.Doc("$match", filter), mdb.Doc("$limit", limit), mdb.Doc("$group", total)}, options.Aggregate().SetHint(hint))
	if err != nil {
		return sum, err
	}
	sums, err := mdb.ReadAll[chargesDoc](ctx, cursor, 1)
	if len(sums) > 0 {
		sum = sums[0]
	}
	return sum, err
}

func (d *recordingDoc) charge(kind ads.Kind) (ads.Charge, error) {
	zone, err := ads.ParseZoneID(d.Zone)
	return ads.Charge{Choice: d.Choice, Kind: kind, Unit: d.Unit, Zone: zone, At: mdb.UTC(d.At), Amount: d.Billed, Person: orZero(d.Profile)}, err
}

// Begin implements ads.Refunds.
func (a *Store) Begin(ctx context.Context, r ads.Refund) error {
	return a.calls.Write(ctx, "begin refund", []id.ID{r.ID.ID}, func(ctx context.Context) error {
		_, err := a.refunds.InsertOne(ctx, newRefundDoc(&r))
		return err
	})
}

// Continue implements ads.Refunds. It first reads the refund's campaign, so that it can wait for
// other writers of that campaign.
func (a *Store) Continue(ctx context.Context, refund ads.RefundID, now time.Time) (r *ads.Refund, err error) {
	var d refundDoc
	err = a.calls.Read(ctx, "refund", func(ctx context.Context) error {
		return mdb.OrNotFound(a.refunds.FindOne(ctx, mdb.Doc("_id", refund)).Decode(&d))
	})
	switch {
	case err != nil:
		return nil, err
	case !d.Open:
		return d.refund(), nil
	}
	err = a.calls.Write(ctx, "refund ads", []id.ID{refund.ID, d.Campaign.ID}, func(ctx context.Context) error {
		r, err = a.continueRefund(ctx, refund, now)
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (a *Store) continueRefund(ctx context.Context, refund ads.RefundID, now time.Time) (*ads.Refund, error) {
	var d refundDoc
	if err := mdb.OrNotFound(a.refunds.FindOne(ctx, mdb.Doc("_id", refund)).Decode(&d)); err != nil || !d.Open {
		return d.refund(), err
	}
	r := d.refund()
	books, err := a.openBooks(ctx, []ads.CampaignID{r.Campaign}, nil)
	if err != nil {
		return nil, err
	}
	left := min(ads.MaxRefunded, r.Most-r.Count)
	for _, kind := range r.Kinds() {
		some, err := a.findCharged(ctx, &r.Selection, kind, 1, left)
		if err != nil {
			return nil, err
		}
		if len(some) == 0 {
			continue
		}
		amount, err := a.takeBack(ctx, books, kind, some, ads.Refunded, r.ID, now)
		if err != nil {
			return nil, err
		}
		r.Count += len(some)
		r.Amount += amount
		if left -= len(some); left == 0 {
			break
		}
	}
	r.Done = left > 0 || r.Count >= r.Most
	if err := books.close(ctx); err != nil {
		return nil, err
	}
	_, err = a.refunds.ReplaceOne(ctx, mdb.Doc("_id", r.ID), newRefundDoc(r))
	return r, err
}

// takeBack refunds recordings of one kind, and returns the amount.
func (a *Store) takeBack(ctx context.Context, books *books, kind ads.Kind, some []recordingDoc, why ads.Invalid, refund ads.RefundID, now time.Time) (ads.Micros, error) {
	if len(some) == 0 {
		return 0, nil
	}
	set := mdb.Doc("refunded", "$billed", "billed", int64(0), "invalid", why)
	if !refund.IsZero() {
		set = append(set, bson.E{Key: "refund", Value: refund})
	}
	ids := mdb.Map(some, func(d *recordingDoc) ads.ChoiceID { return d.Choice })
	if _, err := a.recordings(kind).UpdateMany(ctx, mdb.Doc("_id", mdb.Doc("$in", ids)), mongo.Pipeline{mdb.Doc("$set", set)}); err != nil {
		return 0, err
	}
	if err := a.uncount(ctx, kind, some); err != nil {
		return 0, err
	}
	if err := a.markStale(ctx, hoursOf(some)); err != nil {
		return 0, err
	}
	return books.giveBack(ctx, some, now)
}

// uncount subtracts recordings from the counters of their units.
func (a *Store) uncount(ctx context.Context, kind ads.Kind, some []recordingDoc) error {
	counted := map[ads.UnitID]int64{}
	for i := range some {
		counted[some[i].Unit]++
	}
	for unit, n := range counted {
		if err := a.countBy(ctx, unit, kind, -n); err != nil {
			return err
		}
	}
	return nil
}

// endWaiting makes uncounted clicks invalid.
func (a *Store) endWaiting(ctx context.Context, clicks []recordingDoc, why ads.Invalid) error {
	if len(clicks) == 0 {
		return nil
	}
	ids := mdb.Map(clicks, func(d *recordingDoc) ads.ChoiceID { return d.Choice })
	if _, err := a.clicks.UpdateMany(ctx, mdb.Doc("_id", mdb.Doc("$in", ids)), mdb.Doc("$set", mdb.Doc("invalid", why), "$unset", mdb.Doc("waiting", ""))); err != nil {
		return err
	}
	return a.markStale(ctx, hoursOf(clicks))
}

// hoursOf returns the hours that recordings count for.
func hoursOf(some []recordingDoc) []time.Time {
	return distinct(some, func(d *recordingDoc) []time.Time { return []time.Time{mdb.UTC(d.At).Truncate(time.Hour)} })
}

// Unfinished implements ads.Refunds.
func (a *Store) Unfinished(ctx context.Context) (open []ads.RefundID, err error) {
	const most = 100
	err = a.calls.Read(ctx, "open refunds", func(ctx context.Context) error {
		docs, err := mdb.FindAll[refundDoc](ctx, a.refunds, mdb.Doc("open", true), most,
			options.Find().SetSort(mdb.Doc("_id", 1)).SetHint(byOpen).SetLimit(most).SetProjection(mdb.Doc("_id", 1)))
		open = mdb.Map(docs, func(d *refundDoc) ads.RefundID { return d.ID })
		return err
	})
	return open, err
}

// ListRefunds implements ads.Refunds.
func (a *Store) ListRefunds(ctx context.Context, of ads.CampaignID, p ads.Page) (list []*ads.Refund, err error) {
	err = a.calls.Read(ctx, "list refunds", func(ctx context.Context) error {
		docs, err := readPage[refundDoc](ctx, a.refunds, mdb.Doc("campaign", of), byCampaign, p, idKey)
		list = mdb.Map(docs, (*refundDoc).refund)
		return err
	})
	return list, err
}
