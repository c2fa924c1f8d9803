package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"plaza/social"
	"plaza/storage"
)

// workCommand shows and revives the background work of the database.
type workCommand struct {
	Status workStatusCommand `cmd:"" help:"Report the remaining work: how many jobs are waiting, the age of the oldest, and which failed."`
	Retry  workRetryCommand  `cmd:"" help:"Retry the failed jobs."`
}

type workStatusCommand struct{}

// Run prints the backlog.
func (*workStatusCommand) Run(ctx context.Context, common *commonFlags) error {
	st, err := common.openStore(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	backlog, err := st.Backlog(ctx)
	if err != nil {
		return err
	}
	writeBacklog(common.console.stdout(), backlog, storage.TimeOf(st)())
	return nil
}

func writeBacklog(out io.Writer, b social.Backlog, now time.Time) {
	fmt.Fprintf(out, "jobs waiting: %d\n", b.Waiting)
	if !b.Oldest.IsZero() {
		fmt.Fprintf(out, "oldest:       %s\n", now.Sub(b.Oldest).Round(time.Millisecond))
	}
	fmt.Fprintf(out, "dead:         %d\n", b.Dead)
	for _, f := range b.Faults {
		state := "waiting for another attempt"
		if f.Dead {
			state = "dead"
		}
		fmt.Fprintf(out, "\n%s: %s\n  %s after %d attempts, the last %s ago\n",
			f.Job, f.Error, state, f.Attempts, now.Sub(f.At).Round(time.Second))
	}
}

type workRetryCommand struct{}

// Run revives failed jobs.
func (*workRetryCommand) Run(ctx context.Context, common *commonFlags) error {
	st, err := common.openStore(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	n, err := st.Revive(ctx)
	if err == nil {
		fmt.Fprintf(common.console.stdout(), "jobs to retry: %d\n", n)
	}
	return err
}
