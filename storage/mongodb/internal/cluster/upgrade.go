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

// UpgradeState is the state of the upgrade to this version of Plaza.
type UpgradeState struct {
	// Pending are the collections whose newest version servers do not write yet, as in "posts: 2,
	// not yet 3". If there are none, the upgrade is finished.
	Pending []string
	// Older are the running servers of an earlier version, for the operator: host and process id.
	Older []string
}

// Upgrade returns whether the upgrade to this version of Plaza is finished, and which servers
// prevent it.
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

// Reads returns the newest versions of documents that a server reads.
func Reads(d *Server) Versions { return d.Knows }

// Writes returns the versions in which a server writes documents.
func Writes(d *Server) Versions { return d.Writes }

// ServersBefore returns the living servers that do not read, or do not write, these versions yet.
func (r *roster) ServersBefore(ctx context.Context, v Versions, of func(*Server) Versions) (older []string, err error) {
	all, err := r.Servers(ctx)
	for i := range all {
		if !of(&all[i]).Reach(v) && !r.IsGone(ctx, &all[i]) {
			older = append(older, all[i].Describe())
		}
	}
	return older, err
}

// FinishUpgrade lets servers write documents of the newest versions. From then on, servers of
// earlier versions refuse the database. While some run, it returns an OlderServersError and changes
// nothing. Earlier servers that start at the same time stop; FinishUpgrade passes their names to
// waiting (optional). When it returns without an error, all servers write the newest versions. Its
// errors are written for the operator.
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
	return r.awaitServers(ctx, Writes, nil) // they do after their next heartbeats, once earlier calls have ended
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

// OlderServersError means that servers of an earlier version run, which could not read what newer
// ones will write.
type OlderServersError struct {
	Processes []string
}

// Error is written for the operator.
func (e *OlderServersError) Error() string {
	return fmt.Sprintf("%d processes of an earlier version of Plaza use this database: stop or replace them first (%q)", len(e.Processes), e.Processes)
}

// versionsDoc is the document "documents" of "settings": the versions of the database's documents.
type versionsDoc struct {
	// Newest are the versions that servers write. A server refuses a database if it does not know
	// these versions.
	Newest Versions `bson:"newest"`
	// Next are the versions that servers will write when the current upgrade is finished. Only
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

// admits returns an error if the database has, or will soon have, documents of versions that this
// Plaza does not know. A server that changed such documents could destroy them.
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
