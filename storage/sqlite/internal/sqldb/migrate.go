package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
)

// Migrations create the tables of a file, one version after another.
type Migrations struct {
	Files  fs.FS              // migrations in SQL
	Steps  []*goose.Migration // those in Go
	Oldest int                // the earliest version that [GoBack] can reach
}

// Provider returns what runs the migrations on a database.
func (m Migrations) Provider(db *sql.DB) (*goose.Provider, error) {
	files, err := m.fromFiles()
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectSQLite3, db, nil, goose.WithGoMigrations(append(files, m.Steps...)...),
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
}

// fromFiles returns the migrations in SQL as steps that execute the whole text, because SQLite
// finds the ends of statements itself. goose's parser takes a buffer of 4 MiB for each line. Under
// the race detector, which keeps such buffers only at random, that made each new file four times as
// expensive.
func (m Migrations) fromFiles() ([]*goose.Migration, error) {
	paths, err := fs.Glob(m.Files, "*.sql")
	if err != nil {
		return nil, err
	}
	migrations := make([]*goose.Migration, len(paths))
	for i, path := range paths {
		version, err := goose.NumericComponent(path)
		if err != nil {
			return nil, err
		}
		text, err := fs.ReadFile(m.Files, path)
		if err != nil {
			return nil, err
		}
		up, down, _ := strings.Cut(string(text), "\n-- +goose Down\n")
		migrations[i] = goose.NewGoMigration(version, executing(up), executing(down))
	}
	return migrations, nil
}

func executing(statements string) *goose.GoFunc {
	return &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, statements)
		return err
	}}
}

// Upgrade brings the tables up to date. It calls begins before it upgrades tables that are there,
// and what that returns afterwards.
func (m Migrations) Upgrade(ctx context.Context, db *sql.DB, begins func(from, to int64) (done func())) error {
	provider, err := m.Provider(db)
	if err != nil {
		return err
	}
	have, want, err := provider.GetVersions(ctx)
	if err != nil {
		return err
	}
	if have > want {
		return &TooNewError{Has: have, Knows: want}
	}
	done := func() {}
	if have > 0 && have < want {
		done = begins(have, want)
	}
	if _, err := provider.Up(ctx); err != nil {
		return err
	}
	done()
	return nil
}

// logUpgrade logs that the tables are being upgraded, which takes long in a large file. It returns
// what reports the end.
func (db *DB) logUpgrade(ctx context.Context, report func(from, to int64)) func(from, to int64) (done func()) {
	return func(from, to int64) func() {
		began := time.Now()
		db.logger.InfoContext(ctx, "upgrading the tables", "database", db.path, "from", from, "to", to)
		return func() {
			db.logger.InfoContext(ctx, "the tables are upgraded", "database", db.path, "version", to, "ms", time.Since(began).Milliseconds())
			if report != nil {
				report(from, to)
			}
		}
	}
}

// TooNewError means that a newer Plaza has written the file.
type TooNewError struct {
	Has, Knows int64 // schema versions: the file's, and the newest that this Plaza knows
}

// Error returns a text for operators.
func (e *TooNewError) Error() string {
	return fmt.Sprintf("the file has tables of version %d, and this Plaza knows %d: run a newer Plaza", e.Has, e.Knows)
}

// GoBack downgrades a file's tables for an earlier version of Plaza. It keeps everything that the
// earlier schema has a place for. Each step is one transaction: if one fails, for example on a full
// disk, the file has the version before that step, and GoBack can be called again. It returns
// fs.ErrNotExist if there is no file. Its error texts are written for operators.
func GoBack(ctx context.Context, path string, m Migrations, to int) (err error) {
	path, err = existingFile(path)
	if err != nil {
		return err
	}
	lock, err := lockFile(path + ".lock")
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := mustHaveContent(path); err != nil {
		return err
	}
	found := find(path)
	db, err := connect(path, 1, asWriter...)
	if err != nil {
		return found.explain(err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := claim(ctx, db); err != nil {
		return found.explain(err)
	}
	return found.explain(m.goBack(ctx, db, to))
}

func (m Migrations) goBack(ctx context.Context, db *sql.DB, to int) error {
	provider, err := m.Provider(db)
	if err != nil {
		return err
	}
	have, want, err := provider.GetVersions(ctx)
	switch {
	case err != nil:
		return err
	case have > want:
		return &TooNewError{Has: have, Knows: want}
	case have <= int64(m.Oldest):
		return fmt.Errorf("the file has tables of version %d, the oldest: it cannot go back", have)
	case to < m.Oldest || int64(to) >= have:
		return fmt.Errorf("the file has tables of version %d: it can go back to versions %d to %d", have, m.Oldest, have-1)
	}
	_, err = provider.DownTo(ctx, int64(to))
	return err
}
