package adstore

import (
	"context"

	"plaza/storage/sqlite/internal/sqldb"
)

var (
	insertAdKey = sqldb.Define(`INSERT INTO ad_keys (name, key) VALUES ('signing', ?) ON CONFLICT DO NOTHING`)
	adKey       = sqldb.Define(`SELECT key FROM ad_keys WHERE name = 'signing'`)
)

// SigningKey implements ads.Keys.
func (s *Store) SigningKey(ctx context.Context, fresh []byte) (key []byte, err error) {
	err = s.db.Update(ctx, func(tx *sqldb.Tx) error {
		if _, err := tx.Exec(insertAdKey, fresh); err != nil {
			return err
		}
		_, err := tx.Row(adKey, []any{&key})
		return err
	})
	return key, err
}
