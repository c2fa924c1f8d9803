package mongodb

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

// adCandidateDoc is a candidate as the update of a profile has it.
type adCandidateDoc struct {
	Advertiser ads.AdvertiserID `bson:"advertiser"`
	Caps       []adLimitDoc     `bson:"caps"`
	Seen       []adSightingDoc  `bson:"seen"` // what choosing it adds
}

// adLimitDoc is a cap: fewer than Count of the scope after Since.
type adLimitDoc struct {
	Scope adScope   `bson:"scope"`
	Count int       `bson:"count"`
	Since time.Time `bson:"since"`
}

// adTryDoc is one look at a candidate.
type adTryDoc struct {
	Candidate int  `bson:"candidate"`
	Again     bool `bson:"again"`
}

// Reserve implements ads.Profiles, in one command.
func (a *adStore) Reserve(ctx context.Context, r ads.Reservation) ([]int, error) {
	var d adProfileDoc
	err := a.db.read(ctx, "reserve ads", func(ctx context.Context) error {
		return retry(ctx, func() error {
			return upserted(a.profiles.FindOneAndUpdate(ctx, doc("_id", r.Profile), reserving(&r), options.FindOneAndUpdate().
				SetUpsert(true).SetReturnDocument(options.After).SetProjection(doc("chosen", 1))).Decode(&d))
		})
	})
	return d.Chosen, err
}

// reserving is ads.Profile.Reserve as an update.
func reserving(r *ads.Reservation) mongo.Pipeline {
	var tries []adTryDoc
	r.Tries(func(candidate int, again bool) { tries = append(tries, adTryDoc{candidate, again}) })
	candidates := each(r.Candidates, func(c *ads.Candidate) adCandidateDoc { return newAdCandidateDoc(c, r.Now) })

	living := doc("$filter", doc("input", doc("$ifNull", bson.A{"$seen", bson.A{}}), "as", "s", "cond", doc("$gt", bson.A{"$$s.until", r.Now})))
	choosing := doc("$reduce", doc(
		"input", doc("$literal", append([]adTryDoc{}, tries...)),
		"initialValue", doc("chosen", bson.A{}, "advertisers", bson.A{}, "seen", "$seen"),
		"in", doc("$let", doc(
			"vars", doc("c", doc("$arrayElemAt", bson.A{doc("$literal", append([]adCandidateDoc{}, candidates...)), "$$this.candidate"})),
			"in", doc("$cond", bson.A{mayBeChosen(r.Count), doc(
				"chosen", doc("$concatArrays", bson.A{"$$value.chosen", bson.A{"$$this.candidate"}}),
				"advertisers", doc("$concatArrays", bson.A{"$$value.advertisers", bson.A{"$$c.advertiser"}}),
				"seen", doc("$concatArrays", bson.A{"$$value.seen", "$$c.seen"}),
			), "$$value"}),
		)),
	))
	return mongo.Pipeline{
		doc("$set", doc("seen", living)),
		doc("$set", doc("now", choosing)),
		doc("$set", doc(
			"v", version, "chosen", "$now.chosen", "seen", "$now.seen",
			"keepUntil", doc("$max", bson.A{r.Now, doc("$max", "$now.seen.keep")}),
		)),
		doc("$unset", "now"),
	}
}

// mayBeChosen says of the candidate $$c whether the reservation still needs it, and no cap is used up.
func mayBeChosen(count int) bson.D {
	counted := doc("$filter", doc("input", "$$value.seen", "as", "s", "cond", doc("$and", bson.A{
		doc("$eq", bson.A{"$$s.scope", "$$limit.scope"}), doc("$gt", bson.A{"$$s.at", "$$limit.since"}),
	})))
	below := doc("$map", doc("input", "$$c.caps", "as", "limit", "in", doc("$lt", bson.A{doc("$size", counted), "$$limit.count"})))
	return doc("$and", bson.A{
		doc("$lt", bson.A{doc("$size", "$$value.chosen"), count}),
		doc("$not", doc("$in", bson.A{"$$this.candidate", "$$value.chosen"})),
		doc("$or", bson.A{"$$this.again", doc("$not", doc("$in", bson.A{"$$c.advertiser", "$$value.advertisers"}))}),
		doc("$allElementsTrue", bson.A{below}),
	})
}

func newAdCandidateDoc(c *ads.Candidate, now time.Time) adCandidateDoc {
	d := adCandidateDoc{Advertiser: c.Advertiser, Caps: []adLimitDoc{}, Seen: []adSightingDoc{}}
	for _, limit := range c.Caps {
		d.Caps = append(d.Caps, adLimitDoc{adScope{limit.Scope}, limit.Count, now.Add(-limit.Per.Length())})
	}
	for _, s := range c.Sightings(now) {
		d.Seen = append(d.Seen, adSightingDoc{adScope{s.Scope}, s.Choice, s.At, s.Until, s.Keep})
	}
	return d
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
		return found(a.profiles.FindOne(ctx, doc("_id", id)).Decode(&d))
	})
	if errors.Is(err, social.ErrNotFound) {
		err = nil
	}
	p := &ads.Profile{ID: id}
	for _, s := range d.Seen {
		p.Seen = append(p.Seen, ads.Sighting{Scope: s.Scope.ID, Choice: s.Choice, At: utc(s.At), Until: utc(s.Until), Keep: utc(s.Keep)})
	}
	return p, err
}

// confirm makes a person's caps count a choice for as long as they need it.
func (a *adStore) confirm(ctx context.Context, profile ads.ProfileID, choice ads.ChoiceID) error {
	isChoice := doc("$eq", bson.A{"$$s.choice", choice})
	kept := doc("$mergeObjects", bson.A{"$$s", doc("until", "$$s.keep")})
	seen := doc("$map", doc("input", "$seen", "as", "s", "in", doc("$cond", bson.A{isChoice, kept, "$$s"})))
	_, err := a.profiles.UpdateOne(ctx, doc("_id", profile), mongo.Pipeline{doc("$set", doc("seen", seen))})
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
