package sqlite

import (
	"database/sql"
	"regexp"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3/driver"

	"plaza/storage/sqlite/internal/sqldb"
)

// bounded are the parts of plans that look like scans or sorts, but are bounded.
var bounded = []string{
	`SCAN k VIRTUAL TABLE INDEX 1:`,                                               // the keywords of a recording
	`SCAN json_each VIRTUAL TABLE INDEX 1:`, `SCAN wanted VIRTUAL TABLE INDEX 1:`, // the ids that the caller gave
	`SCAN pairs`,        // so are these
	`SCAN CONSTANT ROW`, // the viewer
	`SCAN merged`,       // the queue's first entry
	`SCAN starts`,       // at most a page
	`SCAN properties`,   // all that profiles have: at most social.MaxProperties
	`SCAN (subquery-`,   // the viewer's own lists, in the merge of feeds
}

// sorted are the statements that may sort, identified by a part of their text.
var sorted = map[string]string{
	"ad_tallies":     "sums of hours, for people who manage ads, and in the background",
	"ad_traffic":     "the same",
	"WITH RECURSIVE": "one key for each of the viewer's own lists; SQLite keeps a page of them",
}

var indexSeek = regexp.MustCompile(`^SEARCH \w+ USING (COVERING |INTEGER )?(INDEX|PRIMARY KEY) .*\(`)

func TestNoStatementScansATable(t *testing.T) {
	db := connect(t, openAds(t).Description().Database)
	statements := sqldb.Statements()
	if len(statements) < 50 {
		t.Fatalf("only %d statements are known", len(statements))
	}
	for _, st := range statements {
		for _, step := range plan(t, db, st.String()) {
			if !allowed(step, st.String()) {
				t.Errorf("%s\n\tin the plan of %s", step, st)
			}
		}
	}
}

// plan prepares the statement with SQLite itself, because database/sql would require its arguments.
func plan(t *testing.T, db *sql.DB, text string) (steps []string) {
	t.Helper()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	err = conn.Raw(func(raw any) error {
		explain, _, err := raw.(driver.Conn).Raw().Prepare("EXPLAIN QUERY PLAN " + text)
		if err != nil {
			return err
		}
		for explain.Step() {
			steps = append(steps, explain.ColumnText(3))
		}
		return explain.Close()
	})
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return steps
}

func allowed(step, text string) bool {
	for _, start := range bounded {
		if strings.HasPrefix(step, start) {
			return true
		}
	}
	switch {
	case step == "SEARCH events" || step == "SEARCH (subquery-1)": // the last row, of the log or of a batch of it
		return strings.Contains(text, "max(seq)")
	case strings.HasPrefix(step, "SEARCH"):
		return indexSeek.MatchString(step)
	case strings.HasPrefix(step, "SCAN"):
		return false
	case strings.Contains(step, "TEMP B-TREE"):
		for part := range sorted {
			if strings.Contains(text, part) {
				return true
			}
		}
		return false
	}
	return true
}
