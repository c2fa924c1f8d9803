package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"plaza/storage/mongodb"
)

// migrateFinishCommand finishes an upgrade.
type migrateFinishCommand struct{}

// Help explains the command, below its one-line help.
func (*migrateFinishCommand) Help() string {
	return `A server of a new version keeps the database compatible with the previous version: you can go back without losing anything written since. The new version stores its additional data only after you finish the upgrade. From then on, earlier versions refuse the database.

Run it with the new version, when all servers run that version and you will not go back. While a server of an earlier version runs, the command names it and changes nothing.`
}

// Run finishes the upgrade of a MongoDB database. SQLite's tables are upgraded when the file is
// opened.
func (*migrateFinishCommand) Run(ctx context.Context, common *commonFlags) error {
	store, err := common.openMongoDB(ctx, "is upgraded when it is opened: there is nothing to finish", common.existingMongoDB())
	if err != nil {
		return err
	}
	waiting := func(processes []string) {
		fmt.Fprintln(os.Stderr, "waiting for servers of an earlier version to stop:", strings.Join(processes, "; "))
	}
	err = store.FinishUpgrade(ctx, waiting)
	if older, ok := errors.AsType[*mongodb.OlderServersError](err); ok {
		err = fmt.Errorf("servers of an earlier version are running: %s: stop or replace them first", strings.Join(older.Processes, "; "))
	}
	if err == nil {
		err = writeUpgrade(ctx, common.console.stdout(), store)
	}
	return errors.Join(err, store.Close())
}

// writeUpgrade prints whether the upgrade to this version is finished, and what is left to do.
func writeUpgrade(ctx context.Context, out io.Writer, store *mongodb.Store) error {
	state, err := store.Upgrade(ctx)
	if err != nil {
		return err
	}
	if len(state.Pending) == 0 {
		fmt.Fprintln(out, "the upgrade to this version is finished: earlier versions refuse the database")
		return nil
	}
	fmt.Fprintf(out, "the upgrade to this version is not finished: the previous version can still use the database (%s)\n", strings.Join(state.Pending, "; "))
	if len(state.Older) > 0 {
		fmt.Fprintf(out, "  Servers of an earlier version: %s\n", strings.Join(state.Older, "; "))
	}
	fmt.Fprint(out, "  plaza migrate finish   finishes it; this can't be undone\n")
	return nil
}
