package adstore

import (
	"context"

	"plaza/ads"
	"plaza/storage/mongodb/internal/mdb"
)

// advertiserDoc is a document of adAdvertisers.
type advertiserDoc struct {
	ID       ads.AdvertiserID `bson:"_id"`
	Version  int              `bson:"v"`
	Revision int              `bson:"revision"`
	Name     string           `bson:"name"`
	Caps     []capDoc         `bson:"caps,omitempty"`
	Created  createdDoc       `bson:",inline"`
}

func newAdvertiserDoc(a *ads.Advertiser) advertiserDoc {
	return advertiserDoc{ID: a.ID, Version: mdb.FirstVersion, Revision: 1, Name: a.Name, Caps: newCapDocs(a.Caps), Created: newCreatedDoc(a.CreatedAt, a.ID.ID)}
}

// advertiserDetails are the fields that can be replaced.
type advertiserDetails struct {
	Name    string     `bson:"name"`
	Caps    []capDoc   `bson:"caps"`
	Created createdDoc `bson:",inline"`
}

func newAdvertiserDetails(a *ads.Advertiser) advertiserDetails {
	return advertiserDetails{Name: a.Name, Caps: newCapDocs(a.Caps), Created: newCreatedDoc(a.CreatedAt, a.ID.ID)}
}

func (d *advertiserDoc) advertiser() *ads.Advertiser {
	return &ads.Advertiser{ID: d.ID, Name: d.Name, Caps: readCaps(d.Caps), Revision: d.Revision, CreatedAt: d.Created.time(d.ID.ID)}
}

func (s *saving) saveAdvertisers(ctx context.Context, b *ads.Batch) (int, error) {
	added, err := insertNew(ctx, s.advertisers, b.Advertisers,
		func(a *ads.Advertiser) ads.AdvertiserID { return a.ID }, func(a *ads.Advertiser) int { return a.Revision }, newAdvertiserDoc)
	if err != nil {
		return 0, err
	}
	var replaced []ads.AdvertiserID
	for _, a := range b.Advertisers {
		if a.Revision == 0 {
			continue
		}
		err := replace(ctx, s.advertisers, a.ID, a.Revision, newAdvertiserDetails(&a))
		if err != nil {
			return 0, err
		}
		replaced = append(replaced, a.ID)
	}
	if len(replaced) == 0 {
		return len(added), nil
	}
	campaigns, err := mdb.FindIn[campaignDoc](ctx, s.Store.campaigns, "advertiser", replaced)
	for _, c := range campaigns {
		s.campaigns[c.ID] = true
	}
	return len(added) + len(replaced), err
}

// Advertisers implements ads.Catalogue.
func (a *Store) Advertisers(ctx context.Context, ids []ads.AdvertiserID) (all map[ads.AdvertiserID]*ads.Advertiser, err error) {
	err = a.calls.Read(ctx, "advertisers", func(ctx context.Context) error {
		all, err = a.readAdvertisers(ctx, ids)
		return err
	})
	return all, err
}

// readAdvertisers implements Advertisers within a call. It returns the driver's errors, so that a
// transaction can be retried.
func (a *Store) readAdvertisers(ctx context.Context, ids []ads.AdvertiserID) (map[ads.AdvertiserID]*ads.Advertiser, error) {
	docs, err := mdb.FindIn[advertiserDoc](ctx, a.advertisers, "_id", ids)
	all := make(map[ads.AdvertiserID]*ads.Advertiser, len(docs))
	for _, d := range docs {
		all[d.ID] = d.advertiser()
	}
	return all, err
}

// ListAdvertisers implements ads.Catalogue.
func (a *Store) ListAdvertisers(ctx context.Context, p ads.Page) (list []*ads.Advertiser, err error) {
	err = a.calls.Read(ctx, "list advertisers", func(ctx context.Context) error {
		docs, err := readPage[advertiserDoc](ctx, a.advertisers, mdb.Doc(), "_id_", p, idKey)
		list = mdb.Map(docs, (*advertiserDoc).advertiser)
		return err
	})
	return list, err
}
