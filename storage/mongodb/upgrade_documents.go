package mongodb

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

// UpgradeDocuments brings documents of older versions to those that servers write now, in the
// background, until ctx ends: again whenever FinishUpgrade has raised them. One server at a time
// does it, and another goes on where one has died. It tells the Logger what is incomplete
// meanwhile.
func (s *Store) UpgradeDocuments(ctx context.Context) {
	u := documentUpgrade{s: s}
	for ctx.Err() == nil {
		if err := u.step(ctx); err != nil && ctx.Err() == nil {
			if u.isNew("failed") {
				s.logger.WarnContext(ctx, "documents of older versions could not be upgraded; trying again", "error", err)
			}
		}
		wait.For(ctx, 2*s.member.Heartbeat, nil)
	}
}

// documentUpgrade is what a server knows of the upgrading of documents.
type documentUpgrade struct {
	s    *Store
	done cluster.Versions // to which all documents were upgraded; nil: it is not known
	said string           // what was logged last
}

// step upgrades all documents, unless that is done already, or is for later, or another server is
// at it.
func (u *documentUpgrade) step(ctx context.Context) error {
	written := u.s.written()
	if u.done != nil && u.done.Reach(written) {
		return nil
	}
	older, err := u.s.member.ServersBefore(ctx, written, cluster.Writes)
	if err != nil {
		return err
	}
	if len(older) > 0 { // what they write after the upgrade has passed would be missed
		if u.isNew("waiting") {
			u.s.logger.WarnContext(ctx, "documents of older versions are upgraded when servers of the older version have stopped", "servers", strings.Join(older, "; "))
		}
		return nil
	}
	old, err := u.s.OldDocuments(ctx)
	if err != nil {
		return err
	}
	if len(old) > 0 && u.isNew("upgrading") {
		u.s.logger.WarnContext(ctx, "documents of older versions are being upgraded: until that is done, usersByName does not find everyone, and lists of circle members take longer", "collections", strings.Join(old, ", "))
	}
	if err := u.all(ctx); err != nil {
		return err
	}
	if len(old) > 0 && u.done != nil {
		u.s.logger.InfoContext(ctx, "all documents are upgraded")
	}
	return nil
}

// all upgrades all documents, where that is not recorded as done.
func (u *documentUpgrade) all(ctx context.Context) error {
	written := u.s.written()
	state, err := u.s.DocumentMigration(ctx)
	if err == nil && !state.Newest {
		err = u.s.MigrateDocuments(ctx, DocumentMigration{Rate: upgradeRate})
	}
	if errors.Is(err, errDocumentsBusy) {
		return nil
	}
	if err == nil {
		u.done = written
		u.s.noteUpgraded(written)
	}
	return err
}

// isNew says whether something else was logged last.
func (u *documentUpgrade) isNew(state string) bool {
	before := u.said
	u.said = state
	return before != state
}
