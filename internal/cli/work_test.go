package cli

import (
	"strings"
	"testing"
	"time"

	"plaza/social"
)

func TestBacklogOutput(t *testing.T) {
	now := time.Now()
	var out strings.Builder
	writeBacklog(&out, social.Backlog{
		Waiting: 3, Oldest: now.Add(-1500 * time.Millisecond), Dead: 1,
		Faults: []social.Fault{{Job: "push of x by y", Error: "no primary", Attempts: 24, At: now.Add(-time.Minute), Dead: true}},
	}, now)
	want := "jobs waiting: 3\noldest:       1.5s\ndead:         1\n\npush of x by y: no primary\n  dead after 24 attempts, the last 1m0s ago\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
