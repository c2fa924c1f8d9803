package mongodb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
)

// Every document has a version, v. This file says what changed from each version to the next, by collection. Writers write
// the newest; readers take all, and upgrade what is older (evolve, which readDocument calls); MigrateDocuments upgrades
// what lies. A collection that is not named here has only ever had version 1.
//
// An upgrade looks at the fields and not only at v: a server of an older version may change a document of a newer one
// while both run. What does not write everything that a version adds leaves v as it is.
const (
	// users: version 2 has nameOrder, by which people are found.
	usersVersion = 2
	// posts and postVersions: in version 2 a photo's url, width and height are one image, with an alternative text.
	postsVersion = 2
	// reactions, votes and threadMutes: version 2 has the user, by whom they are found when the account is deleted.
	marksVersion = 2
	// adImpressions and adClicks: those of version 2 may be waiting to be counted; those of version 1 have been.
	recordingsVersion = 2
)

// newestVersions are the versions that this package writes, of collections that have had several.
func newestVersions() map[string]int {
	return map[string]int{
		"users": usersVersion, "posts": postsVersion, "postVersions": postsVersion,
		"reactions": marksVersion, "votes": marksVersion, "threadMutes": marksVersion,
		"adImpressions": recordingsVersion, "adClicks": recordingsVersion,
	}
}

// evolving is a document that brings itself to the newest version, once it is read.
type evolving interface{ evolve() error }

// errTooNew says that a newer Plaza has written a document: to read it without what is new would lose that.
var errTooNew = errors.New("was written by a newer Plaza: run that one, or a newer one")

// known refuses versions that this Plaza does not know.
func known(what string, version, newest int) error {
	if version > newest {
		return fmt.Errorf("%s of version %d (this Plaza knows %d) %w", what, version, newest, errTooNew)
	}
	return nil
}

func (d *userDoc) evolve() error {
	if d.Version < 2 {
		d.NameOrder = social.NameOrder(d.Name, d.ID)
	}
	err := known("a user", d.Version, usersVersion)
	d.Version = usersVersion
	return err
}

func (d *postDoc) evolve() error {
	d.Detail.evolve(d.Type)
	err := known("a post", d.Version, postsVersion)
	d.Version = postsVersion
	return err
}

func (d *versionDoc) evolve() error {
	d.Detail.evolve(d.Type)
	err := known("a post's history", d.Version, postsVersion)
	d.Version = postsVersion
	return err
}

func (d *detailDoc) evolve(t social.PostType) {
	if t == social.TypePhoto && d.Image == nil {
		d.Image = &imageDoc{URL: d.URL, Width: d.Width, Height: d.Height}
		d.URL, d.Width, d.Height = "", 0, 0
	}
}

func (d *circleDoc) evolve() error  { return known("a circle", d.Version, version) }
func (d *edgeDoc) evolve() error    { return known("an edge", d.Version, version) }
func (d *commentDoc) evolve() error { return known("a comment", d.Version, version) }
func (d *profileDoc) evolve() error { return known("a profile", d.Version, version) }

func (d *markDoc) evolve() error {
	if d.User.IsZero() && len(d.ID.Data) == 2*len(d.User.ID) {
		copy(d.User.ID[:], d.ID.Data[len(d.User.ID):])
	}
	err := known("a mark", d.Version, marksVersion)
	d.Version = marksVersion
	return err
}

func (t *tagged[D]) evolve() error {
	if d, ok := any(&t.doc).(evolving); ok {
		return d.evolve()
	}
	return nil
}

// versionsDoc is the document "documents" of settings: the newest versions that any server has written, by collection.
type versionsDoc struct {
	Newest map[string]int `bson:"newest"`
}

const versionsSetting = "documents"

// claimVersions refuses a database into which a newer Plaza has written: to change documents whose meaning one does not know
// would destroy them. Otherwise it says that from now on documents of these versions are there.
func (s *Store) claimVersions(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	var recorded versionsDoc
	err := s.settings.FindOne(ctx, doc("_id", versionsSetting)).Decode(&recorded)
	if err != nil && !errors.Is(err, mongo.ErrNoDocuments) {
		return translate(ctx, "settings", err)
	}
	own := newestVersions()
	for _, collection := range slices.Sorted(maps.Keys(recorded.Newest)) {
		if have := recorded.Newest[collection]; have > max(own[collection], version) {
			return known("the collection "+collection, have, max(own[collection], version))
		}
	}
	newest := bson.D{}
	for collection, v := range own {
		newest = append(newest, bson.E{Key: "newest." + collection, Value: v})
	}
	return translate(ctx, "settings", retry(ctx, func() error {
		_, err := s.settings.UpdateOne(ctx, doc("_id", versionsSetting),
			doc("$max", newest, "$setOnInsert", doc("v", version)), options.UpdateOne().SetUpsert(true))
		return upserted(err)
	}))
}
