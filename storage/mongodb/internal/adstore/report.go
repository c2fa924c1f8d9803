package adstore

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/ads"
	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// tallyDoc is a document of adTallies: the sums for a unit in a zone in an hour, or, with a
// keyword, for a unit in an hour.
type tallyDoc struct {
	Version     int            `bson:"v"`
	Hour        time.Time      `bson:"hour"`
	Campaign    ads.CampaignID `bson:"campaign"`
	Unit        ads.UnitID     `bson:"unit"`
	Zone        string         `bson:"zone"`
	Keyword     string         `bson:"keyword"` // empty for sums by zone
	Currency    ads.Currency   `bson:"currency"`
	Impressions int64          `bson:"impressions"`
	Clicks      int64          `bson:"clicks"`
	Conversions int64          `bson:"conversions"`
	Invalid     int64          `bson:"invalid"`
	Spend       ads.Micros     `bson:"spend"`
	Refunded    ads.Micros     `bson:"refunded,omitempty"`
}

// tallyKey identifies what is added up together.
type tallyKey struct {
	Hour     time.Time      `bson:"hour"`
	Campaign ads.CampaignID `bson:"campaign"`
	Unit     ads.UnitID     `bson:"unit"`
	Zone     string         `bson:"zone,omitempty"`
	Keyword  string         `bson:"keyword,omitempty"`
}

// sumDoc is one group of recordings.
type sumDoc struct {
	Key      tallyKey   `bson:"_id"`
	Valid    int64      `bson:"valid"`
	Invalid  int64      `bson:"invalid"`
	Spend    ads.Micros `bson:"spend"`
	Refunded ads.Micros `bson:"refunded"`
}

// rollupDoc is a document of adKeys. It says until when recordings have been added up, and in which
// earlier hours something was refunded since then.
type rollupDoc struct {
	Name    string      `bson:"_id"`
	Version int         `bson:"v"`
	Until   time.Time   `bson:"until"`
	Stale   []time.Time `bson:"stale,omitempty"`
}

const rollupName = "reports"

// hotRollup is the id under which concurrent calls of RollUp wait for each other.
var hotRollup = id.Derive(time.Time{}, "rollup")

// RollUp implements ads.Reports.
func (a *Store) RollUp(ctx context.Context, from, to, until time.Time) error {
	return a.calls.Write(ctx, "roll up", []id.ID{hotRollup}, func(ctx context.Context) error {
		tallies, err := a.tally(ctx, from, to)
		if err != nil {
			return err
		}
		if _, err := a.tallies.DeleteMany(ctx, mdb.Doc("hour", mdb.Doc("$gte", from, "$lt", to))); err != nil {
			return err
		}
		if len(tallies) > 0 {
			if _, err := a.tallies.InsertMany(ctx, tallies, options.InsertMany().SetOrdered(false)); err != nil {
				return err
			}
		}
		return a.putRollup(ctx, mdb.Doc("$max", mdb.Doc("until", until), "$pull", mdb.Doc("stale", mdb.Doc("$gte", from, "$lt", to))))
	})
}

// putRollup changes the rollupDoc.
func (a *Store) putRollup(ctx context.Context, change bson.D) error {
	change = append(change, bson.E{Key: "$setOnInsert", Value: mdb.Doc("v", mdb.FirstVersion)})
	_, err := a.keys.UpdateOne(ctx, mdb.Doc("_id", rollupName), change, options.UpdateOne().SetUpsert(true))
	return mdb.OrRetry(err)
}

// markStale marks hours to be added up again. It removes existing marks first: setting a mark that
// is already there would change nothing, so it would not conflict with a concurrent RollUp that
// removes the mark.
func (a *Store) markStale(ctx context.Context, hours []time.Time) error {
	own := mdb.Doc("_id", rollupName)
	_, err := a.keys.BulkWrite(ctx, []mongo.WriteModel{
		mongo.NewUpdateOneModel().SetFilter(own).SetUpdate(mdb.Doc("$pull", mdb.Doc("stale", mdb.Doc("$in", hours)))),
		mongo.NewUpdateOneModel().SetFilter(own).SetUpsert(true).
			SetUpdate(mdb.Doc("$addToSet", mdb.Doc("stale", mdb.Doc("$each", hours)), "$setOnInsert", mdb.Doc("v", mdb.FirstVersion))),
	})
	return mdb.OrRetry(err)
}

// tally adds up what was recorded.
func (a *Store) tally(ctx context.Context, from, to time.Time) ([]*tallyDoc, error) {
	tallies := map[tallyKey]*tallyDoc{}
	for _, kind := range ads.Kinds() {
		for _, byKeyword := range []bool{false, true} {
			sums, err := a.sums(ctx, kind, byKeyword, from, to)
			if err != nil {
				return nil, err
			}
			for _, sum := range sums {
				addTally(tallies, kind, sum, a.writes("adTallies"))
			}
		}
	}
	list := make([]*tallyDoc, 0, len(tallies))
	for _, t := range tallies {
		list = append(list, t)
	}
	units, err := mdb.FindIn[unitDoc](ctx, a.units, "_id", distinct(list, func(t **tallyDoc) []ads.UnitID { return []ads.UnitID{(*t).Unit} }))
	currencies := make(map[ads.UnitID]ads.Currency, len(units))
	for _, u := range units {
		currencies[u.ID] = u.Details.Bid.Currency
	}
	for _, t := range list {
		t.Currency = currencies[t.Unit]
	}
	return list, err
}

func addTally(tallies map[tallyKey]*tallyDoc, kind ads.Kind, sum sumDoc, v int) {
	k := sum.Key
	t := tallies[k]
	if t == nil {
		t = &tallyDoc{Version: v, Hour: k.Hour, Campaign: k.Campaign, Unit: k.Unit, Zone: k.Zone, Keyword: k.Keyword}
		tallies[k] = t
	}
	switch kind {
	case ads.Conversion:
		t.Conversions += sum.Valid
	case ads.Click:
		t.Clicks += sum.Valid
	default:
		t.Impressions += sum.Valid
	}
	t.Invalid += sum.Invalid
	t.Spend += sum.Spend
	t.Refunded += sum.Refunded
}

// sums groups the recordings of a kind: either all of them by zone, or those with keywords by
// keyword.
func (a *Store) sums(ctx context.Context, kind ads.Kind, byKeyword bool, from, to time.Time) ([]sumDoc, error) {
	pipeline := mongo.Pipeline{mdb.Doc("$match", mdb.Doc("at", mdb.Doc("$gte", from, "$lt", to), "waiting", mdb.Doc("$exists", false)))}
	key := mdb.Doc("hour", mdb.Doc("$dateTrunc", mdb.Doc("date", "$at", "unit", "hour")), "campaign", "$campaign", "unit", "$unit")
	if byKeyword {
		pipeline = append(pipeline, mdb.Doc("$unwind", "$keywords"))
		key = append(key, bson.E{Key: "keyword", Value: "$keywords"})
	} else {
		key = append(key, bson.E{Key: "zone", Value: "$zone"})
	}
	isInvalid := mdb.Doc("$gt", bson.A{"$invalid", ""})
	pipeline = append(pipeline, mdb.Doc("$group", mdb.Doc(
		"_id", key, "valid", mdb.Doc("$sum", mdb.Doc("$cond", bson.A{isInvalid, 0, 1})), "invalid", mdb.Doc("$sum", mdb.Doc("$cond", bson.A{isInvalid, 1, 0})),
		"spend", mdb.Doc("$sum", "$billed"), "refunded", mdb.Doc("$sum", "$refunded"),
	)))
	cursor, err := a.recordings(kind).Aggregate(ctx, pipeline)
	if err != nil {
		return nil, err
	}
	return mdb.ReadAll[sumDoc](ctx, cursor, mdb.InBatch)
}

// RolledUp implements ads.Reports.
func (a *Store) RolledUp(ctx context.Context) (until time.Time, stale []time.Time, err error) {
	var d rollupDoc
	err = a.calls.Read(ctx, "rolled up", func(ctx context.Context) error {
		return mdb.OrNotFound(a.keys.FindOne(ctx, mdb.Doc("_id", rollupName)).Decode(&d))
	})
	if errors.Is(err, social.ErrNotFound) {
		err = nil
	}
	return mdb.UTC(d.Until), mdb.Map(d.Stale, func(hour *time.Time) time.Time { return mdb.UTC(*hour) }), err
}

// Oldest implements ads.Reports.
func (a *Store) Oldest(ctx context.Context) (oldest time.Time, err error) {
	err = a.calls.Read(ctx, "oldest recording", func(ctx context.Context) error {
		oldest = time.Time{}
		for _, kind := range ads.Kinds() {
			first, err := mdb.FindAll[recordingDoc](ctx, a.recordings(kind), mdb.Doc(), 1, options.Find().SetSort(mdb.Doc("at", 1)).SetHint("at").SetLimit(1))
			if err != nil {
				return err
			}
			if len(first) > 0 && (oldest.IsZero() || first[0].At.Before(oldest)) {
				oldest = mdb.UTC(first[0].At)
			}
		}
		return nil
	})
	return oldest, err
}

// reportDoc is a row of a report. The dimension decides which part of the key is set.
type reportDoc struct {
	Key struct {
		Hour     time.Time      `bson:"hour"`
		Campaign ads.CampaignID `bson:"campaign"`
		Unit     ads.UnitID     `bson:"unit"`
		Zone     string         `bson:"zone"`
		Keyword  string         `bson:"keyword"`
		Currency ads.Currency   `bson:"currency"`
	} `bson:"_id"`
	Impressions int64      `bson:"impressions"`
	Clicks      int64      `bson:"clicks"`
	Conversions int64      `bson:"conversions"`
	Invalid     int64      `bson:"invalid"`
	Spend       ads.Micros `bson:"spend"`
	Refunded    ads.Micros `bson:"refunded"`
}

func (d *reportDoc) row(by ads.Dimension) ads.ReportRow {
	row := ads.ReportRow{
		Currency: d.Key.Currency, Impressions: d.Impressions, Clicks: d.Clicks, Conversions: d.Conversions, Invalid: d.Invalid, Spend: d.Spend,
		Refunded: d.Refunded,
	}
	switch by {
	case ads.PerHour, ads.PerDay:
		row.Key = ads.HourKey(d.Key.Hour)
	case ads.PerCampaign:
		row.Key = d.Key.Campaign.String()
	case ads.PerUnit:
		row.Key = d.Key.Unit.String()
	case ads.PerZone:
		row.Key = d.Key.Zone
	default:
		row.Key = d.Key.Keyword
	}
	return row
}

// reportKeys maps dimensions to the fields that rows are grouped by.
var reportKeys = map[ads.Dimension]bson.E{
	ads.PerHour:     {Key: "hour", Value: "$hour"},
	ads.PerDay:      {Key: "hour", Value: mdb.Doc("$dateTrunc", mdb.Doc("date", "$hour", "unit", "day"))},
	ads.PerCampaign: {Key: "campaign", Value: "$campaign"},
	ads.PerUnit:     {Key: "unit", Value: "$unit"},
	ads.PerZone:     {Key: "zone", Value: "$zone"},
	ads.PerKeyword:  {Key: "keyword", Value: "$keyword"},
}

// Report implements ads.Reports.
func (a *Store) Report(ctx context.Context, r ads.ReportRequest) (rows []ads.ReportRow, err error) {
	match := mdb.Doc("hour", mdb.Doc("$gte", r.From, "$lt", r.To), "keyword", "")
	if r.By == ads.PerKeyword {
		match = mdb.Doc("hour", mdb.Doc("$gte", r.From, "$lt", r.To), "keyword", mdb.Doc("$gt", ""))
	}
	if !r.Campaign.IsZero() {
		match = append(match, bson.E{Key: "campaign", Value: r.Campaign})
	}
	sum := func(field string) bson.D { return mdb.Doc("$sum", "$"+field) }
	group := mdb.Doc("_id", bson.D{reportKeys[r.By], {Key: "currency", Value: "$currency"}},
		"impressions", sum("impressions"), "clicks", sum("clicks"), "conversions", sum("conversions"), "invalid", sum("invalid"), "spend", sum("spend"), "refunded", sum("refunded"))
	// RollUp replaces the sums of an hour: a read without a snapshot could add up both.
	err = a.calls.ReadSnapshot(ctx, "ad report", func(ctx context.Context) error {
		cursor, err := a.tallies.Aggregate(ctx, mongo.Pipeline{mdb.Doc("$match", match), mdb.Doc("$group", group)})
		if err != nil {
			return err
		}
		docs, err := mdb.ReadAll[reportDoc](ctx, cursor, mdb.InBatch)
		rows = mdb.Map(docs, func(d *reportDoc) ads.ReportRow { return d.row(r.By) })
		return err
	})
	return rows, err
}
