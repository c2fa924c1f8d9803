package sqlite

import (
	"context"

	"plaza/ads"
)

var (
	insertAdvertiser  = define(`INSERT INTO ad_advertisers (id, name, caps) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`)
	replaceAdvertiser = define(`UPDATE ad_advertisers SET name = ?, caps = ?, revision = revision + 1 WHERE id = ? AND revision = ?`)
	advertisersByID   = define(`SELECT id, name, caps, revision FROM ad_advertisers WHERE id IN (SELECT unhex(value) FROM json_each(?))`)
	advertisersPage   = defineDirected(`SELECT id, name, caps, revision FROM ad_advertisers
		WHERE id > ?1 AND id < ?2 ORDER BY id $order LIMIT ?3`)
)

func (w *work) saveAdvertiser(a *ads.Advertiser) (bool, error) {
	if a.Revision == 0 {
		return w.insertAd(insertAdvertiser, a.ID.Bytes(), a.Name, capRows(a.Caps))
	}
	return w.replaceAd(replaceAdvertiser, a.Name, capRows(a.Caps), a.ID.Bytes(), a.Revision)
}

// Advertisers implements ads.Catalogue.
func (s adStore) Advertisers(ctx context.Context, ids []ads.AdvertiserID) (map[ads.AdvertiserID]*ads.Advertiser, error) {
	return read(ctx, s.file, func(w *work) (map[ads.AdvertiserID]*ads.Advertiser, error) {
		return byKey(w, advertisersByID, func(scan scan) (ads.AdvertiserID, *ads.Advertiser, error) {
			a, err := scanAdvertiser(scan)
			return a.ID, a, err
		}, hexList(ids))
	})
}

// ListAdvertisers implements ads.Catalogue.
func (s adStore) ListAdvertisers(ctx context.Context, p ads.Page) ([]*ads.Advertiser, error) {
	return listAds(ctx, s.file, advertisersPage, p, scanAdvertiser)
}

func scanAdvertiser(scan scan) (*ads.Advertiser, error) {
	a, caps := &ads.Advertiser{}, ""
	if err := scan(into(&a.ID.ID), &a.Name, &caps, &a.Revision); err != nil {
		return a, err
	}
	return a, readCaps(caps, &a.Caps)
}
