package mongodb

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/ads"
	"plaza/fault"
	"plaza/id"
)

// adRecordingDoc is a document of adImpressions or adClicks. Its _id, the choice, is the shard key: each counts once.
type adRecordingDoc struct {
	Choice    ads.ChoiceID   `bson:"_id"`
	Version   int            `bson:"v"`
	Zone      string         `bson:"zone"`
	Unit      ads.UnitID     `bson:"unit"`
	Campaign  ads.CampaignID `bson:"campaign"`
	At        time.Time      `bson:"at"`
	KeepUntil time.Time      `bson:"keepUntil"`
	Billed    ads.Micros     `bson:"billed"`
	Day       string         `bson:"day,omitempty"` // whose budget that was
	Refunded  ads.Micros     `bson:"refunded,omitempty"`
	Refund    *ads.RefundID  `bson:"refund,omitempty"` // which one it was; none: it was judged anew
	Invalid   ads.Invalid    `bson:"invalid,omitempty"`
	Keywords  []string       `bson:"keywords,omitempty"`

	Profile *ads.ProfileID `bson:"profile,omitempty"` // of clicks, for their rate
	Address *ads.ProfileID `bson:"address,omitempty"` // the same
}

// errRecorded says that a choice was recorded before.
var errRecorded = fault.Refusal("recorded before")

// Record implements ads.Recorder.
func (a *adStore) Record(ctx context.Context, r ads.Recording) (receipt ads.Receipt, err error) {
	hot := []id.ID{r.Unit.ID, r.Campaign.ID, hotZone(r.Zone)}
	err = a.db.write(ctx, "record ad", hot, func(ctx context.Context) error {
		receipt, err = a.record(ctx, &r)
		return err
	})
	switch {
	case errors.Is(err, errRecorded):
		return ads.Receipt{}, nil
	case err != nil:
		return ads.Receipt{}, err
	default:
		return receipt, nil
	}
}

func (a *adStore) record(ctx context.Context, r *ads.Recording) (ads.Receipt, error) {
	evidence, err := a.evidence(ctx, r)
	if err != nil {
		return ads.Receipt{}, err
	}
	receipt, day := ads.Receipt{Recorded: true, Invalid: r.Judge(evidence)}, ""
	campaign, err := a.count(ctx, r, receipt.Invalid == "")
	if err != nil {
		return ads.Receipt{}, err
	}
	switch {
	case receipt.Invalid == "":
		if receipt.Billed, day, err = a.charge(ctx, campaign, r); err != nil {
			return ads.Receipt{}, err
		}
		if r.Kind == ads.Impression && !r.Profile.IsZero() {
			err = a.confirm(ctx, r.Profile, r.Choice)
		}
	case receipt.Invalid == ads.TooMany && evidence.Burst():
		err = a.takeBackBurst(ctx, r)
	}
	if err != nil {
		return ads.Receipt{}, err
	}
	_, err = a.recordings(r.Kind).InsertOne(ctx, newAdRecordingDoc(r, campaign, receipt, day))
	if mongo.IsDuplicateKeyError(err) {
		return ads.Receipt{}, errRecorded
	}
	return receipt, err
}

func (a *adStore) recordings(kind ads.Kind) *mongo.Collection {
	if kind == ads.Click {
		return a.clicks
	}
	return a.impressions
}

func newAdRecordingDoc(r *ads.Recording, campaign ads.CampaignID, receipt ads.Receipt, day string) adRecordingDoc {
	d := adRecordingDoc{
		Choice: r.Choice, Version: version, Zone: r.Zone.String(), Unit: r.Unit, Campaign: campaign, At: r.At, KeepUntil: r.KeepUntil,
		Billed: receipt.Billed, Day: day, Invalid: receipt.Invalid, Keywords: r.Keywords,
	}
	if r.Kind == ads.Click {
		d.Profile, d.Address = unlessZero(r.Profile), unlessZero(r.Address)
	}
	return d
}

func unlessZero(p ads.ProfileID) *ads.ProfileID {
	if p.IsZero() {
		return nil
	}
	return &p
}

// evidence is what a click is judged by. A repetition ends here.
func (a *adStore) evidence(ctx context.Context, r *ads.Recording) (e ads.Evidence, err error) {
	before, err := existing(ctx, a.recordings(r.Kind), []ads.ChoiceID{r.Choice})
	if err != nil {
		return e, err
	}
	if before[r.Choice] {
		return e, errRecorded
	}
	if r.Kind != ads.Click {
		return e, nil
	}
	shown, err := a.impressions.CountDocuments(ctx, doc("_id", r.Choice, "invalid", doc("$exists", false)))
	if err != nil {
		return e, err
	}
	e.Shown = shown > 0
	if e.PersonClicks, err = a.recentClicks(ctx, "profile", r.Profile, r.At, ads.MaxPersonClicks); err != nil {
		return e, err
	}
	e.AddressClicks, err = a.recentClicks(ctx, "address", r.Address, r.At, ads.MaxAddressClicks)
	return e, err
}

func (a *adStore) recentClicks(ctx context.Context, field string, of ads.ProfileID, at time.Time, most int64) (int, error) {
	if of.IsZero() {
		return 0, nil
	}
	n, err := a.clicks.CountDocuments(ctx, doc(field, of, "at", doc("$gt", at.Add(-ads.ClickWindow))), options.Count().SetLimit(most))
	return int(n), err
}

// count adds one to the unit's counters, if that counts. It returns the unit's campaign.
func (a *adStore) count(ctx context.Context, r *ads.Recording, counts bool) (ads.CampaignID, error) {
	if counts {
		return a.countBy(ctx, r.Unit, r.Kind, 1)
	}
	var d adUnitDoc
	err := found(a.units.FindOne(ctx, doc("_id", r.Unit)).Decode(&d))
	return d.Campaign, err
}

// countBy adds to one of a unit's counters, and moves the unit in its zones. It returns the unit's campaign.
func (a *adStore) countBy(ctx context.Context, unit ads.UnitID, kind ads.Kind, by int64) (ads.CampaignID, error) {
	counter := "impressions"
	if kind == ads.Click {
		counter = "clicks"
	}
	var before adUnitDoc
	err := found(a.units.FindOneAndUpdate(ctx, doc("_id", unit), doc("$inc", doc(counter, by))).Decode(&before))
	if err != nil {
		return before.Campaign, err
	}
	after := before
	if kind == ads.Click {
		after.Clicks += by
	} else {
		after.Impressions += by
	}
	if after.ecpm() == before.ecpm() {
		return before.Campaign, nil
	}
	return before.Campaign, a.move(ctx, &after)
}

// move gives a unit its rank in the zones where it runs.
func (a *adStore) move(ctx context.Context, unit *adUnitDoc) error {
	isUnit := doc("$eq", bson.A{"$$each.unit", unit.ID})
	ranked := doc("$mergeObjects", bson.A{"$$each", doc("ecpm", unit.ecpm())})
	units := doc("$map", doc("input", "$units", "as", "each", "in", doc("$cond", bson.A{isUnit, ranked, "$$each"})))
	_, err := a.zones.UpdateMany(ctx, doc("_id", doc("$in", unit.Details.Zones), "units.unit", unit.ID),
		mongo.Pipeline{doc("$set", doc("units", doc("$sortArray", doc("input", units, "sortBy", adOrder))))})
	return err
}
