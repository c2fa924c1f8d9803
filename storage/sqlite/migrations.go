package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"io/fs"

	"github.com/pressly/goose/v3"

	"plaza/id"
	"plaza/social"
	"plaza/storage/sqlite/internal/sqldb"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// OldestVersion is the earliest schema version that [GoBack] can reach.
const OldestVersion = 3

// tables returns all migrations: SQL files and those in Go.
func tables() (sqldb.Migrations, error) {
	files, err := fs.Sub(migrationFiles, "migrations")
	nameOrders := goose.NewGoMigration(7, &goose.GoFunc{RunTx: addNameOrders}, &goose.GoFunc{RunTx: removeNameOrders})
	return sqldb.Migrations{Files: files, Steps: []*goose.Migration{nameOrders}, Oldest: OldestVersion}, err
}

// ErrInUse means that another process has opened the file.
var ErrInUse = sqldb.ErrInUse

// TooNewError means that a newer Plaza has written the file.
type TooNewError = sqldb.TooNewError

// GoBack downgrades a file's tables for an earlier version of Plaza. It keeps everything that the
// earlier schema has a place for. Each step is one transaction: if one fails, for example on a full
// disk, the file has the version before that step, and GoBack can be called again. It returns
// fs.ErrNotExist if there is no file. Its error texts are written for operators.
func GoBack(ctx context.Context, path string, to int) error {
	migrations, err := tables()
	if err != nil {
		return err
	}
	return sqldb.GoBack(ctx, path, migrations, to)
}

// addNameOrders fills the columns for the search by name. SQL cannot do that, because SQLite only
// folds the case of ASCII letters.
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
