package sqlite

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"plaza/social"
	"plaza/storage/sqlite/internal/adstore"
	"plaza/storage/sqlite/internal/eventlog"
	"plaza/storage/sqlite/internal/idempotency"
	"plaza/storage/sqlite/internal/invitations"
	"plaza/storage/sqlite/internal/moderation"
	"plaza/storage/sqlite/internal/notifications"
	"plaza/storage/sqlite/internal/sqldb"
)

// Open opens the database file, creates it and its folder if missing, and upgrades its tables. Only
// one Plaza at a time can have a file open. The error names the reason if another one has it open,
// or if the file is damaged, belongs to another program, or was written by a newer Plaza
// (TooNewError).
func Open(ctx context.Context, path string) (*Store, error) { return OpenWith(ctx, path, Options{}) }

// Options of OpenWith. The zero value works.
type Options struct {
	// Logger gets what operators should know about the disk, about upgrades and about work in the
	// background. Default: nothing is logged.
	Logger *slog.Logger
	// Upgraded is called when the tables have been upgraded to another version. Default: nothing is.
	Upgraded func(from, to int64)
	// MustExist forbids OpenWith to create the file or its folder: if the file is missing, the
	// error is fs.ErrNotExist.
	MustExist bool
}

// OpenWith is [Open] with options.
func OpenWith(ctx context.Context, path string, o Options) (*Store, error) {
	migrations, err := tables()
	if err != nil {
		return nil, err
	}
	logger := cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	db, err := sqldb.Open(ctx, path, sqldb.Options{
		Migrations: migrations, Begin: idempotency.TakeEffect,
		Logger: logger, Upgraded: o.Upgraded, MustExist: o.MustExist,
	})
	if err != nil {
		return nil, err
	}
	log, err := eventlog.Open(ctx, db)
	if err != nil {
		return nil, errors.Join(db.Explain(err), db.Close())
	}
	s := &Store{db: db, logger: logger, clock: time.Now, unfinished: make(chan struct{}, 1)}
	now := func() time.Time { return s.clock() } // which tests replace
	s.log, s.EventLog, s.ChangeLog = log, log, log
	refuse := func(tx sqldb.Reader, user social.UserID) error { return refuseDeleted(tx, user, social.ErrAccountGone) }
	s.notifications = notifications.New(db, log, now, s.nextID, refuse)
	s.notificationCalls = s.notifications
	s.moderation = moderation.New(db, log, moderation.Config{NextID: s.nextID, Refused: refuseDeleted, CarryOut: s.carryOut})
	s.caseCalls, s.decisionCalls = s.moderation, s.moderation
	s.keys = idempotency.New(db, now, refuse)
	s.IdempotencyKeys = s.keys
	s.invitations = invitations.New(db, log, now, refuse)
	s.Invitations = s.invitations
	s.ads = adstore.New(db)
	return s, nil
}
