package evolution

import (
	"context"
	"errors"
	"strings"

	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/wait"
)

// upgradeRate is the most documents per second that the background upgrade reads, so that requests
// have priority.
const upgradeRate = 2_000

// Upgrading upgrades documents in the background. It remembers what was done and logged.
type Upgrading struct {
	d    *Documents
	done cluster.Versions // the versions that all documents have reached; nil: not known yet
	said string           // the state that was logged last
}

// Upgrading returns a new background upgrade.
func (d *Documents) Upgrading() *Upgrading { return &Upgrading{d: d} }

// Run upgrades older documents to the versions that servers write now, until ctx ends. It starts
// again whenever these versions are raised. One server at a time does it; if that one dies, another
// continues. Run logs what is incomplete meanwhile.
func (u *Upgrading) Run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := u.Step(ctx); err != nil && ctx.Err() == nil {
			if u.isNew("failed") {
				u.d.c.Logger.WarnContext(ctx, "cannot upgrade documents of older versions, will try again", "error", err)
			}
		}
		wait.For(ctx, u.d.c.Every, nil)
	}
}

// Step upgrades all documents, unless that is done, has to wait for older servers, or another
// server does it now.
func (u *Upgrading) Step(ctx context.Context) error {
	written := u.d.c.Server.Written()
	if u.done != nil && u.done.Reach(written) {
		return nil
	}
	older, err := u.d.c.Server.ServersBefore(ctx, written, cluster.Writes)
	if err != nil {
		return err
	}
	if len(older) > 0 { // they could write older documents after the upgrade has passed
		if u.isNew("waiting") {
			u.d.c.Logger.WarnContext(ctx, "the upgrade of documents waits until the servers of the older version have stopped", "servers", strings.Join(older, "; "))
		}
		return nil
	}
	old, err := u.d.Old(ctx)
	if err != nil {
		return err
	}
	if len(old) > 0 && u.isNew("upgrading") {
		u.d.c.Logger.WarnContext(ctx, "upgrading documents of older versions: until that is done, usersByName does not find everyone, and lists of circle members take longer", "collections", strings.Join(old, ", "))
	}
	if err := u.all(ctx); err != nil {
		return err
	}
	if len(old) > 0 && u.done != nil {
		u.d.c.Logger.InfoContext(ctx, "all documents are upgraded")
	}
	return nil
}

// all upgrades all documents, unless the database records that this was done.
func (u *Upgrading) all(ctx context.Context) error {
	written := u.d.c.Server.Written()
	state, err := u.d.State(ctx)
	if err != nil {
		return err
	}
	if state.Newest {
		err = u.d.c.Upgraded(ctx, written)
	} else {
		err = u.d.Migrate(ctx, Migration{Rate: upgradeRate})
	}
	if errors.Is(err, errBusy) {
		return nil
	}
	if err == nil {
		u.done = written
	}
	return err
}

// isNew reports whether the state differs from the one that was logged last.
func (u *Upgrading) isNew(state string) bool {
	before := u.said
	u.said = state
	return before != state
}
