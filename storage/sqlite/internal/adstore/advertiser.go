package adstore

import (
	"context"

	"plaza/ads"
	"plaza/storage/sqlite/internal/sqldb"
)

var (
	insertAdvertiser  = sqldb.Define(`INSERT INTO ad_advertisers (id, name, caps, created_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`)
	replaceAdvertiser = sqldb.Define(`UPDATE ad_advertisers SET name = ?, caps = ?, created_at = coalesce(?, created_at), revision = revision + 1 WHERE id = ? AND revision = ?`)
	advertisersByID   = sqldb.Define(`SELECT id, name, caps, created_at, revision FROM ad_advertisers WHERE id IN (SELECT unhex(value) FROM json_each(?))`)
	advertisersPage   = sqldb.DefineDirected(`SELECT id, name, caps, created_at, revision FROM ad_advertisers
		WHERE id > ?1 AND id < ?2 ORDER BY id $order LIMIT ?3`)
)

func saveAdvertiser(tx *sqldb.Tx, a *ads.Advertiser) (bool, error) {
	created := createdColumn(a.CreatedAt, a.ID.ID)
	if a.Revision == 0 {
		return insert(tx, insertAdvertiser, a.ID.Bytes(), a.Name, capRows(a.Caps), created)
	}
	return replace(tx, replaceAdvertiser, a.Name, capRows(a.Caps), created, a.ID.Bytes(), a.Revision)
}

// Advertisers implements ads.Catalogue.
func (s *Store) Advertisers(ctx context.Context, ids []ads.AdvertiserID) (map[ads.AdvertiserID]*ads.Advertiser, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) (map[ads.AdvertiserID]*ads.Advertiser, error) {
		return sqldb.ByKey(tx, advertisersByID, func(scan sqldb.Scan) (ads.AdvertiserID, *ads.Advertiser, error) {
			a, err := scanAdvertiser(scan)
			return a.ID, a, err
		}, sqldb.HexList(ids))
	})
}

// ListAdvertisers implements ads.Catalogue.
func (s *Store) ListAdvertisers(ctx context.Context, p ads.Page) ([]*ads.Advertiser, error) {
	return list(ctx, s.db, advertisersPage, p, scanAdvertiser)
}

func scanAdvertiser(scan sqldb.Scan) (*ads.Advertiser, error) {
	a, caps := &ads.Advertiser{}, ""
	if err := scan(sqldb.Into(&a.ID.ID), &a.Name, &caps, sqldb.IntoTime(&a.CreatedAt), &a.Revision); err != nil {
		return a, err
	}
	a.CreatedAt = ads.Creation(a.CreatedAt, a.ID.ID)
	return a, readCaps(caps, &a.Caps)
}
