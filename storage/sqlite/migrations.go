package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pressly/goose/v3"

	"plaza/id"
	"plaza/social"
)

//go:embed migrations/*.sql
var migrations embed.FS

// newMigrations are all migrations: SQL files, and those that need Go.
func newMigrations(db *sql.DB) (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	nameOrders := goose.NewGoMigration(7, &goose.GoFunc{RunTx: addNameOrders}, &goose.GoFunc{RunTx: removeNameOrders})
	return goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithGoMigrations(nameOrders),
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
}

// OldestVersion is the earliest schema version that [GoBack] can reach.
const OldestVersion = 3

// GoBack downgrades a file's tables for an earlier version of Plaza. It keeps everything that the
// earlier schema has a place for. Each step is one transaction: if one fails, for example on a full
// disk, the file has the version before that step, and GoBack can be called again. It returns
// fs.ErrNotExist if there is no file. Its error texts are written for operators.
func GoBack(ctx context.Context, path string, to int) (err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("the database file: %w", err)
	}
	lock, err := lockFile(path + ".lock")
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	db, err := openDB(path, 1, "_txlock=immediate", "_pragma=journal_mode(wal)")
	if err != nil {
		return openFault(path, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := claim(ctx, db); err != nil {
		return openFault(path, err)
	}
	return openFault(path, goBack(ctx, db, to))
}

func goBack(ctx context.Context, db *sql.DB, to int) error {
	provider, err := newMigrations(db)
	if err != nil {
		return err
	}
	have, want, err := provider.GetVersions(ctx)
	switch {
	case err != nil:
		return err
	case have > want:
		return &TooNewError{Has: have, Knows: want}
	case to < OldestVersion || int64(to) >= have:
		return fmt.Errorf("the file has tables of version %d: it can go back to %d at the earliest", have, OldestVersion)
	}
	_, err = provider.DownTo(ctx, int64(to))
	return err
}

// TooNewError says that a newer Plaza has written the file.
type TooNewError struct {
	Has, Knows int64 // schema versions: the file's, and the newest that this Plaza knows
}

// Error returns a text for operators.
func (e *TooNewError) Error() string {
	return fmt.Sprintf("the file has tables of version %d, and this Plaza knows %d: run a newer Plaza", e.Has, e.Knows)
}

// addNameOrders fills the columns by which users are found by name. SQL cannot do that, because
// SQLite folds the case of ASCII letters only.
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
