package sqldb

import (
	"path/filepath"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"
)

// TestStatementsArePlannedOnce runs a statement several times with its LIMIT as an argument.
func TestStatementsArePlannedOnce(t *testing.T) {
	t.Parallel()
	db, err := connect(filepath.Join(t.TempDir(), "plan.sqlite"), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), `CREATE TABLE things (id INTEGER PRIMARY KEY)`); err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	err = conn.Raw(func(raw any) error {
		st, _, err := raw.(driver.Conn).Raw().Prepare(`SELECT id FROM things ORDER BY id LIMIT ?`)
		if err != nil {
			return err
		}
		defer func() { _ = st.Close() }()
		for limit := range 3 {
			if err := st.BindInt(1, limit); err != nil {
				return err
			}
			if err := st.Exec(); err != nil {
				return err
			}
		}
		if n := st.Status(sqlite3.STMTSTATUS_REPREPARE, false); n > 0 {
			t.Errorf("the statement was planned again %d times", n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
