// Package mongodb keeps Plaza's data in a MongoDB replica set (6.0 or newer).
//
// Every write is one transaction, together with its event, which a majority has acknowledged and
// journaled. Every read goes to the primary, so that it sees what was written. Each call has a
// deadline: the context's or Options.Timeout, whichever is earlier.
package mongodb

import (
	"context"
	"log/slog"
	"maps"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"plaza/batch"
	"plaza/social"
	"plaza/storage"
	"plaza/storage/mongodb/internal/adstore"
	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/connect"
	"plaza/storage/mongodb/internal/eventlog"
	"plaza/storage/mongodb/internal/evolution"
	"plaza/storage/mongodb/internal/feeds"
	"plaza/storage/mongodb/internal/graph"
	"plaza/storage/mongodb/internal/idempotency"
	"plaza/storage/mongodb/internal/indexes"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/moderation"
	"plaza/storage/mongodb/internal/notifications"
	"plaza/storage/mongodb/internal/profiles"
	"plaza/storage/mongodb/internal/threads"
	"plaza/storage/mongodb/internal/users"
)

// Options configures Open. The zero value is ready to use.
type Options struct {
	// Timeout bounds each call whose context has no earlier deadline. Default: 10 s. If there is no
	// primary, a call fails within 5 s.
	Timeout time.Duration
	// ConnectTimeout bounds Open's wait for a primary. Default: the URI's serverSelectionTimeoutMS,
	// or 7 s. After a failure, Open looks for the reason for at most 2 s.
	ConnectTimeout time.Duration
	// Comments is the layout of comment threads, one of the constants Comments…. "": the recorded
	// one (see [Layouts]), or CommentsDocuments in a new database.
	Comments string
	// Graph is the layout of the follower graph, [GraphReverse] or [GraphTwo]. "": the recorded one
	// (see [Layouts]), or GraphReverse in a new database.
	Graph string
	// Monitor gets every command that is sent. Optional.
	Monitor *event.CommandMonitor
	// Feeds is the layout of feeds, one of the constants Feeds…. "": the recorded one (see
	// [Layouts]), or FeedsRead in a new database.
	Feeds string
	// MergeAbove is a number of followers. Once an author has more, their posts are no longer
	// pushed to the followers' lists, but merged in when a follower reads. That is never undone. It
	// may differ between servers. Default: 10,000.
	MergeAbove int
	// Heartbeat is the interval at which the store sends a heartbeat and looks for changed
	// settings. Default: 1 s.
	Heartbeat time.Duration
	// Lease is how long the store works without a successful heartbeat. After that, calls wait for
	// the next one, and return ErrUnavailable if it does not come. Other servers end the
	// transactions of a store whose last heartbeat is older than half the lease. Default: 8 s.
	Lease time.Duration
	// TransactionLife is the database's transactionLifetimeLimitSeconds. A migration that cannot
	// end the transactions of a silent store waits for one and a half times as long after the
	// lease. It limits its own transactions to five sixths of it. Default: 60 s.
	TransactionLife time.Duration
	// Unjournaled acknowledges writes before they are on the disk. It is for tests that never kill
	// MongoDB, and reduces its work by a ninth.
	Unjournaled bool
	// Logger gets messages for operators about background work, migrations, silent stores and the
	// state of the database. Default: nothing is logged.
	Logger *slog.Logger
	// Outdated is called once, when the operator has finished the upgrade to a newer Plaza. From
	// then on the store returns ErrUnavailable: close it. Optional.
	Outdated func(error)
	// Unfinished is called by Open if the upgrade to this version of Plaza is not finished. Until
	// it is, the previous version can still use the database. Optional.
	Unfinished func()
	// MustExist makes Open return a NoDatabaseError, and change nothing, if no server has opened
	// the database yet.
	MustExist bool

	edition *cluster.Edition // set by tests
	walk    walkLimits       // the same
	clock   *cluster.Clock   // the same
}

// Store is a storage.Store on MongoDB.
type Store struct {
	address connect.Address
	logger  *slog.Logger
	db      *mdb.DB
	feeds   *feeds.Feeds
	jobs    *jobs.Queue
	workers *jobs.Workers
	threads *threads.Threads

	threadPages *batch.Shared[social.List[social.Thread], []*social.Comment]
	singlePosts *batch.Shared[social.PostID, *social.Post]
	erasing     eraseTimes

	newPosts     *mdb.WriteQueue[string, *newPost] // has one key: all posts share one sequence
	newComments  *mdb.SharedWrites[*newComment]
	newReactions *mdb.SharedWrites[*newMark]
	newVotes     *mdb.SharedWrites[*newMark]
	member       *cluster.Member[inUse]
	indexes      *indexes.Builder
	documents    *evolution.Documents
	ads          *adstore.Store

	social.Accounts
	users *users.Store // the same

	social.Graph
	circleCalls
	graph *graph.Store // the same

	profileCalls
	profiles *profiles.Store // the same

	notificationCalls
	notifications *notifications.Store // the same

	caseCalls
	decisionCalls
	moderation *moderation.Store // the same

	eventCalls
	changeCalls
	log *eventlog.Log // the same

	social.IdempotencyKeys
	keys *idempotency.Store // the same

	threadLayouts   map[string]threads.Layout
	clock           *cluster.Clock // the database's
	transactionLife time.Duration
	walk            walkLimits

	posts     *mongo.Collection
	versions  *mongo.Collection
	reactions *mongo.Collection
	votes     *mongo.Collection
	settings  *mongo.Collection
	sequences *mongo.Collection

	threadMutes *mongo.Collection
	openPolls   *mongo.Collection
}

var (
	_ storage.Store       = (*Store)(nil)
	_ storage.NewsCounter = (*Store)(nil)
	_ storage.Clock       = (*Store)(nil)
)

// Parts of the contract that a single package implements. They are embedded under these names,
// because a field can't have the name of a method.
type (
	eventCalls        = social.EventLog
	changeCalls       = social.ChangeLog
	circleCalls       = social.Circles
	profileCalls      = social.Properties
	notificationCalls = social.Notifications
	caseCalls         = social.Cases
	decisionCalls     = social.Decisions
)

// client returns the connections to the deployment.
func (s *Store) client() *mongo.Client { return s.settings.Database().Client() }

// Description implements storage.Store. The layouts are those that are read now.
func (s *Store) Description() storage.Description {
	return storage.Description{
		Engine: "MongoDB", Database: strings.Join(s.address.Hosts, ",") + "/" + s.address.Database, Layouts: maps.Clone(s.member.Now().Layouts),
	}
}

// Now implements storage.Clock. The database's clock decides.
func (s *Store) Now() time.Time { return s.clock.Now() }

// Ping returns an error if the primary does not answer, or had no disk space for the last
// heartbeat.
func (s *Store) Ping(ctx context.Context) error {
	err := s.db.Read(ctx, "ping", func(ctx context.Context) error {
		return s.client().Ping(ctx, readpref.Primary())
	})
	if err == nil && s.member.IsFull() {
		return social.ErrNoRoom
	}
	return err
}

// Close waits up to 5 s for calls to end, and closes all connections.
func (s *Store) Close() error {
	s.member.Leave()
	return connect.Disconnect(s.client())
}

// eraseTimes bounds how long EraseComments deletes by itself before it leaves the rest to the
// workers (inCall), and how long one attempt of a worker takes (inJob, which is well below
// jobs.AttemptTime).
type eraseTimes struct{ inCall, inJob time.Duration }

var defaultEraseTimes = eraseTimes{inCall: 4 * time.Second, inJob: 2 * time.Second}

// inUse returns the layouts that a call works with.
func (s *Store) inUse(ctx context.Context) *inUse { return &s.member.Era(ctx).InUse }
