package mongodb

import (
	"context"
	"errors"
	"fmt"

	"plaza/storage/mongodb/internal/feeds"
	"plaza/storage/mongodb/internal/graph"
	"plaza/storage/mongodb/internal/migrate"
	"plaza/storage/mongodb/internal/threads"
)

// These aliases let callers of Store.Migrate use the types of package migrate.
type (
	// Subject is what can be moved from one layout to another while servers run.
	Subject = migrate.Subject
	// Goal is how far a migration is to go.
	Goal = migrate.Goal
	// Migration says what to move.
	Migration = migrate.Migration
	// MigrationState is the layout of a subject, and the progress of its migration.
	MigrationState = migrate.State
	// MigrationReason is why a migration cannot do what it is asked to, or go on.
	MigrationReason = migrate.Reason
	// MigrationError says that a migration cannot do what it is asked to, or go on.
	MigrationError = migrate.Error
)

// The subjects, the goals, and the reasons of a MigrationError: see package migrate.
const (
	MigrateComments = migrate.Comments
	MigrateFeeds    = migrate.Feeds
	MigrateGraph    = migrate.Graph

	GoalSwitch  = migrate.GoalSwitch
	GoalFinish  = migrate.GoalFinish
	GoalBackOut = migrate.GoalBackOut

	MigrationUnderWay    = migrate.UnderWay
	MigrationPastReturn  = migrate.PastReturn
	MigrationFinishing   = migrate.Finishing
	MigrationBackingOut  = migrate.BackingOut
	MigrationNotSwitched = migrate.NotSwitched
	MigrationDiffers     = migrate.Differs
	MigrationDoesNotFit  = migrate.DoesNotFit
)

// Migrate moves comments, feeds or the follower graph from one layout to another while servers run,
// up to the given goal. It may be stopped or killed at any time; the next call continues from
// there. Its errors are written for the operator.
func (s *Store) Migrate(ctx context.Context, what Migration) error {
	m, err := s.newMigration(what)
	if err != nil {
		return err
	}
	if err := m.Claim(ctx); err != nil {
		return err
	}
	return errors.Join(m.Drive(ctx), m.Release(ctx))
}

func (s *Store) newMigration(what Migration) (*migrate.Run, error) {
	c := migrate.Config{
		Self: s.member.ID, Server: s.member, DB: s.db, Settings: s.settings, TransactionTime: s.transactionLife * 5 / 6,
		Generation: func(ctx context.Context, setting string) int { return s.member.Era(ctx).Generations[setting] },
		MayWrite:   func(ctx context.Context) error { return s.member.MayWrite(s.member.Era(ctx)) },
	}
	switch what.Subject {
	case MigrateComments:
		return migrate.New(c, what, commentsSetting(), s.threadMover())
	case MigrateFeeds:
		return migrate.New(c, what, feedsSetting(), s.feedMover())
	case MigrateGraph:
		return migrate.New(c, what, graphSetting(), s.graphMover())
	}
	return nil, fmt.Errorf("%q cannot be moved", what.Subject)
}

// Migrations returns the layout of each subject, and the progress of its migration.
func (s *Store) Migrations(ctx context.Context) (all []MigrationState, err error) {
	servers, err := s.member.Servers(ctx)
	if err != nil {
		return nil, err
	}
	err = s.db.Read(ctx, "settings", func(ctx context.Context) error {
		settings, err := s.member.ReadSettings(ctx)
		if err != nil {
			return err
		}
		all = nil
		for _, subject := range []Subject{MigrateComments, MigrateFeeds, MigrateGraph} {
			d := settings[string(subject)]
			state := migrate.StateOf(d)
			for _, server := range servers {
				if server.ID == d.Driver {
					state.Driver, state.Silent = server.Process, server.Silent()
				}
			}
			all = append(all, state)
		}
		return nil
	})
	return all, err
}

func (s *Store) threadMover() migrate.Mover {
	return threads.NewMover(threads.MoverConfig{
		DB: s.db, Posts: s.posts, Layouts: s.threadLayouts, Indexes: s.indexes, Gone: s.graph.Gone, Now: s.Now, Logger: s.logger,
	})
}

func (s *Store) graphMover() migrate.Mover {
	return graph.NewMover(graph.MoverConfig{
		DB: s.db, Users: s.users.Collection(), Edges: s.graph.Edges(), Layouts: s.graph.Layouts(), Indexes: s.indexes, Logger: s.logger,
	})
}

func (s *Store) feedMover() migrate.Mover {
	return feeds.NewMover(feeds.MoverConfig{
		DB: s.db, Feeds: s.feeds, Users: s.users.Collection(), Follows: s.graph.Follows(), Indexes: s.indexes,
		Jobs: s.jobs, Workers: s.workers, Pause: s.member.Heartbeat / 4,
	})
}
