package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plaza/internal/progress"
	"plaza/storage/mongodb"
)

// TestMigrationOutput checks the progress of a migration, and the text at its end.
func TestMigrationOutput(t *testing.T) {
	var out strings.Builder
	now := time.Unix(1000, 0)
	clock := func() time.Time { return now }
	report := &moveReport{out: &out, now: clock, meter: progress.NewMeter(&out, false, clock)}
	s := mongodb.MigrationState{Subject: mongodb.MigrateComments, Layout: "documents", From: "documents", To: "pages", Phase: "copying", Total: 4000}
	for range 8 {
		report.progress(s)
		now = now.Add(time.Second)
		s.Done += 500
	}
	s.Phase, s.Done = "comparing", 0
	report.progress(s)
	for range 20 {
		report.waiting([]string{"web-1, process 7", "web-2, process 9, silent for 20 s"})
		now = now.Add(time.Second)
	}
	report.meter.End()
	writeState(&out, s)
	s.Layout, s.Phase, s.Fixed = "pages", "switched", 2
	s.Since = time.Date(2026, 11, 22, 4, 0, 0, 0, time.UTC)
	s.Driver = "web-1, process 7"
	writeState(&out, s)
	s.Fixed, s.Silent = 0, 72400*time.Millisecond
	writeState(&out, s)
	writeState(&out, mongodb.MigrationState{Subject: mongodb.MigrateFeeds, Layout: "hybrid"})
	want := `comments: copying from "documents" to "pages"
copying:  37 %  1,500 of 4,000  500/s  5s left
copying:  75 %  3,000 of 4,000  500/s  2s left
comments: comparing "documents" with "pages"
waiting until all servers agree on the next step: web-1, process 7; web-2, process 9, silent for 20 s
waiting until all servers agree on the next step: web-1, process 7; web-2, process 9, silent for 20 s
comments: read from "documents", and being moved to "pages": comparing, 0 of about 4,000
  plaza migrate comments --to pages   resumes
  plaza migrate comments --back-out   goes back to "documents"
comments: read from "pages" since 2026-11-22 04:00:00 UTC, and still stored in "documents" as well
  plaza migrate comments --finish     removes "documents"
  plaza migrate comments --back-out   goes back to "documents"
  2 copies differed, and were repeated.
  Run by web-1, process 7
comments: read from "pages" since 2026-11-22 04:00:00 UTC, and still stored in "documents" as well
  plaza migrate comments --finish     removes "documents"
  plaza migrate comments --back-out   goes back to "documents"
  Run by web-1, process 7, whose last heartbeat was 1m12s ago
feeds: read from "hybrid"
  No migration is in progress.
  If a server is set to another layout (--feeds), change or remove that setting before you restart it.
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("it says (-want +got):\n%s", diff)
	}
}
