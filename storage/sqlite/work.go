package sqlite

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"

	"plaza/id"
	"plaza/social"
)

// statement is the text of an SQL statement. All statements of the engine are made by define, so
// that a test can ask SQLite for the plan of each one.
type statement struct{ text string }

var statements []*statement

// reads says whether the statement changes nothing.
func (st *statement) reads() bool {
	verb := strings.Fields(st.text)[0]
	return verb == "SELECT" || verb == "WITH" || verb == "PRAGMA"
}

func define(text string) *statement {
	st := &statement{text}
	statements = append(statements, st)
	return st
}

// directed is a statement that walks a list in either direction. In its text, $order is replaced
// with ASC or DESC, $first with the function that finds the first key in that direction (min or
// max), $none with a key after all others, and $low and $high with the bounds of the keys beyond
// the column head, within ?2 and ?3.
type directed struct{ ascending, descending *statement }

func defineDirected(text string) directed {
	up := strings.NewReplacer("$order", "ASC", "$first", "min", "$none", fmt.Sprintf("x'%x'", topKey), "$low", "head", "$high", "?3")
	down := strings.NewReplacer("$order", "DESC", "$first", "max", "$none", "x''", "$low", "?2", "$high", "head")
	return directed{define(up.Replace(text)), define(down.Replace(text))}
}

func (d directed) along(sp span) *statement {
	if sp.descending {
		return d.descending
	}
	return d.ascending
}

// span is a page as SQL sees it: the keys between two exclusive bounds, in one direction.
type span struct {
	low, high  any // []byte for ids, string for paths
	descending bool
	limit      int
	reverse    bool // the walk is in reverse order of the list
}

// topKey sorts after all ids.
var topKey = []byte(strings.Repeat("\xff", len(id.ID{})+1))

// ascendingSpan is a page of a list with the oldest first.
func ascendingSpan(p social.Page) span {
	sp := span{low: []byte(p.After), high: topKey, limit: p.Limit, descending: p.Last, reverse: p.Last}
	if p.Before != "" {
		sp.high = []byte(p.Before)
	}
	return sp
}

// descendingSpan is a page of a list with the newest first.
func descendingSpan(p social.Page) span {
	p.After, p.Before = p.Before, p.After
	sp := ascendingSpan(p)
	sp.descending = !p.Last
	return sp
}

// inListOrder restores the order of a list that was walked in reverse.
func inListOrder[T any](sp span, items []T) []T {
	if sp.reverse {
		for i, j := 0, len(items)-1; i < j; i, j = i+1, j-1 {
			items[i], items[j] = items[j], items[i]
		}
	}
	return items
}

// pool is a set of connections on which every statement is prepared. Preparing one later, within a
// transaction, could deadlock while it waits for a connection.
type pool struct {
	db       *sql.DB
	readOnly bool
	prepared map[*statement]*sql.Stmt
}

func (p *pool) prepare(ctx context.Context) error {
	p.prepared = make(map[*statement]*sql.Stmt, len(statements))
	for _, st := range statements {
		if p.readOnly && !st.reads() {
			continue
		}
		prepared, err := p.db.PrepareContext(ctx, st.text) //nolint:sqlclosecheck // closed with the pool
		if err != nil {
			return fmt.Errorf("%w in %s", err, st.text)
		}
		p.prepared[st] = prepared
	}
	return nil
}

// work is one transaction, and what its statements share. It ends before the call that began it
// returns.
type work struct {
	ctx  context.Context //nolint:containedctx // the context of the call that began it
	tx   *sql.Tx
	pool *pool
	used map[*statement]*sql.Stmt
	seq  int64 // the last event that was appended; 0: none

	changes social.Change
}

// view runs do on one snapshot of the database.
func (s *Store) view(ctx context.Context, do func(*work) error) error {
	_, err := s.reader.run(ctx, do)
	return err
}

// read is view with a result.
func read[T any](ctx context.Context, s *Store, do func(*work) (T, error)) (T, error) {
	var result T
	err := s.view(ctx, func(w *work) (err error) {
		result, err = do(w)
		return err
	})
	if err != nil {
		var none T
		return none, err
	}
	return result, nil
}

// update runs do in a write transaction, and tells the streams about its events after the commit.
func (s *Store) update(ctx context.Context, do func(*work) error) error {
	w, err := s.writer.run(ctx, func(w *work) error {
		if err := w.takeEffect(); err != nil {
			return err
		}
		return do(w)
	})
	s.changes.add(w.changes) // also after an error: the commit may have succeeded
	if err != nil {
		return s.note(ctx, err)
	}
	s.log.advance(w.seq)
	return nil
}

func (p *pool) run(ctx context.Context, do func(*work) error) (*work, error) {
	w := &work{ctx: ctx, pool: p, used: map[*statement]*sql.Stmt{}}
	tx, err := p.db.BeginTx(ctx, nil)
	if err != nil {
		return w, fault(ctx, err)
	}
	defer func() { _ = tx.Rollback() }() // no effect after the commit
	w.tx = tx
	if err := do(w); err != nil {
		return w, fault(ctx, err)
	}
	return w, fault(ctx, tx.Commit())
}

// fault translates SQLite's errors into those of the contract.
func fault(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && (errors.Is(err, sqlite3.INTERRUPT) || errors.Is(err, sql.ErrTxDone) || errors.Is(err, ctx.Err()) || isClosed(err)):
		return ctx.Err()
	case isNoRoom(err):
		return fmt.Errorf("%w: %w", social.ErrNoRoom, err)
	case errors.Is(err, sqlite3.BUSY), errors.Is(err, sqlite3.LOCKED), errors.Is(err, sqlite3.IOERR), errors.Is(err, sqlite3.CANTOPEN), errors.Is(err, sqlite3.READONLY), errors.Is(err, sqlite3.NOMEM):
		return fmt.Errorf("%w: %w", social.ErrUnavailable, err)
	}
	return err
}

// isClosed says whether a statement failed because database/sql closed its transaction, which it
// does when ctx ends. It exports no such error.
func isClosed(err error) bool { return err.Error() == "sql: statement is closed" }

func (w *work) statement(st *statement) *sql.Stmt {
	prepared, ok := w.used[st]
	if !ok {
		prepared = w.tx.StmtContext(w.ctx, w.pool.prepared[st])
		w.used[st] = prepared
	}
	return prepared
}

// exec runs a statement and returns how many rows it changed.
func (w *work) exec(st *statement, args ...any) (int64, error) {
	result, err := w.statement(st).ExecContext(w.ctx, args...) //nolint:sqlclosecheck // closed with the transaction
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// scan reads a row's columns into dest.
type scan func(dest ...any) error

// each calls do for each row, until do returns false or an error.
func (w *work) each(st *statement, do func(scan) (bool, error), args ...any) error {
	rows, err := w.statement(st).QueryContext(w.ctx, args...) //nolint:sqlclosecheck // closed with the transaction
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if on, err := do(rows.Scan); err != nil || !on {
			return err
		}
	}
	return rows.Err()
}

// row reads the first row into dest, and says whether there is one.
func (w *work) row(st *statement, dest []any, args ...any) (found bool, err error) {
	err = w.each(st, func(scan scan) (bool, error) {
		found = true
		return false, scan(dest...)
	}, args...)
	return found, err
}

// exists says whether a statement has a row.
func (w *work) exists(st *statement, args ...any) (bool, error) {
	var one int
	return w.row(st, []any{&one}, args...)
}

// all reads all rows.
func all[T any](w *work, st *statement, each func(scan) (T, error), args ...any) ([]T, error) {
	var items []T
	err := w.each(st, func(scan scan) (bool, error) {
		item, err := each(scan)
		items = append(items, item)
		return true, err
	}, args...)
	return items, err
}

// byKey reads all rows into a map.
func byKey[K comparable, T any](w *work, st *statement, each func(scan) (K, T, error), args ...any) (map[K]T, error) {
	items := map[K]T{}
	err := w.each(st, func(scan scan) (bool, error) {
		key, item, err := each(scan)
		items[key] = item
		return true, err
	}, args...)
	return items, err
}

// pages reads one page of each list, all from one snapshot.
func pages[K comparable, T any](ctx context.Context, s *Store, lists []social.List[K],
	page func(*work, social.List[K]) ([]T, error),
) (map[social.List[K]][]T, error) {
	return read(ctx, s, func(w *work) (map[social.List[K]][]T, error) {
		found := make(map[social.List[K]][]T, len(lists))
		for _, list := range lists {
			if _, done := found[list]; done {
				continue
			}
			items, err := page(w, list)
			if err != nil {
				return nil, err
			}
			found[list] = items
		}
		return found, nil
	})
}

// known reports an absent row as social.ErrNotFound.
func known(found bool, err error) error {
	if err == nil && !found {
		return social.ErrNotFound
	}
	return err
}

// changed returns the error none if a statement changed no row.
func changed(rows int64, err, none error) error {
	if err == nil && rows == 0 {
		return none
	}
	return err
}

// taken reports a broken UNIQUE constraint as social.ErrTaken.
func taken(err error) error {
	if errors.Is(err, sqlite3.CONSTRAINT_UNIQUE) {
		return social.ErrTaken
	}
	return err
}

// idScanner reads an id column; NULL is the zero id.
type idScanner struct{ to *id.ID }

func into(to *id.ID) idScanner { return idScanner{to} }

// Scan implements sql.Scanner.
func (s idScanner) Scan(value any) error {
	if value == nil {
		*s.to = id.ID{}
		return nil
	}
	raw, ok := value.([]byte)
	if !ok {
		return fmt.Errorf("an id column holds a %T", value)
	}
	read, err := id.FromBytes(raw)
	*s.to = read
	return err
}

// orNull stores the zero id as NULL.
func orNull(i id.ID) any {
	if i.IsZero() {
		return nil
	}
	return i.Bytes()
}

func hexOf(one rawID) string { return hex.EncodeToString(one.Bytes()) }

// rawID is any kind of id.
type rawID interface{ Bytes() []byte }

// hexList is a JSON list of ids, which statements read with json_each and unhex. Measured, it is
// within 15 % of placeholders, and one statement serves lists of all lengths.
func hexList[K rawID](ids []K) string {
	list := make([]byte, 0, 2+len(ids)*(2*len(id.ID{})+3))
	list = append(list, '[')
	for i, each := range ids {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, '"')
		list = hex.AppendEncode(list, each.Bytes())
		list = append(list, '"')
	}
	return string(append(list, ']'))
}

// moment is a time as it is stored: Unix microseconds, 0 for none.
func moment(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func momentOf(stored int64) time.Time {
	if stored == 0 {
		return time.Time{}
	}
	return time.UnixMicro(stored).UTC()
}
