package mongodb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/storage/mongodb/internal/mdb"
)

// versions are versions of documents, by collection. A collection that is not named has version 1.
type versions map[string]int

func (v versions) of(collection string) int { return max(v[collection], mdb.FirstVersion) }

// reach says whether v is at least as new as other, in every collection.
func (v versions) reach(other versions) bool {
	for collection := range other {
		if v.of(collection) < other.of(collection) {
			return false
		}
	}
	return true
}

// edition is what one version of Plaza can do with documents.
type edition struct {
	// newest are the versions that it reads, and writes once the upgrade is finished.
	newest versions
	// previous are those that the release before wrote. It writes them until the upgrade is finished, so that the operator can go
	// back to that release.
	previous versions
}

func thisEdition() edition { return edition{newest: newestVersions(), previous: previousVersions()} }

// admits refuses a database that has, or is about to have, documents that this Plaza does not know: to change documents
// without knowing what they mean would destroy them.
func (e edition) admits(d versionsDoc) error {
	for _, claimed := range []versions{d.Newest, d.Next} {
		for _, collection := range slices.Sorted(maps.Keys(claimed)) {
			if have, most := claimed.of(collection), e.newest.of(collection); have > most {
				return fmt.Errorf("this database %w: its %s have version %d, and this Plaza knows %d", errTooNew, collection, have, most)
			}
		}
	}
	return nil
}

// versionsDoc is the document "documents" of settings: the versions that the database has.
type versionsDoc struct {
	// Newest are the versions that servers write. A server refuses a database in which they are beyond those that it knows.
	Newest versions `bson:"newest"`
	// Next are those that servers will write when the upgrade that is being finished is. Only servers that know them may run.
	Next versions `bson:"next,omitempty"`
}

const versionsSetting = "documents"

func (s *Store) readVersions(ctx context.Context) (d versionsDoc, err error) {
	err = s.settings.FindOne(ctx, mdb.Doc("_id", versionsSetting)).Decode(&d)
	if errors.Is(err, mongo.ErrNoDocuments) {
		err = nil
	}
	return d, err
}

// claimVersions refuses a database that a newer Plaza has upgraded. A database of an older release than the previous one is
// raised to that; a new one has the newest versions at once.
func (s *Store) claimVersions(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	recorded, err := s.readVersions(ctx)
	if err != nil {
		return mdb.Translate(ctx, "settings", err)
	}
	if err := s.edition.admits(recorded); err != nil {
		return err
	}
	least := s.edition.previous
	if recorded.Newest == nil {
		old, err := mdb.HasDocuments(ctx, s.users)
		if err != nil {
			return mdb.Translate(ctx, "users", err)
		}
		if !old {
			least = s.edition.newest
		}
	}
	if err := s.raiseVersions(ctx, "newest", least); err != nil {
		return mdb.Translate(ctx, "settings", err)
	}
	if recorded, err = s.readVersions(ctx); err != nil {
		return mdb.Translate(ctx, "settings", err)
	}
	s.member.claimed = recorded.Newest // the first heartbeat says what this server writes
	return nil
}

// raiseVersions raises the recorded versions to at least these. The field is "newest" or "next".
func (s *Store) raiseVersions(ctx context.Context, field string, to versions) error {
	raised := bson.D{}
	for collection, v := range to {
		raised = append(raised, bson.E{Key: field + "." + collection, Value: v})
	}
	return mdb.Retry(ctx, func() error {
		_, err := s.settings.UpdateOne(ctx, mdb.Doc("_id", versionsSetting),
			mdb.Doc("$max", raised, "$setOnInsert", mdb.Doc("v", mdb.FirstVersion)), options.UpdateOne().SetUpsert(true))
		return mdb.OrRetry(err)
	})
}

// writes is the version in which documents of the collection are written now: that of the release before, until the upgrade
// is finished. Only a call may ask: FinishUpgrade waits for the calls that may have got the older version.
func (s *Store) writes(collection string) int { return s.written().of(collection) }

// written are the versions in which documents are written now.
func (s *Store) written() versions { return s.member.written() }

// UpgradeState says which versions of documents a database has, and may have.
type UpgradeState struct {
	// Pending are the collections whose newest version servers do not write yet: "posts: 2, not yet 3". None: the upgrade is finished.
	Pending []string
	// Older are the servers of an earlier version that run, for people: host and process id.
	Older []string
}

// Upgrade says whether the upgrade to this version of Plaza is finished, and who is in its way.
func (s *Store) Upgrade(ctx context.Context) (state UpgradeState, err error) {
	var recorded versionsDoc
	err = s.db.Read(ctx, "settings", func(ctx context.Context) error {
		recorded, err = s.readVersions(ctx)
		return err
	})
	if err != nil {
		return state, err
	}
	for _, collection := range slices.Sorted(maps.Keys(s.edition.newest)) {
		if have, want := recorded.Newest.of(collection), s.edition.newest.of(collection); have < want {
			state.Pending = append(state.Pending, fmt.Sprintf("%s: %d, not yet %d", collection, have, want))
		}
	}
	state.Older, err = s.serversBefore(ctx, s.edition.newest, reads)
	return state, err
}

// What a server does with versions of documents.
func reads(d *serverDoc) versions  { return d.Knows }
func writes(d *serverDoc) versions { return d.Writes }

// serversBefore are the living servers that do not read, or do not write, these versions yet.
func (s *Store) serversBefore(ctx context.Context, v versions, of func(*serverDoc) versions) (older []string, err error) {
	all, err := s.servers(ctx)
	for i := range all {
		if !of(&all[i]).reach(v) && !s.isGone(ctx, &all[i]) {
			older = append(older, all[i].describe())
		}
	}
	return older, err
}

// FinishUpgrade lets servers write documents of the newest versions. Servers of earlier versions refuse the database from then on:
// while some run, it names them and changes nothing. Those that start at the same time stop; waiting (optional) is told of them. When it returns, all servers write the newest versions.
// Its errors are for people.
func (s *Store) FinishUpgrade(ctx context.Context, waiting func(processes []string)) error {
	state, err := s.Upgrade(ctx)
	switch {
	case err != nil || len(state.Pending) == 0:
		return err
	case len(state.Older) > 0:
		return &OlderServersError{Processes: state.Older}
	}
	err = s.db.Read(ctx, "settings", func(ctx context.Context) error { return s.raiseVersions(ctx, "next", s.edition.newest) })
	if err != nil {
		return err
	}
	if err := s.awaitServers(ctx, reads, waiting); err != nil {
		return err
	}
	err = s.db.Read(ctx, "settings", func(ctx context.Context) error { return s.raiseVersions(ctx, "newest", s.edition.newest) })
	if err != nil {
		return err
	}
	return s.awaitServers(ctx, writes, nil) // at their next heartbeats, when the calls that began before have ended
}

// awaitServers waits until all living servers read, or write, the newest versions.
func (s *Store) awaitServers(ctx context.Context, of func(*serverDoc) versions, waiting func(processes []string)) error {
	for {
		older, err := s.serversBefore(ctx, s.edition.newest, of)
		if err != nil || len(older) == 0 {
			return err
		}
		if waiting != nil {
			waiting(older)
		}
		s.member.hurry()
		if err := s.pause(ctx); err != nil {
			return err
		}
	}
}

// OlderServersError says that servers of an earlier version run, which would not know what is written from now on.
type OlderServersError struct {
	Processes []string
}

// Error is for people.
func (e *OlderServersError) Error() string {
	return fmt.Sprintf("%d processes of an earlier version of Plaza use this database: stop or replace them first (%q)", len(e.Processes), e.Processes)
}
