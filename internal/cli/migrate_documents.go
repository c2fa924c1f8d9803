package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"plaza/internal/progress"
	"plaza/storage/mongodb"
)

// migrateDocumentsCommand upgrades documents that older servers have written.
type migrateDocumentsCommand struct {
	DryRun bool `help:"Report how many documents there are to upgrade, without writing anything."`
	Status bool `help:"Report how many documents there are of each version."`
	Batch  int  `help:"Documents per batch." default:"500" placeholder:"N"`
	Rate   int  `help:"Maximum number of documents per second; 0 for unlimited." default:"0" placeholder:"N"`
}

// Help explains the command, below its one-line help.
func (*migrateDocumentsCommand) Help() string {
	return `Servers read documents of all earlier versions, and upgrade them in the background, so you don't have to run this. New features of a version (such as finding people by name) cover all data only when all documents are upgraded. This command speeds that up, or reports the progress. Stop servers of an earlier version first: documents that they write in the meantime are left for the next run.

You can stop the command at any time: run it again to resume, even after a crash.`
}

// Run upgrades the documents of a MongoDB database. SQLite's tables are upgraded when the file is
// opened.
func (c *migrateDocumentsCommand) Run(ctx context.Context, common *commonFlags) error {
	switch {
	case c.Batch < 1 || c.Batch > 10_000:
		return errors.New("--batch must be between 1 and 10,000")
	case c.Rate < 0:
		return errors.New("--rate must not be negative")
	}
	store, err := common.openMongoDB(ctx, "is upgraded when it is opened: there is nothing to do", common.existingMongoDB())
	if err != nil {
		return err
	}
	if !c.Status {
		err = c.migrate(ctx, common.console.stdout(), store)
	}
	if err == nil {
		err = writeVersions(ctx, common.console.stdout(), store)
	}
	if err == nil && c.Status {
		err = writeDocuments(ctx, common.console.stdout(), store)
	}
	return errors.Join(err, store.Close())
}

func (c *migrateDocumentsCommand) migrate(ctx context.Context, out io.Writer, store *mongodb.Store) error {
	meter := progress.OnStderr()
	collection, upgraded := "", map[string]int{}
	show := func(p mongodb.DocumentProgress) {
		if p.Collection != collection {
			collection = p.Collection
			meter.Begin(collection, p.Done)
			fmt.Fprintln(os.Stderr, collection)
		}
		upgraded[collection] = p.Upgraded
		meter.Show(min(p.Done, p.Total), p.Total)
	}
	var said sync.Once
	waiting := func(process string) {
		said.Do(func() {
			fmt.Fprintln(os.Stderr, "waiting until the lease of the previous process expires:", process)
		})
	}
	err := store.MigrateDocuments(ctx, mongodb.DocumentMigration{
		Batch: c.Batch, Rate: c.Rate, DryRun: c.DryRun, Progress: show, Waiting: waiting,
	})
	meter.End()
	if errors.Is(err, context.Canceled) {
		return errors.New("the migration was stopped; the same command resumes from there")
	}
	if err != nil {
		return err
	}
	verb := "upgraded"
	if c.DryRun {
		verb = "to upgrade"
	}
	for _, name := range slices.Sorted(maps.Keys(upgraded)) {
		fmt.Fprintf(out, "%-14s %12s %s\n", name, progress.Grouped(upgraded[name]), verb)
	}
	return nil
}

func writeVersions(ctx context.Context, out io.Writer, store *mongodb.Store) error {
	all, err := store.DocumentVersions(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%-14s %8s %12s %12s\n", "collection", "version", "documents", "")
	for _, c := range all {
		for _, v := range slices.Sorted(maps.Keys(c.Counts)) {
			state := ""
			if v == c.Newest {
				state = "the newest"
			}
			fmt.Fprintf(out, "%-14s %8d %12s %12s\n", c.Collection, v, progress.Grouped(c.Counts[v]), state)
		}
	}
	return nil
}

// writeDocuments prints the progress of the migration of documents.
func writeDocuments(ctx context.Context, out io.Writer, store *mongodb.Store) error {
	s, err := store.DocumentMigration(ctx)
	if err != nil {
		return err
	}
	switch {
	case s.UnderWay:
		fmt.Fprintln(out, "documents are being upgraded")
		for _, c := range s.Collections {
			fmt.Fprintf(out, "  %s: %s of about %s\n", c.Collection, progress.Grouped(c.Done), progress.Grouped(c.Total))
		}
		if s.Driver != "" {
			fmt.Fprintf(out, "  Upgraded by: %s\n", s.Driver)
			return nil
		}
		fmt.Fprint(out, "  No process is upgrading them.\n  plaza migrate documents   resumes\n")
	case s.Finished.IsZero():
		fmt.Fprint(out, "documents have not been upgraded yet\n  plaza migrate documents --status   shows whether there are older ones\n")
	case !s.Newest:
		fmt.Fprintf(out, "documents were upgraded to older versions at %s UTC\n  plaza migrate documents   upgrades them to the newest\n", s.Finished.Format(time.DateTime))
	default:
		fmt.Fprintf(out, "documents were all upgraded at %s UTC\n", s.Finished.Format(time.DateTime))
	}
	return nil
}
