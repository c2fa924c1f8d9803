package adstore

import (
	"context"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/ads"
	"plaza/storage/mongodb/internal/mdb"
)

// recordingDoc is a document of adImpressions, adClicks or adConversions. Its _id, the choice, is
// the shard key, so each choice has one recording of each kind.
type recordingDoc struct {
	Choice    ads.ChoiceID   `bson:"_id"`
	Version   int            `bson:"v"`
	Zone      string         `bson:"zone"`
	Unit      ads.UnitID     `bson:"unit"`
	Campaign  ads.CampaignID `bson:"campaign"`
	At        time.Time      `bson:"at"`
	KeepUntil time.Time      `bson:"keepUntil"`
	Billed    ads.Micros     `bson:"billed"`
	Day       string         `bson:"day,omitempty"` // the day whose budget was charged
	Refunded  ads.Micros     `bson:"refunded,omitempty"`
	Refund    *ads.RefundID  `bson:"refund,omitempty"` // the refund that covers it; none: judged invalid later
	Invalid   ads.Invalid    `bson:"invalid,omitempty"`
	Keywords  []string       `bson:"keywords,omitempty"`
	Waiting   *waitingDoc    `bson:"waiting,omitempty"` // nil: it has been counted

	Profile *ads.ProfileID `bson:"profile,omitempty"` // of clicks, for their rate, and of conversions
	Address *ads.ProfileID `bson:"address,omitempty"` // of clicks
}

// waitingDoc holds what is needed to count a recording.
type waitingDoc struct {
	Due    time.Time      `bson:"due"`
	Until  *time.Time     `bson:"shownBy,omitempty"` // how long a click or a conversion waits for the recording that it follows
	Cost   ads.Micros     `bson:"cost"`
	Lease  *ads.LeaseID   `bson:"lease,omitempty"`
	Viewer *ads.ProfileID `bson:"viewer,omitempty"` // of an impression
	Staff  bool           `bson:"staff,omitempty"`
	Days   int            `bson:"days,omitempty"` // of a conversion
}

func newRecordingDoc(r *ads.Recording, v int) recordingDoc {
	d := recordingDoc{
		Choice: r.Choice, Version: v, Zone: r.Zone.String(), Unit: r.Unit, Campaign: r.Campaign, At: r.At, KeepUntil: r.KeepUntil, Keywords: r.Keywords,
		Waiting: &waitingDoc{Due: r.At, Cost: r.Cost, Lease: orNil(r.Lease), Staff: r.Staff, Days: r.Days},
	}
	if r.Kind == ads.Impression {
		d.Waiting.Viewer = orNil(r.Profile)
		return d
	}
	d.Profile, d.Address, d.Waiting.Until = orNil(r.Profile), orNil(r.Address), orNil(r.WaitUntil)
	return d
}

// recording returns the recording of a document that waits.
func (d *recordingDoc) recording(kind ads.Kind) (ads.Recording, error) {
	zone, err := ads.ParseZoneID(d.Zone)
	r := ads.Recording{
		Kind: kind, Choice: d.Choice, Unit: d.Unit, Campaign: d.Campaign, Zone: zone, At: mdb.UTC(d.At), KeepUntil: mdb.UTC(d.KeepUntil), Keywords: d.Keywords,
		WaitUntil: mdb.UTC(orZero(d.Waiting.Until)), Cost: d.Waiting.Cost, Lease: orZero(d.Waiting.Lease), Staff: d.Waiting.Staff, Days: d.Waiting.Days,
		Profile: orZero(d.Profile), Address: orZero(d.Address),
	}
	if kind == ads.Impression {
		r.Profile = orZero(d.Waiting.Viewer)
	}
	return r, err
}

func (a *Store) recordings(kind ads.Kind) *mongo.Collection {
	switch kind {
	case ads.Conversion:
		return a.conversions
	case ads.Click:
		return a.clicks
	default:
		return a.impressions
	}
}

// Record implements ads.Recorder.
func (a *Store) Record(ctx context.Context, r ads.Recording) (recorded bool, err error) {
	err = a.calls.Read(ctx, "record ad", func(ctx context.Context) error {
		recordings := a.recordings(r.Kind)
		_, err := recordings.InsertOne(ctx, newRecordingDoc(&r, a.writes(recordings.Name())))
		recorded = err == nil
		if mongo.IsDuplicateKeyError(err) {
			return nil
		}
		return err
	})
	return recorded && err == nil, err
}

// Waiting implements ads.Recorder.
func (a *Store) Waiting(ctx context.Context, due time.Time) (list []ads.Waiting, err error) {
	type dueDoc struct {
		Choice   ads.ChoiceID   `bson:"_id"`
		Campaign ads.CampaignID `bson:"campaign"`
		Waiting  struct {
			Due time.Time `bson:"due"`
		} `bson:"waiting"`
		kind ads.Kind
	}
	err = a.calls.Read(ctx, "waiting ads", func(ctx context.Context) error {
		var all []dueDoc
		for _, kind := range ads.Kinds() {
			some, err := mdb.FindAll[dueDoc](ctx, a.recordings(kind), mdb.Doc(whenDue, mdb.Doc("$lte", due)), ads.MaxCounted,
				options.Find().SetSort(mdb.Doc(whenDue, 1)).SetHint(byDue).SetLimit(ads.MaxCounted).SetProjection(mdb.Doc("campaign", 1, whenDue, 1)))
			if err != nil {
				return err
			}
			for i := range some {
				some[i].kind = kind
			}
			all = append(all, some...)
		}
		slices.SortStableFunc(all, func(a, b dueDoc) int { return a.Waiting.Due.Compare(b.Waiting.Due) })
		list = mdb.Map(all[:min(len(all), ads.MaxCounted)], func(d *dueDoc) ads.Waiting {
			return ads.Waiting{RecordingKey: ads.RecordingKey{Kind: d.kind, Choice: d.Choice}, Campaign: d.Campaign}
		})
		return nil
	})
	return list, err
}

// countBy changes one of a unit's counters, and moves the unit in its zones.
func (a *Store) countBy(ctx context.Context, unit ads.UnitID, kind ads.Kind, by int64) error {
	var before unitDoc
	counter, _ := before.counter(kind)
	err := mdb.OrNotFound(a.units.FindOneAndUpdate(ctx, mdb.Doc("_id", unit), mdb.Doc("$inc", mdb.Doc(counter, by))).Decode(&before))
	if err != nil {
		return err
	}
	after := before
	_, count := after.counter(kind)
	*count += by
	if after.ecpm() == before.ecpm() {
		return nil
	}
	return a.move(ctx, &after)
}

// move gives a unit its new rank in the zones where it runs.
func (a *Store) move(ctx context.Context, unit *unitDoc) error {
	isUnit := mdb.Doc("$eq", bson.A{"$$each.unit", unit.ID})
	ranked := mdb.Doc("$mergeObjects", bson.A{"$$each", mdb.Doc("ecpm", unit.ecpm())})
	units := mdb.Doc("$map", mdb.Doc("input", "$units", "as", "each", "in", mdb.Doc("$cond", bson.A{isUnit, ranked, "$$each"})))
	_, err := a.zones.UpdateMany(ctx, mdb.Doc("_id", mdb.Doc("$in", unit.Details.Zones), "units.unit", unit.ID),
		mongo.Pipeline{mdb.Doc("$set", mdb.Doc("units", mdb.Doc("$sortArray", mdb.Doc("input", units, "sortBy", byRank))))})
	return err
}
