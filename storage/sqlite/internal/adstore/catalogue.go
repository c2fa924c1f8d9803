package adstore

import (
	"context"

	"plaza/ads"
	"plaza/storage/sqlite/internal/sqldb"
)

// Save implements ads.Catalogue.
func (s *Store) Save(ctx context.Context, b ads.Batch) (saved int, err error) {
	err = s.db.Update(ctx, func(tx *sqldb.Tx) error {
		saved, err = saveBatch(tx, &b)
		return err
	})
	if err != nil {
		return 0, err
	}
	return saved, nil
}

func saveBatch(tx *sqldb.Tx, b *ads.Batch) (saved int, err error) {
	for _, save := range []func() (int, error){
		func() (int, error) { return saveEach(tx, b.Advertisers, saveAdvertiser) },
		func() (int, error) { return saveEach(tx, b.Campaigns, saveCampaign) },
		func() (int, error) { return saveEach(tx, b.Zones, saveZone) },
		func() (int, error) { return saveEach(tx, b.Units, saveUnit) },
	} {
		n, err := save()
		if err != nil {
			return 0, err
		}
		saved += n
	}
	return saved, nil
}

func saveEach[T any](tx *sqldb.Tx, entries []T, save func(*sqldb.Tx, *T) (bool, error)) (saved int, err error) {
	for i := range entries {
		stored, err := save(tx, &entries[i])
		if err != nil {
			return 0, err
		}
		if stored {
			saved++
		}
	}
	return saved, nil
}
