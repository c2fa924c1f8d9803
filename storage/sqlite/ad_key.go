package sqlite

import "context"

var (
	insertAdKey = define(`INSERT INTO ad_keys (name, key) VALUES ('signing', ?) ON CONFLICT DO NOTHING`)
	adKey       = define(`SELECT key FROM ad_keys WHERE name = 'signing'`)
)

// SigningKey implements ads.Keys.
func (s adStore) SigningKey(ctx context.Context, fresh []byte) (key []byte, err error) {
	err = s.file.update(ctx, func(w *work) error {
		if _, err := w.exec(insertAdKey, fresh); err != nil {
			return err
		}
		_, err := w.row(adKey, []any{&key})
		return err
	})
	return key, err
}
