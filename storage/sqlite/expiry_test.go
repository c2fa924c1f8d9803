package sqlite

import (
	"database/sql"
	"testing"
	"time"

	"plaza/id"
	"plaza/social"
	"plaza/storage/sqlite/internal/sqldb"
)

// expiring are the tables whose rows expire at expires_at, with what inserts a row that expires at
// ?2 with the key ?1.
var expiring = map[string]string{
	"sessions":     `INSERT INTO sessions (token_hash, user, expires_at) VALUES (?1, x'00', ?2)`,
	"mails":        `INSERT INTO mails (id, kind, account, due, expires_at) VALUES (?1, 'RESET', '', 0, ?2)`,
	"mail_tokens":  `INSERT INTO mail_tokens (hash, kind, user, address, mail, expires_at) VALUES (?1, 'RESET', x'00', '', x'00', ?2)`,
	"left_handles": `INSERT INTO left_handles (key, expires_at) VALUES (?1, ?2)`,
	"invitations":  `INSERT INTO invitations (id, max_uses, uses, created_at, expires_at) VALUES (?1, 1, 0, 0, ?2)`,
}

// TestExpiredRowsAreRemoved interrupts the removal at many points, as a killed process would: what
// it has removed until then stays removed, because each transaction removes only some rows, and in
// the end only those that have not expired are left.
func TestExpiredRowsAreRemoved(t *testing.T) {
	t.Parallel()
	s := openAds(t)
	now := time.Now()
	s.clock = func() time.Time { return now }
	file := connect(t, s.Description().Database)
	const expired, young = 2*sqldb.Batch + 7, 3
	for _, insert := range expiring {
		fillExpiring(t, file, insert, expired, now)
		fillExpiring(t, file, insert, young, now.Add(time.Minute))
	}
	inSteps := map[string]bool{}
	for looks := 1; s.prune(newFuse(t.Context(), looks)) != nil; looks++ {
		for table := range expiring {
			if n := countRows(t, file, table); n > young && n < expired+young {
				inSteps[table] = true
			}
		}
	}
	for table := range expiring {
		if n := countRows(t, file, table); n != young || !inSteps[table] {
			t.Errorf("%s: %d rows are left, want %d; removed in steps: %t", table, n, young, inSteps[table])
		}
	}
}

func fillExpiring(t *testing.T, file *sql.DB, insert string, n int, at time.Time) {
	t.Helper()
	tx, err := file.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	for range n {
		if _, err := tx.ExecContext(t.Context(), insert, id.New().Bytes(), at.UnixMicro()); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

func countRows(t *testing.T, file *sql.DB, table string) (n int) {
	t.Helper()
	if err := file.QueryRowContext(t.Context(), `SELECT count(*) FROM `+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestLongExpiredSessionsEndWithoutEvents: EndSessions deletes all sessions, but the log gets no
// event for each sign-in of the last years.
func TestLongExpiredSessionsEndWithoutEvents(t *testing.T) {
	t.Parallel()
	s := openAds(t)
	user := social.UserID{ID: id.New()}
	for token, left := range []time.Duration{time.Hour, -time.Minute, -2 * time.Hour, -365 * 24 * time.Hour} {
		err := s.InsertSession(t.Context(), social.Session{TokenHash: [32]byte{1 + byte(token)}, User: user, ExpiresAt: time.Now().Add(left)})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.EndSessions(t.Context(), user, [32]byte{}, social.AllSessions); err != nil {
		t.Fatal(err)
	}
	file := connect(t, s.Description().Database)
	if events, rows := countEvents(t, file), countRows(t, file, "sessions"); events != 2 || rows != 0 {
		t.Errorf("%d sessions have an event, want 2; %d are left", events, rows)
	}
}
