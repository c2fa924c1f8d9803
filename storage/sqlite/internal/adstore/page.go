package adstore

import (
	"context"

	"plaza/ads"
	"plaza/storage/sqlite/internal/sqldb"
)

// spanOf returns the bounds of a page for SQL.
func spanOf[K any](p ads.Page, key func(string) K, top K) (low, high K, sp sqldb.Span) {
	low, high = key(string(p.After)), top
	if p.Before != "" {
		high = key(string(p.Before))
	}
	return low, high, sqldb.Span{Descending: p.Last, Reverse: p.Last, Limit: p.Limit}
}

func rawKey(key string) []byte { return []byte(key) }

func textKey(key string) string { return key }

// list reads a page of the entries that belong to of, or of all entries if of is nil.
func list[T any](ctx context.Context, db *sqldb.DB, st sqldb.Directed, p ads.Page, scan func(sqldb.Scan) (T, error), of ...any) ([]T, error) {
	low, high, sp := spanOf(p, rawKey, sqldb.TopKey)
	return sqldb.Read(ctx, db, func(tx sqldb.Reader) ([]T, error) {
		items, err := sqldb.All(tx, st.Along(sp), scan, append([]any{low, high, sp.Limit}, of...)...)
		return sqldb.InListOrder(sp, items), err
	})
}
