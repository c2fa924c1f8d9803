package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"io/fs"

	"github.com/pressly/goose/v3"

	"plaza/id"
	"plaza/social"
)

//go:embed migrations/*.sql
var migrations embed.FS

// newMigrations are all migrations, those in SQL and those that need Go.
func newMigrations(db *sql.DB) (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	nameOrders := goose.NewGoMigration(7, &goose.GoFunc{RunTx: addNameOrders}, &goose.GoFunc{RunTx: removeNameOrders})
	return goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithGoMigrations(nameOrders),
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
}

// addNameOrders gives users what they are found by: SQL folds no letters beyond ASCII.
func addNameOrders(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, `ALTER TABLE users ADD COLUMN name_order TEXT NOT NULL DEFAULT ''`); err != nil {
		return err
	}
	orders, err := nameOrders(ctx, tx)
	if err != nil {
		return err
	}
	for user, order := range orders {
		if _, err := tx.ExecContext(ctx, `UPDATE users SET name_order = ? WHERE id = ?`, order, user.Bytes()); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, `CREATE INDEX users_by_name ON users (name_order)`)
	return err
}

func nameOrders(ctx context.Context, tx *sql.Tx) (map[social.UserID]string, error) {
	rows, err := tx.QueryContext(ctx, `SELECT id, name FROM users`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	orders := map[social.UserID]string{}
	for rows.Next() {
		var raw []byte
		var name string
		if err := rows.Scan(&raw, &name); err != nil {
			return nil, err
		}
		user, err := id.FromBytes(raw)
		if err != nil {
			return nil, err
		}
		orders[social.UserID{ID: user}] = social.NameOrder(name, social.UserID{ID: user})
	}
	return orders, rows.Err()
}

func removeNameOrders(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `DROP INDEX users_by_name; ALTER TABLE users DROP COLUMN name_order`)
	return err
}
