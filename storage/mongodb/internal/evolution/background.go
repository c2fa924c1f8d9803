package evolution

import (
	"context"
	"errors"
	"strings"

	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/wait"
)

// upgradeRate is how many documents a second are looked at in the background, at most: people go
// first.
const upgradeRate = 2_000

// Upgrading is what a server knows of the upgrading of documents in the background.
type Upgrading struct {
	d    *Documents
	done cluster.Versions // to which all documents were upgraded; nil: it is not known
	said string           // what was logged last
}

// Upgrading returns what begins to know.
func (d *Documents) Upgrading() *Upgrading { return &Upgrading{d: d} }

// Run brings documents of older versions to those that servers write now, until ctx ends: again
// whenever these are raised. One server at a time does it, and another goes on where one has died.
// It logs what is incomplete meanwhile.
func (u *Upgrading) Run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := u.Step(ctx); err != nil && ctx.Err() == nil {
			if u.isNew("failed") {
				u.d.c.Logger.WarnContext(ctx, "documents of older versions could not be upgraded; trying again", "error", err)
			}
		}
		wait.For(ctx, u.d.c.Every, nil)
	}
}

// Step upgrades all documents, unless that is done already, or is for later, or another server is
// at it.
func (u *Upgrading) Step(ctx context.Context) error {
	written := u.d.c.Server.Written()
	if u.done != nil && u.done.Reach(written) {
		return nil
	}
	older, err := u.d.c.Server.ServersBefore(ctx, written, cluster.Writes)
	if err != nil {
		return err
	}
	if len(older) > 0 { // what they write after the upgrade has passed would be missed
		if u.isNew("waiting") {
			u.d.c.Logger.WarnContext(ctx, "documents of older versions are upgraded when servers of the older version have stopped", "servers", strings.Join(older, "; "))
		}
		return nil
	}
	old, err := u.d.Old(ctx)
	if err != nil {
		return err
	}
	if len(old) > 0 && u.isNew("upgrading") {
		u.d.c.Logger.WarnContext(ctx, "documents of older versions are being upgraded: until that is done, usersByName does not find everyone, and lists of circle members take longer", "collections", strings.Join(old, ", "))
	}
	if err := u.all(ctx); err != nil {
		return err
	}
	if len(old) > 0 && u.done != nil {
		u.d.c.Logger.InfoContext(ctx, "all documents are upgraded")
	}
	return nil
}

// all upgrades all documents, where that is not recorded as done.
func (u *Upgrading) all(ctx context.Context) error {
	written := u.d.c.Server.Written()
	state, err := u.d.State(ctx)
	if err == nil && !state.Newest {
		err = u.d.Migrate(ctx, Migration{Rate: upgradeRate})
	}
	if errors.Is(err, errBusy) {
		return nil
	}
	if err == nil {
		u.done = written
		u.d.c.Upgraded(written)
	}
	return err
}

// isNew reports whether something else was logged last.
func (u *Upgrading) isNew(state string) bool {
	before := u.said
	u.said = state
	return before != state
}
