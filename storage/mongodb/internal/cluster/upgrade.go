package cluster

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

// UpgradeState says which versions of documents a database has, and may have.
type UpgradeState struct {
	// Pending are the collections whose newest version servers do not write yet: "posts: 2, not yet
	// 3". None: the upgrade is finished.
	Pending []string
	// Older are the servers of an earlier version that run, for people: host and process id.
	Older []string
}

// Upgrade says whether the upgrade to this version of Plaza is finished, and who is in its way.
func (r *roster) Upgrade(ctx context.Context) (state UpgradeState, err error) {
	var recorded versionsDoc
	err = r.DB.Read(ctx, "settings", func(ctx context.Context) error {
		recorded, err = r.ReadVersions(ctx)
		return err
	})
	if err != nil {
		return state, err
	}
	for _, collection := range slices.Sorted(maps.Keys(r.Edition.Newest)) {
		if have, want := recorded.Newest.Of(collection), r.Edition.Newest.Of(collection); have < want {
			state.Pending = append(state.Pending, fmt.Sprintf("%s: %d, not yet %d", collection, have, want))
		}
	}
	state.Older, err = r.ServersBefore(ctx, r.Edition.Newest, Reads)
	return state, err
}

// Reads are the versions of documents that a server reads.
func Reads(d *Server) Versions { return d.Knows }

// Writes are the versions in which a server writes documents.
func Writes(d *Server) Versions { return d.Writes }

// ServersBefore are the living servers that do not read, or do not write, these versions yet.
func (r *roster) ServersBefore(ctx context.Context, v Versions, of func(*Server) Versions) (older []string, err error) {
	all, err := r.Servers(ctx)
	for i := range all {
		if !of(&all[i]).Reach(v) && !r.IsGone(ctx, &all[i]) {
			older = append(older, all[i].Describe())
		}
	}
	return older, err
}

// FinishUpgrade lets servers write documents of the newest versions. Servers of earlier versions
// refuse the database from then on: while some run, it names them and changes nothing. Those that
// start at the same time stop; waiting (optional) is told of them. When it returns, all servers
// write the newest versions. Its errors are for people.
func (r *roster) FinishUpgrade(ctx context.Context, waiting func(processes []string)) error {
	state, err := r.Upgrade(ctx)
	switch {
	case err != nil || len(state.Pending) == 0:
		return err
	case len(state.Older) > 0:
		return &OlderServersError{Processes: state.Older}
	}
	err = r.DB.Read(ctx, "settings", func(ctx context.Context) error { return r.raiseVersions(ctx, "next", r.Edition.Newest) })
	if err != nil {
		return err
	}
	if err := r.awaitServers(ctx, Reads, waiting); err != nil {
		return err
	}
	err = r.DB.Read(ctx, "settings", func(ctx context.Context) error { return r.raiseVersions(ctx, "newest", r.Edition.Newest) })
	if err != nil {
		return err
	}
	return r.awaitServers(ctx, Writes, nil) // at their next heartbeats, when the calls that began before have ended
}

// awaitServers waits until all living servers read, or write, the newest versions.
func (r *roster) awaitServers(ctx context.Context, of func(*Server) Versions, waiting func(processes []string)) error {
	for {
		older, err := r.ServersBefore(ctx, r.Edition.Newest, of)
		if err != nil || len(older) == 0 {
			return err
		}
		if waiting != nil {
			waiting(older)
		}
		r.Hurry()
		if err := r.Pause(ctx); err != nil {
			return err
		}
	}
}

// OlderServersError says that servers of an earlier version run, which would not know what is
// written from now on.
type OlderServersError struct {
	Processes []string
}

// Error is for people.
func (e *OlderServersError) Error() string {
	return fmt.Sprintf("%d processes of an earlier version of Plaza use this database: stop or replace them first (%q)", len(e.Processes), e.Processes)
}

// versionsDoc is the document "documents" of settings: the versions that the database has.
type versionsDoc struct {
	// Newest are the versions that servers write. A server refuses a database in which they are
	// beyond those that it knows.
	Newest Versions `bson:"newest"`
	// Next are those that servers will write when the upgrade that is being finished is. Only
	// servers that know them may run.
	Next Versions `bson:"next,omitempty"`
}

// versionsSetting is the id of the document of "settings" with the versions that servers write.
const versionsSetting = "documents"

func (r *roster) ReadVersions(ctx context.Context) (d versionsDoc, err error) {
	err = r.settings.FindOne(ctx, mdb.Doc("_id", versionsSetting)).Decode(&d)
	if errors.Is(err, mongo.ErrNoDocuments) {
		err = nil
	}
	return d, err
}

// raiseVersions raises the recorded versions to at least these. The field is "newest" or "next".
func (r *roster) raiseVersions(ctx context.Context, field string, to Versions) error {
	raised := bson.D{}
	for collection, v := range to {
		raised = append(raised, bson.E{Key: field + "." + collection, Value: v})
	}
	return mdb.Retry(ctx, func() error {
		_, err := r.settings.UpdateOne(ctx, mdb.Doc("_id", versionsSetting),
			mdb.Doc("$max", raised, "$setOnInsert", mdb.Doc("v", mdb.FirstVersion)), options.UpdateOne().SetUpsert(true))
		return mdb.OrRetry(err)
	})
}

// admits refuses a database that has, or is about to have, documents that this Plaza does not know:
// to change documents without knowing what they mean would destroy them.
func (e Edition) admits(d versionsDoc) error {
	for _, claimed := range []Versions{d.Newest, d.Next} {
		for _, collection := range slices.Sorted(maps.Keys(claimed)) {
			if have, most := claimed.Of(collection), e.Newest.Of(collection); have > most {
				return fmt.Errorf("this database %w: its %s have version %d, and this Plaza knows %d", ErrTooNew, collection, have, most)
			}
		}
	}
	return nil
}
