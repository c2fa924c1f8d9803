package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"plaza/internal/progress"
	"plaza/social"
	"plaza/storage/mongodb"
)

// migrateCommand moves a database from one layout to another.
type migrateCommand struct {
	Comments  migrateCommentsCommand  `cmd:"" help:"Move comment threads to another layout."`
	Feeds     migrateFeedsCommand     `cmd:"" help:"Move news feeds to another layout."`
	Graph     migrateGraphCommand     `cmd:"" help:"Move the follower graph to another layout."`
	Documents migrateDocumentsCommand `cmd:"" help:"Upgrade the documents of earlier versions now, at full speed."`
	Finish    migrateFinishCommand    `cmd:"" help:"Finish the upgrade to this version of Plaza. Earlier versions can no longer use the database."`
	Back      migrateBackCommand      `cmd:"" help:"Downgrade the embedded database to the tables of an earlier version of Plaza."`
	Status    migrateStatusCommand    `cmd:"" help:"Report the database's layouts, and the progress of migrations."`
}

type migrateCommentsCommand struct {
	moveFlags `embed:""`
}

// moveFlags limit how far a migration goes.
type moveFlags struct {
	To      string `help:"Layout to move to. The old one is kept up to date until --finish." placeholder:"LAYOUT"`
	Finish  bool   `help:"Remove the old layout permanently. With --to: move, and then remove it immediately."`
	BackOut bool   `help:"Go back to the old layout, and remove the new one." name:"back-out"`
	Rate    int    `help:"Maximum number of posts (for feeds and the graph: users) processed per second; 0 for unlimited." default:"0" placeholder:"N"`
}

// Help explains the command, below its one-line help.
func (*moveFlags) Help() string {
	return `Servers keep running, and users notice nothing. With --to, everything is copied and compared while all servers keep both layouts up to date. Then servers read from the new layout. They still keep the old one up to date, so --back-out can go back at any time until --finish removes it.

You can stop the command at any time: run it again to resume, even after a crash.`
}

// Run moves comments.
func (c *migrateCommentsCommand) Run(ctx context.Context, common *commonFlags) error {
	return c.run(ctx, common, mongodb.MigrateComments)
}

type migrateFeedsCommand struct {
	moveFlags `embed:""`
}

// Run moves feeds.
func (c *migrateFeedsCommand) Run(ctx context.Context, common *commonFlags) error {
	return c.run(ctx, common, mongodb.MigrateFeeds)
}

type migrateGraphCommand struct {
	moveFlags `embed:""`
}

// Run moves the follower graph.
func (c *migrateGraphCommand) Run(ctx context.Context, common *commonFlags) error {
	return c.run(ctx, common, mongodb.MigrateGraph)
}

func (f *moveFlags) goal() (mongodb.Goal, error) {
	switch {
	case f.BackOut && (f.Finish || f.To != ""):
		return "", errors.New("--back-out can't be combined with --to or --finish")
	case f.Rate < 0:
		return "", errors.New("--rate must not be negative")
	case f.BackOut:
		return mongodb.GoalBackOut, nil
	case f.Finish:
		return mongodb.GoalFinish, nil
	case f.To == "":
		return "", errors.New("pass --to LAYOUT, or --finish or --back-out for a migration that is in progress")
	}
	return mongodb.GoalSwitch, nil
}

func (f *moveFlags) run(ctx context.Context, common *commonFlags, subject mongodb.Subject) error {
	goal, err := f.goal()
	if err != nil {
		return err
	}
	store, err := common.openMongoDB(ctx, fmt.Sprintf("has one layout of %s: there is nothing to move", subject), common.existingMongoDB())
	if err != nil {
		return err
	}
	report := &moveReport{out: os.Stderr, now: time.Now, meter: progress.OnStderr()}
	err = store.Migrate(ctx, mongodb.Migration{
		Subject: subject, To: f.To, Goal: goal, Rate: f.Rate, Progress: report.progress, Waiting: report.waiting,
	})
	report.meter.End()
	switch {
	case errors.Is(err, context.Canceled):
		err = errors.New(`the migration was stopped: the same command resumes it, and "plaza migrate status" shows how far it is`)
	case errors.Is(err, social.ErrUnavailable):
		err = fmt.Errorf("the migration did not finish: run the same command again: %w", err)
	}
	if err == nil {
		err = writeMoved(ctx, common.console.stdout(), store, subject)
	}
	return errors.Join(err, store.Close())
}

// moveReport shows the progress of a migration.
type moveReport struct {
	out    io.Writer
	now    func() time.Time
	meter  *progress.Meter
	phase  string
	since  time.Time // when the waiting began
	waited time.Time // when the waiting was last reported
	named  time.Time // when the servers were last named
}

func (r *moveReport) progress(s mongodb.MigrationState) {
	if r.phase != s.Phase {
		r.phase = s.Phase
		r.meter.Begin(s.Phase, s.Done)
		fmt.Fprintf(r.out, "%s: %s\n", s.Subject, phaseInWords(s))
	}
	r.meter.Show(min(s.Done, s.Total), s.Total)
}

func phaseInWords(s mongodb.MigrationState) string {
	switch s.Phase {
	case "copying":
		if s.Subject == mongodb.MigrateFeeds {
			return fmt.Sprintf("building %q", s.To)
		}
		return fmt.Sprintf("copying from %q to %q", s.From, s.To)
	case "comparing":
		return fmt.Sprintf("comparing %q with %q", s.From, s.To)
	case "finishing":
		return fmt.Sprintf("removing %q", s.From)
	case "undoing":
		return fmt.Sprintf("removing %q", s.To)
	}
	return s.Phase
}

const (
	// waitQuietly is how long servers may take to agree before their names are shown, and nameEvery
	// how often the names are shown.
	waitQuietly = 3 * time.Second
	nameEvery   = 10 * time.Second
)

func (r *moveReport) waiting(processes []string) {
	now := r.now()
	if now.Sub(r.waited) > waitQuietly { // for something else
		r.since = now
	}
	r.waited = now
	if now.Sub(r.since) < waitQuietly || now.Sub(r.named) < nameEvery {
		return
	}
	r.meter.End()
	r.named = now
	fmt.Fprintf(r.out, "waiting until all servers agree on the next step: %s\n", strings.Join(processes, "; "))
}

// writeMoved prints which layout a subject now has, and what can be done next.
func writeMoved(ctx context.Context, out io.Writer, store *mongodb.Store, subject mongodb.Subject) error {
	all, err := store.Migrations(ctx)
	if err != nil {
		return err
	}
	for _, s := range all {
		if s.Subject == subject {
			writeState(out, s)
		}
	}
	return nil
}

func writeState(out io.Writer, s mongodb.MigrationState) {
	fmt.Fprintf(out, "%s: read from %q", s.Subject, s.Layout)
	switch {
	case s.From == "":
		fmt.Fprintf(out, "\n  No migration is in progress.\n  If a server is set to another layout (--%s), change or remove that setting before you restart it.\n", s.Subject)
		return
	case s.Phase == "switched":
		fmt.Fprintf(out, " since %s UTC, and still stored in %q as well\n", s.Since.Format(time.DateTime), s.From)
		fmt.Fprintf(out, "  plaza migrate %s --finish     removes %q\n", s.Subject, s.From)
		fmt.Fprintf(out, "  plaza migrate %s --back-out   goes back to %q\n", s.Subject, s.From)
	case s.Phase == "finishing":
		fmt.Fprintf(out, "; %q is being removed: %s of about %s\n", s.From, progress.Grouped(s.Done), progress.Grouped(s.Total))
		fmt.Fprintf(out, "  plaza migrate %s --finish     resumes\n", s.Subject)
	case s.Phase == "undoing" || s.Phase == "returning":
		fmt.Fprintf(out, "; the migration to %q is being backed out of: %s of about %s\n", s.To, progress.Grouped(s.Done), progress.Grouped(s.Total))
		fmt.Fprintf(out, "  plaza migrate %s --back-out   resumes\n", s.Subject)
	default:
		fmt.Fprintf(out, ", and being moved to %q: %s, %s of about %s\n", s.To, s.Phase, progress.Grouped(s.Done), progress.Grouped(s.Total))
		fmt.Fprintf(out, "  plaza migrate %s --to %s   resumes\n", s.Subject, s.To)
		fmt.Fprintf(out, "  plaza migrate %s --back-out   goes back to %q\n", s.Subject, s.From)
	}
	if s.Fixed > 0 {
		fmt.Fprintf(out, "  %s copies differed, and were repeated.\n", progress.Grouped(s.Fixed))
	}
	switch {
	case s.Driver != "" && s.Silent > 0:
		fmt.Fprintf(out, "  Run by %s, whose last heartbeat was %s ago\n", s.Driver, s.Silent.Round(time.Second))
	case s.Driver != "":
		fmt.Fprintf(out, "  Run by %s\n", s.Driver)
	}
}

type migrateStatusCommand struct{}

// Run prints all layouts.
func (*migrateStatusCommand) Run(ctx context.Context, common *commonFlags) error {
	store, err := common.openMongoDB(ctx, "has one layout of everything: there is nothing to move", common.existingMongoDB())
	if err != nil {
		return err
	}
	all, err := store.Migrations(ctx)
	for _, s := range all {
		writeState(common.console.stdout(), s)
	}
	if err == nil {
		err = writeDocuments(ctx, common.console.stdout(), store)
	}
	if err == nil {
		err = writeUpgrade(ctx, common.console.stdout(), store)
	}
	return errors.Join(err, store.Close())
}
