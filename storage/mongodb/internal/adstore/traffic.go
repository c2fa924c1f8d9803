package adstore

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/ads"
	"plaza/storage/mongodb/internal/mdb"
)

// trafficDoc is a document of adTraffic: what one server has counted for a zone in an hour.
type trafficDoc struct {
	ID        ads.TrafficID `bson:"_id"`
	Version   int           `bson:"v"`
	Zone      string        `bson:"zone"`
	Currency  ads.Currency  `bson:"currency"`
	Hour      time.Time     `bson:"hour"`
	Requested int64         `bson:"asked"`
	Filled    int64         `bson:"filled"`
	Shown     int64         `bson:"shown"`
}

// PutTraffic implements ads.Traffics.
func (a *Store) PutTraffic(ctx context.Context, counts []ads.Traffic) error {
	if len(counts) == 0 {
		return nil
	}
	puts := make([]mongo.WriteModel, len(counts))
	for i, t := range counts {
		d := trafficDoc{ID: t.ID, Version: mdb.FirstVersion, Zone: t.Zone.String(), Currency: t.Currency, Hour: t.Hour, Requested: t.Requested, Filled: t.Filled, Shown: t.Shown}
		puts[i] = mongo.NewReplaceOneModel().SetFilter(mdb.Doc("_id", t.ID, "zone", d.Zone, "hour", t.Hour)).SetReplacement(d).SetUpsert(true)
	}
	return a.calls.Read(ctx, "put traffic", func(ctx context.Context) error {
		return mdb.Retry(ctx, func() error {
			_, err := a.traffic.BulkWrite(ctx, puts, options.BulkWrite().SetOrdered(false))
			return mdb.OrRetry(err)
		})
	})
}

// trafficSumDoc is a row of sums. The dimension decides which part of the key is set.
type trafficSumDoc struct {
	Key struct {
		Hour     time.Time    `bson:"hour"`
		Zone     string       `bson:"zone"`
		Currency ads.Currency `bson:"currency"`
	} `bson:"_id"`
	Requested int64 `bson:"asked"`
	Filled    int64 `bson:"filled"`
	Shown     int64 `bson:"shown"`
}

func (d *trafficSumDoc) row(by ads.Dimension) ads.TrafficRow {
	row := ads.TrafficRow{Key: d.Key.Zone, Currency: d.Key.Currency, Requested: d.Requested, Filled: d.Filled, Shown: d.Shown}
	if by != ads.PerZone {
		row.Key = ads.HourKey(d.Key.Hour)
	}
	return row
}

// Traffic implements ads.Traffics.
func (a *Store) Traffic(ctx context.Context, r ads.TrafficRequest) (rows []ads.TrafficRow, err error) {
	match, hint := mdb.Doc("hour", mdb.Doc("$gte", r.From, "$lt", r.To)), "hour"
	if len(r.Zones) > 0 {
		match, hint = append(mdb.Doc("zone", mdb.Doc("$in", zoneKeys(r.Zones))), match...), byZone
	}
	sum := func(field string) bson.D { return mdb.Doc("$sum", "$"+field) }
	group := mdb.Doc("_id", bson.D{reportKeys[r.By], {Key: "currency", Value: "$currency"}}, "asked", sum("asked"), "filled", sum("filled"), "shown", sum("shown"))
	err = a.calls.Read(ctx, "ad traffic", func(ctx context.Context) error {
		cursor, err := a.traffic.Aggregate(ctx, mongo.Pipeline{mdb.Doc("$match", match), mdb.Doc("$group", group)}, options.Aggregate().SetHint(hint))
		if err != nil {
			return err
		}
		docs, err := mdb.ReadAll[trafficSumDoc](ctx, cursor, mdb.InBatch)
		rows = mdb.Map(docs, func(d *trafficSumDoc) ads.TrafficRow { return d.row(r.By) })
		return err
	})
	return rows, err
}
