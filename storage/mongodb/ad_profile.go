package mongodb

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/ads"
	"plaza/id"
	"plaza/social"
)

// adScope is the id of a unit, a campaign or an advertiser.
type adScope struct{ id.ID }

type adCapDoc struct {
	Count int        `bson:"count"`
	Per   ads.Window `bson:"per"`
}

func adCapDocs(caps []ads.Cap) []adCapDoc {
	return each(caps, func(c *ads.Cap) adCapDoc { return adCapDoc(*c) })
}

func adCaps(docs []adCapDoc) []ads.Cap {
	if len(docs) == 0 {
		return nil
	}
	return each(docs, func(d *adCapDoc) ads.Cap { return ads.Cap(*d) })
}

type adScopeCapDoc struct {
	Scope adScope  `bson:"scope"`
	Cap   adCapDoc `bson:",inline"`
}

func adScopeCapDocs(caps []ads.ScopeCap) []adScopeCapDoc {
	return each(caps, func(c *ads.ScopeCap) adScopeCapDoc { return adScopeCapDoc{adScope{c.Scope}, adCapDoc(c.Cap)} })
}

func adScopeCaps(docs []adScopeCapDoc) []ads.ScopeCap {
	if len(docs) == 0 {
		return nil
	}
	return each(docs, func(d *adScopeCapDoc) ads.ScopeCap { return ads.ScopeCap{Scope: d.Scope.ID, Cap: ads.Cap(d.Cap)} })
}

// adProfileDoc is a document of adProfiles.
type adProfileDoc struct {
	ID        ads.ProfileID   `bson:"_id"`
	Version   int             `bson:"v"`
	Seen      []adSightingDoc `bson:"seen"`
	Chosen    []int           `bson:"chosen"` // by the last reservation: candidates by number
	KeepUntil time.Time       `bson:"keepUntil"`
}

type adSightingDoc struct {
	Scope  adScope      `bson:"scope"`
	Choice ads.ChoiceID `bson:"choice"`
	At     time.Time    `bson:"at"`
	Until  time.Time    `bson:"until"`
	Keep   time.Time    `bson:"keep"`
}

func (d *adProfileDoc) set(r *reading, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.id(v, &d.ID.ID)
	case "v":
		r.int(v, &d.Version)
	case "seen":
		readDocuments(r, v, &d.Seen)
	case "chosen":
		readArray(r, v, &d.Chosen, (*reading).int)
	case "keepUntil":
		r.time(v, &d.KeepUntil)
	}
}

func (d *adSightingDoc) set(r *reading, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "scope":
		r.id(v, &d.Scope.ID)
	case "choice":
		r.id(v, &d.Choice.ID)
	case "at":
		r.time(v, &d.At)
	case "until":
		r.time(v, &d.Until)
	case "keep":
		r.time(v, &d.Keep)
	}
}

// Reserve implements ads.Profiles, in one command.
func (a *adStore) Reserve(ctx context.Context, r ads.Reservation) ([]int, error) {
	var d adProfileDoc
	err := a.db.read(ctx, "reserve ads", func(ctx context.Context) error {
		return retry(ctx, func() error {
			raw, err := a.profiles.FindOneAndUpdate(ctx, doc("_id", r.Profile), reserving, options.FindOneAndUpdate().SetLet(reservation(&r)).
				SetUpsert(true).SetReturnDocument(options.After).SetProjection(doc("chosen", 1))).Raw()
			if err != nil {
				return upserted(err)
			}
			return readDocument(raw, &d)
		})
	})
	return d.Chosen, err
}

// reserving is ads.Profile.Reserve as an update; reservation has its variables.
var reserving = func() stages {
	living := doc("$filter", doc("input", doc("$ifNull", bson.A{"$seen", bson.A{}}), "as", "s", "cond", doc("$gt", bson.A{"$$s.until", "$$now"})))
	choosing := doc("$reduce", doc(
		"input", "$$tries",
		"initialValue", doc("chosen", bson.A{}, "advertisers", bson.A{}, "seen", "$seen"),
		"in", doc("$let", doc(
			"vars", doc("c", doc("$arrayElemAt", bson.A{"$$candidates", "$$this.candidate"})),
			"in", doc("$cond", bson.A{mayBeChosen, doc(
				"chosen", doc("$concatArrays", bson.A{"$$value.chosen", bson.A{"$$this.candidate"}}),
				"advertisers", doc("$concatArrays", bson.A{"$$value.advertisers", bson.A{"$$c.advertiser"}}),
				"seen", doc("$concatArrays", bson.A{"$$value.seen", "$$c.seen"}),
			), "$$value"}),
		)),
	))
	return mustWrite(bson.A{
		doc("$set", doc("seen", living)),
		doc("$set", doc("now", choosing)),
		doc("$set", doc(
			"v", version, "chosen", "$now.chosen", "seen", "$now.seen",
			"keepUntil", doc("$max", bson.A{"$$now", doc("$max", "$now.seen.keep")}),
		)),
		doc("$unset", "now"),
	})
}()

// mayBeChosen says of the candidate $$c whether the reservation still needs it, and no cap is used up.
var mayBeChosen = func() bson.D {
	counted := doc("$filter", doc("input", "$$value.seen", "as", "s", "cond", doc("$and", bson.A{
		doc("$eq", bson.A{"$$s.scope", "$$limit.scope"}), doc("$gt", bson.A{"$$s.at", "$$limit.since"}),
	})))
	below := doc("$map", doc("input", "$$c.caps", "as", "limit", "in", doc("$lt", bson.A{doc("$size", counted), "$$limit.count"})))
	return doc("$and", bson.A{
		doc("$lt", bson.A{doc("$size", "$$value.chosen"), "$$count"}),
		doc("$not", doc("$in", bson.A{"$$this.candidate", "$$value.chosen"})),
		doc("$or", bson.A{"$$this.again", doc("$not", doc("$in", bson.A{"$$c.advertiser", "$$value.advertisers"}))}),
		doc("$allElementsTrue", bson.A{below}),
	})
}()

// reservation is written as the variables of reserving: now, count, tries ({candidate, again} each) and candidates (see newCandidate).
func reservation(r *ads.Reservation) bson.Raw {
	tries, candidates := bsoncore.NewArrayBuilder(), bsoncore.NewArrayBuilder()
	r.Tries(func(candidate int, again bool) {
		tries.AppendDocument(bsoncore.NewDocumentBuilder().AppendInt32("candidate", int32(candidate)).AppendBoolean("again", again).Build())
	})
	for i := range r.Candidates {
		candidates.AppendDocument(newCandidate(&r.Candidates[i], r.Now))
	}
	return bson.Raw(bsoncore.NewDocumentBuilder().
		AppendDateTime("now", r.Now.UnixMilli()).AppendInt32("count", int32(r.Count)).
		AppendArray("tries", tries.Build()).AppendArray("candidates", candidates.Build()).
		Build())
}

// newCandidate is written with its caps (fewer than count of the scope after since), and seen: what choosing it adds.
func newCandidate(c *ads.Candidate, now time.Time) bsoncore.Document {
	caps, seen := bsoncore.NewArrayBuilder(), bsoncore.NewArrayBuilder()
	for _, limit := range c.Caps {
		caps.AppendDocument(bsoncore.NewDocumentBuilder().
			AppendBinary("scope", bson.TypeBinaryUUID, limit.Scope[:]).AppendInt32("count", int32(limit.Count)).
			AppendDateTime("since", now.Add(-limit.Per.Length()).UnixMilli()).
			Build())
	}
	for _, s := range c.Sightings(now) {
		seen.AppendDocument(bsoncore.NewDocumentBuilder(). // an adSightingDoc
									AppendBinary("scope", bson.TypeBinaryUUID, s.Scope[:]).AppendBinary("choice", bson.TypeBinaryUUID, s.Choice.ID[:]).
									AppendDateTime("at", s.At.UnixMilli()).AppendDateTime("until", s.Until.UnixMilli()).AppendDateTime("keep", s.Keep.UnixMilli()).
									Build())
	}
	return bsoncore.NewDocumentBuilder().
		AppendBinary("advertiser", bson.TypeBinaryUUID, c.Advertiser.ID[:]).AppendArray("caps", caps.Build()).AppendArray("seen", seen.Build()).
		Build()
}

// ForgetProfile implements ads.Profiles.
func (a *adStore) ForgetProfile(ctx context.Context, id ads.ProfileID) error {
	return a.db.read(ctx, "forget ad profile", func(ctx context.Context) error {
		_, err := a.profiles.DeleteOne(ctx, doc("_id", id))
		return err
	})
}

// Profile implements ads.Profiles.
func (a *adStore) Profile(ctx context.Context, id ads.ProfileID) (*ads.Profile, error) {
	var d adProfileDoc
	err := a.db.read(ctx, "ad profile", func(ctx context.Context) error {
		raw, err := a.profiles.FindOne(ctx, doc("_id", id)).Raw()
		if err != nil {
			return found(err)
		}
		return readDocument(raw, &d)
	})
	if errors.Is(err, social.ErrNotFound) {
		err = nil
	}
	p := &ads.Profile{ID: id}
	for _, s := range d.Seen {
		p.Seen = append(p.Seen, ads.Sighting{Scope: s.Scope.ID, Choice: s.Choice, At: s.At, Until: s.Until, Keep: s.Keep})
	}
	return p, err
}

// confirm makes people's caps count what they were shown for as long as they need it. To do it again changes nothing.
func (a *adStore) confirm(ctx context.Context, waiting []ads.Recording) error {
	var updates []mongo.WriteModel
	for i := range waiting {
		r := &waiting[i]
		if r.Kind != ads.Impression || r.Staff || r.Profile.IsZero() {
			continue
		}
		isChoice := doc("$eq", bson.A{"$$s.choice", r.Choice})
		kept := doc("$mergeObjects", bson.A{"$$s", doc("until", "$$s.keep")})
		seen := doc("$map", doc("input", "$seen", "as", "s", "in", doc("$cond", bson.A{isChoice, kept, "$$s"})))
		updates = append(updates, mongo.NewUpdateOneModel().SetFilter(doc("_id", r.Profile)).SetUpdate(bson.A{doc("$set", doc("seen", seen))}))
	}
	if len(updates) == 0 {
		return nil
	}
	_, err := a.profiles.BulkWrite(ctx, updates, options.BulkWrite().SetOrdered(false))
	return err
}

// ImportAdProfiles stores profiles that there are not yet, a thousand or so at a time.
func (s *Store) ImportAdProfiles(ctx context.Context, profiles []ads.Profile) error {
	docs := make([]any, len(profiles))
	for i, p := range profiles {
		d := adProfileDoc{ID: p.ID, Version: version, Seen: []adSightingDoc{}, Chosen: []int{}}
		for _, seen := range p.Seen {
			d.Seen = append(d.Seen, adSightingDoc{adScope{seen.Scope}, seen.Choice, seen.At, seen.Until, seen.Keep})
			if seen.Keep.After(d.KeepUntil) {
				d.KeepUntil = seen.Keep
			}
		}
		docs[i] = d
	}
	_, err := s.ads().profiles.InsertMany(ctx, docs, options.InsertMany().SetOrdered(false))
	return err
}
