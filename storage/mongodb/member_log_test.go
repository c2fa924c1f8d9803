package mongodb_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"plaza/internal/testtime"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// lines receives the messages of a log, each with the layout that it names.
type lines chan string

func (l lines) Write(line []byte) (int, error) {
	var said struct{ Msg, Of, Layout string }
	if err := json.NewDecoder(bytes.NewReader(line)).Decode(&said); err != nil {
		return 0, err
	}
	l <- said.Msg + ": " + said.Of + " in " + said.Layout
	return len(line), nil
}

// TestServersLogMigrations checks that a server logs the steps of a migration that another process
// drives, each once.
func TestServersLogMigrations(t *testing.T) {
	t.Parallel()
	uri := mongotest.Reused(t)
	logged := make(lines, 100)
	o := brisk(mongodb.Options{})
	o.Logger = slog.New(slog.NewJSONHandler(logged, nil))
	openAt(t, uri, o)
	driver := openAt(t, uri, brisk(mongodb.Options{}))
	for _, step := range []struct {
		migration mongodb.Migration
		want      []string
	}{
		{mongodb.Migration{Subject: mongodb.MigrateComments, To: "pages", Goal: mongodb.GoalSwitch}, []string{"another layout is read now: comments in pages"}},
		{mongodb.Migration{Subject: mongodb.MigrateComments, Goal: mongodb.GoalFinish}, []string{"the migration is finished: comments in pages"}},
		{mongodb.Migration{Subject: mongodb.MigrateFeeds, To: "hybrid", Goal: mongodb.GoalSwitch}, []string{"another layout is read now: feeds in hybrid"}},
		{mongodb.Migration{Subject: mongodb.MigrateFeeds, Goal: mongodb.GoalBackOut}, []string{
			"another layout is read now: feeds in read", "the migration was backed out of: feeds in read",
		}},
	} {
		if err := driver.Migrate(t.Context(), step.migration); err != nil {
			t.Fatal(err)
		}
		for _, want := range step.want {
			select {
			case got := <-logged:
				if got != want {
					t.Errorf("the log says %q, want %q", got, want)
				}
			case <-time.After(testtime.Patience()):
				t.Fatalf("the log does not say %q", want)
			}
		}
	}
	if len(logged) > 0 {
		t.Errorf("the log also says %q", <-logged)
	}
}
