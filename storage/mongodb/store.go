// Package mongodb keeps Plaza's data in a MongoDB replica set (6.0 or newer).
//
// Every write is a transaction with its event, acknowledged by a majority and by its journals.
// Every read goes to the primary, so that it sees what was written. Each call has a deadline: the
// context's, or else Options.Timeout.
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

// Options changes how Open connects. The zero value is good.
type Options struct {
	// Timeout bounds each call whose context has no earlier deadline. Default: 10 s. Where there is
	// no primary a call fails earlier, within 5 s.
	Timeout time.Duration
	// ConnectTimeout bounds Open's wait for a primary. Default: 7 s. The reason of a failure is
	// looked for afterwards, for at most 2 s.
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
	// MergeAbove is the number of followers above which an author's posts are not pushed to
	// followers' lists but merged in when they read, for good. It may differ between servers.
	// Default: 10,000.
	MergeAbove int
	// Heartbeat is how often the store says that it lives, and looks for changed settings. Default:
	// 1 s.
	Heartbeat time.Duration
	// Lease is how long the store works without a heartbeat; then calls wait for the next one, and
	// answer ErrUnavailable if it does not come. Others end the transactions of a store that has
	// been silent for half of it. Default: 8 s.
	Lease time.Duration
	// TransactionLife is the database's transactionLifetimeLimitSeconds. A migration waits for one
	// and a half times as long, after the lease, where it cannot end the transactions of a silent
	// store, and gives its own transactions five sixths of it. Default: 60 s.
	TransactionLife time.Duration
	// Unjournaled acknowledges writes before they are on the disk. For tests of a server that is
	// never killed: it costs MongoDB a ninth less.
	Unjournaled bool
	// Logger gets what operators should know of the work in the background, of migrations, of
	// silent stores and of the database's state. Default: nothing is logged.
	Logger *slog.Logger
	// Outdated is called, once, when the operator has finished the upgrade to a newer Plaza. The
	// store answers ErrUnavailable from then on: close it. Optional.
	Outdated func(error)
	// Unfinished is called by Open when the upgrade to this version of Plaza is not finished: the
	// database is kept so that the previous version can use it. Optional.
	Unfinished func()
	// MustExist lets Open refuse a database that no server has opened yet, and leave it as it is.
	MustExist bool

	edition *cluster.Edition // of tests
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
	erasing eraseTimes

	newPosts    *mdb.WriteQueue[string, *newPost] // of one key: all posts are in one sequence
	newComments *mdb.WriteQueue[social.PostID, *newComment]
	member      *cluster.Member[inUse]
	indexes     *indexes.Builder
	documents   *evolution.Documents
	ads         *adstore.Store

	userCalls
	social.Sessions
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
	transactionLife time.Duration

	posts     *mongo.Collection
	versions  *mongo.Collection
	reactions *mongo.Collection
	votes     *mongo.Collection
	settings  *mongo.Collection
	sequences *mongo.Collection

	threadMutes *mongo.Collection
}

var _ storage.Store = (*Store)(nil)

// Parts of the contract that one package implements. They are embedded by these names, because a
// field can't have the name of a method.
type (
	eventCalls        = social.EventLog
	changeCalls       = social.ChangeLog
	userCalls         = social.Users
	circleCalls       = social.Circles
	profileCalls      = social.Properties
	notificationCalls = social.Notifications
	caseCalls         = social.Cases
	decisionCalls     = social.Decisions
)

// client returns the connections to the deployment.
func (s *Store) client() *mongo.Client { return s.settings.Database().Client() }

// Description implements storage.Store: the layouts are those that are read now.
func (s *Store) Description() storage.Description {
	return storage.Description{
		Engine: "MongoDB", Database: strings.Join(s.address.Hosts, ",") + "/" + s.address.Database, Layouts: maps.Clone(s.member.Now().Layouts),
	}
}

// Ping says whether the primary answers, and had room for the last heartbeat.
func (s *Store) Ping(ctx context.Context) error {
	err := s.db.Read(ctx, "ping", func(ctx context.Context) error {
		return s.client().Ping(ctx, readpref.Primary())
	})
	if err == nil && s.member.IsFull() {
		return social.ErrNoRoom
	}
	return err
}

// Close waits up to 5 s for calls under way, and closes all connections.
func (s *Store) Close() error {
	s.member.Leave()
	return connect.Disconnect(s.client())
}

// newPost is a post on its way into the database.
type newPost struct {
	given  social.Post
	event  social.Event
	stored *social.Post // set by the transaction
}

// newComment is a comment on its way into the database.
type newComment struct {
	given  social.Comment
	event  social.Event
	stored *social.Comment // set by the transaction
}

// eraseTimes are how long EraseComments deletes by itself, before it leaves the rest to the
// workers, and how long an attempt of theirs does: well below jobs.AttemptTime.
type eraseTimes struct{ inCall, inJob time.Duration }

var defaultEraseTimes = eraseTimes{inCall: 4 * time.Second, inJob: 2 * time.Second}

// inUse are the layouts that a call works with.
func (s *Store) inUse(ctx context.Context) *inUse { return &s.member.Era(ctx).InUse }
