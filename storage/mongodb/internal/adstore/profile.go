package adstore

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/ads"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// profileDoc is a document of adProfiles.
type profileDoc struct {
	ID        ads.ProfileID `bson:"_id"`
	Version   int           `bson:"v"`
	Seen      []sightingDoc `bson:"seen"`
	Chosen    []int         `bson:"chosen"` // the indexes of the candidates that the last reservation chose
	KeepUntil time.Time     `bson:"keepUntil"`
}

func (d *profileDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.ID(v, &d.ID.ID)
	case "v":
		r.Int(v, &d.Version)
	case "seen":
		mdb.ReadDocuments(r, v, &d.Seen)
	case "chosen":
		mdb.ReadArray(r, v, &d.Chosen, (*mdb.Reader).Int)
	case "keepUntil":
		r.Time(v, &d.KeepUntil)
	}
}

// Reserve implements ads.Profiles, in one command.
func (a *Store) Reserve(ctx context.Context, r ads.Reservation) ([]int, error) {
	var d profileDoc
	err := a.calls.Read(ctx, "reserve ads", func(ctx context.Context) error {
		return mdb.Retry(ctx, func() error {
			raw, err := a.profiles.FindOneAndUpdate(ctx, mdb.Doc("_id", r.Profile), reserving, options.FindOneAndUpdate().SetLet(reservation(&r)).
				SetUpsert(true).SetReturnDocument(options.After).SetProjection(mdb.Doc("chosen", 1))).Raw()
			if err != nil {
				return mdb.OrRetry(err)
			}
			return mdb.ReadDocument(raw, &d)
		})
	})
	return d.Chosen, err
}

// reserving is ads.Profile.Reserve as an update pipeline; reservation sets its variables.
var reserving = func() mdb.Stages {
	living := mdb.Doc("$filter", mdb.Doc("input", mdb.Doc("$ifNull", bson.A{"$seen", bson.A{}}), "as", "s", "cond", mdb.Doc("$gt", bson.A{ofSighting(sightingUntil), "$$now"})))
	choosing := mdb.Doc("$reduce", mdb.Doc(
		"input", "$$tries",
		"initialValue", mdb.Doc("chosen", bson.A{}, "advertisers", bson.A{}, "seen", "$seen"),
		"in", mdb.Doc("$let", mdb.Doc(
			"vars", mdb.Doc("c", mdb.Doc("$arrayElemAt", bson.A{"$$candidates", "$$this.candidate"})),
			"in", mdb.Doc("$cond", bson.A{mayBeChosen, mdb.Doc(
				"chosen", mdb.Doc("$concatArrays", bson.A{"$$value.chosen", bson.A{"$$this.candidate"}}),
				"advertisers", mdb.Doc("$concatArrays", bson.A{"$$value.advertisers", bson.A{"$$c.advertiser"}}),
				"seen", mdb.Doc("$concatArrays", bson.A{"$$value.seen", "$$c.seen"}),
			), "$$value"}),
		)),
	))
	return mdb.MustWritePipeline(bson.A{
		mdb.Doc("$set", mdb.Doc("seen", living)),
		mdb.Doc("$set", mdb.Doc("now", choosing)),
		mdb.Doc("$set", mdb.Doc(
			"v", mdb.FirstVersion, "chosen", "$now.chosen", "seen", "$now.seen",
			"keepUntil", mdb.Doc("$max", bson.A{"$$now", mdb.Doc("$max", "$now.seen."+sightingKeep)}),
		)),
		mdb.Doc("$unset", "now"),
	})
}()

// mayBeChosen is the condition that the reservation still needs the candidate $$c and that no cap
// is used up.
var mayBeChosen = func() bson.D {
	counted := mdb.Doc("$filter", mdb.Doc("input", "$$value.seen", "as", "s", "cond", mdb.Doc("$and", bson.A{
		mdb.Doc("$eq", bson.A{ofSighting(sightingScope), "$$limit.scope"}), mdb.Doc("$gt", bson.A{ofSighting(sightingAt), "$$limit.since"}),
	})))
	below := mdb.Doc("$map", mdb.Doc("input", "$$c.caps", "as", "limit", "in", mdb.Doc("$lt", bson.A{mdb.Doc("$size", counted), "$$limit.count"})))
	return mdb.Doc("$and", bson.A{
		mdb.Doc("$lt", bson.A{mdb.Doc("$size", "$$value.chosen"), "$$count"}),
		mdb.Doc("$not", mdb.Doc("$in", bson.A{"$$this.candidate", "$$value.chosen"})),
		mdb.Doc("$or", bson.A{"$$this.again", mdb.Doc("$not", mdb.Doc("$in", bson.A{"$$c.advertiser", "$$value.advertisers"}))}),
		mdb.Doc("$allElementsTrue", bson.A{below}),
	})
}()

// reservation encodes the variables of reserving: now, count, tries ({candidate, again} each) and
// candidates (see newCandidate).
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

// newCandidate encodes a candidate with its caps (fewer than count sightings of the scope after
// since), and seen: what choosing it adds.
func newCandidate(c *ads.Candidate, now time.Time) bsoncore.Document {
	caps, seen := bsoncore.NewArrayBuilder(), bsoncore.NewArrayBuilder()
	for _, limit := range c.Caps {
		caps.AppendDocument(bsoncore.NewDocumentBuilder().
			AppendBinary("scope", bson.TypeBinaryUUID, limit.Scope[:]).AppendInt32("count", int32(limit.Count)).
			AppendDateTime("since", now.Add(-limit.Per.Length()).UnixMilli()).
			Build())
	}
	for _, s := range c.Sightings(now) {
		seen.AppendDocument(newSightingDoc(s).write())
	}
	return bsoncore.NewDocumentBuilder().
		AppendBinary("advertiser", bson.TypeBinaryUUID, c.Advertiser.ID[:]).AppendArray("caps", caps.Build()).AppendArray("seen", seen.Build()).
		Build()
}

// ForgetUser implements ads.Profiles.
func (a *Store) ForgetUser(ctx context.Context, user string) (left bool, err error) {
	err = a.calls.Read(ctx, "forget user's ads", func(ctx context.Context) error {
		var d keyDoc
		err := mdb.OrNotFound(a.keys.FindOne(ctx, mdb.Doc("_id", signingKey)).Decode(&d))
		if errors.Is(err, ads.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		left, err = a.forget(ctx, ads.UserProfile(d.Key, user))
		return err
	})
	return left && err == nil, err
}

func (a *Store) forget(ctx context.Context, person ads.ProfileID) (left bool, err error) {
	if _, err := a.profiles.DeleteOne(ctx, mdb.Doc("_id", person)); err != nil {
		return false, err
	}
	for _, kind := range []ads.Kind{ads.Click, ads.Conversion} {
		full, err := a.forgetIn(ctx, a.recordings(kind), person)
		if err != nil {
			return false, err
		}
		left = left || full
	}
	return left, nil
}

// forgetIn removes a person from some recordings. A transaction that counts one of them at the same
// time fails, and is repeated.
func (a *Store) forgetIn(ctx context.Context, recordings *mongo.Collection, person ads.ProfileID) (full bool, err error) {
	type choiceDoc struct {
		Choice ads.ChoiceID `bson:"_id"`
	}
	by := mdb.Doc("profile", person)
	some, err := mdb.FindAll[choiceDoc](ctx, recordings, by, ads.MaxForgotten,
		options.Find().SetHint(byPerson).SetLimit(ads.MaxForgotten).SetProjection(mdb.Doc("_id", 1)))
	if err != nil || len(some) == 0 {
		return false, err
	}
	choices := mdb.Map(some, func(d *choiceDoc) ads.ChoiceID { return d.Choice })
	_, err = recordings.UpdateMany(ctx, mdb.Doc("_id", mdb.Doc("$in", choices)), mdb.Doc("$unset", by))
	return len(some) == ads.MaxForgotten, err
}

// Profile implements ads.Profiles.
func (a *Store) Profile(ctx context.Context, id ads.ProfileID) (*ads.Profile, error) {
	var d profileDoc
	err := a.calls.Read(ctx, "ad profile", func(ctx context.Context) error {
		raw, err := a.profiles.FindOne(ctx, mdb.Doc("_id", id)).Raw()
		if err != nil {
			return mdb.OrNotFound(err)
		}
		return mdb.ReadDocument(raw, &d)
	})
	if errors.Is(err, social.ErrNotFound) {
		err = nil
	}
	p := &ads.Profile{ID: id}
	for _, s := range d.Seen {
		p.Seen = append(p.Seen, s.sighting())
	}
	return p, err
}

// confirm makes shown impressions count for people's caps for as long as the caps need them.
// Repeating the call changes nothing.
func (a *Store) confirm(ctx context.Context, waiting []ads.Recording) error {
	var updates []mongo.WriteModel
	for i := range waiting {
		r := &waiting[i]
		if r.Kind != ads.Impression || r.Staff || r.Profile.IsZero() {
			continue
		}
		isChoice := mdb.Doc("$eq", bson.A{ofSighting(sightingChoice), r.Choice})
		kept := mdb.Doc("$mergeObjects", bson.A{"$$s", mdb.Doc(sightingUntil, ofSighting(sightingKeep))})
		seen := mdb.Doc("$map", mdb.Doc("input", "$seen", "as", "s", "in", mdb.Doc("$cond", bson.A{isChoice, kept, "$$s"})))
		updates = append(updates, mongo.NewUpdateOneModel().SetFilter(mdb.Doc("_id", r.Profile)).SetUpdate(bson.A{mdb.Doc("$set", mdb.Doc("seen", seen))}))
	}
	if len(updates) == 0 {
		return nil
	}
	_, err := a.profiles.BulkWrite(ctx, updates, options.BulkWrite().SetOrdered(false))
	return err
}

// ImportProfiles stores profiles that do not exist yet, about a thousand at a time.
func (a *Store) ImportProfiles(ctx context.Context, profiles []ads.Profile) error {
	docs := make([]any, len(profiles))
	for i, p := range profiles {
		d := profileDoc{ID: p.ID, Version: mdb.FirstVersion, Seen: []sightingDoc{}, Chosen: []int{}}
		for _, seen := range p.Seen {
			d.Seen = append(d.Seen, newSightingDoc(seen))
			if seen.Keep.After(d.KeepUntil) {
				d.KeepUntil = seen.Keep
			}
		}
		docs[i] = d
	}
	_, err := a.profiles.InsertMany(ctx, docs, options.InsertMany().SetOrdered(false))
	return err
}
