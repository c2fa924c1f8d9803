// Package mongodb keeps Plaza's data in a MongoDB replica set (6.0 or newer).
//
// Every write is a transaction with its event, acknowledged by a majority and by its journals. Every read goes to
// the primary, so that it sees what was written. Each call has a deadline: the context's, or else Options.Timeout.
package mongodb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"plaza/id"
	"plaza/social"
	"plaza/storage"
	"plaza/storage/mongodb/internal/adstore"
	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/connect"
	"plaza/storage/mongodb/internal/feeds"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/threads"
)

const (
	defaultTimeout        = 10 * time.Second
	defaultConnectTimeout = 7 * time.Second
	closeTimeout          = 5 * time.Second
	// defaultHeartbeat is how often a server says that it lives, and looks for changed settings.
	defaultHeartbeat = time.Second
	// defaultLease is how long it may act without a heartbeat. After a crash the others wait that long where
	// they have to be sure that the server does nothing more.
	defaultLease = 8 * time.Second
	// defaultTransactionLife is the database's transactionLifetimeLimitSeconds.
	defaultTransactionLife = time.Minute
)

// Options changes how Open connects. The zero value is good.
type Options struct {
	// Timeout bounds each call whose context has no earlier deadline. Default: 10 s. Where there is no primary a
	// call fails earlier, within 5 s.
	Timeout time.Duration
	// ConnectTimeout bounds Open's wait for a primary. Default: 7 s. The reason of a failure is looked
	// for afterwards, for at most 2 s.
	ConnectTimeout time.Duration
	// Comments is how comment threads are stored: one of the constants Comments…. "" is what the database has, and
	// CommentsDocuments where it is empty. Open refuses any but the layout that the database has, or the two that it is moved between.
	Comments string
	// Graph is how the follower graph is stored: [GraphReverse] or [GraphTwo]. "" is what the database has, and
	// GraphReverse where it is empty. Open refuses any but the layout that the database has, or the two that it is moved between.
	Graph string
	// Monitor is told of every command that is sent. Optional.
	Monitor *event.CommandMonitor
	// Feeds is how feeds are stored: one of the constants Feeds…. "" is what the database has, and
	// FeedsRead where it is empty. Open refuses any but the layout that the database has, or the two that it is moved between.
	Feeds string
	// MergeAbove is the number of followers above which an author's posts are not pushed to followers' lists but
	// merged in when they read, for good. It may differ between servers. Default: 10,000.
	MergeAbove int
	// Heartbeat is how often the store says that it lives, and looks for changed settings. Default: 1 s.
	Heartbeat time.Duration
	// Lease is how long the store works without a heartbeat; then calls wait for the next one, and answer
	// ErrUnavailable if it does not come. Others end the transactions of a store that has been silent for half
	// of it. Default: 8 s.
	Lease time.Duration
	// TransactionLife is the database's transactionLifetimeLimitSeconds. A migration waits for one and a half
	// times as long, after the lease, where it cannot end the transactions of a silent store, and gives its own
	// transactions five sixths of it. Default: 60 s.
	TransactionLife time.Duration
	// Logger gets what operators should know of the work in the background, of migrations, of silent stores and of the
	// database's state. Default: nothing is logged.
	Logger *slog.Logger
	// Outdated is told, once, that the operator has finished the upgrade to a newer Plaza. The store answers ErrUnavailable
	// from then on: close it. Optional.
	Outdated func(error)
	// Unfinished is called by Open when the upgrade to this version of Plaza is not finished: the database is kept so that the previous version can
	// use it. Optional.
	Unfinished func()
	// MustExist lets Open refuse a database that no server has opened yet, and leave it as it is.
	MustExist bool

	edition *cluster.Edition // of tests
}

// Store is a storage.Store on MongoDB.
type Store struct {
	client  *mongo.Client
	timeout time.Duration
	address connect.Address
	db      *mdb.DB
	feeds   *feeds.Feeds
	graph   movingGraph
	jobs    *jobs.Queue
	workers *jobs.Workers
	threads *threads.Threads
	erasing eraseTimes

	newPosts    *mdb.WriteQueue[string, *newPost] // of one key: all posts are in one sequence
	newComments *mdb.WriteQueue[social.PostID, *newComment]
	member      *cluster.Member[inUse]
	ads         *adstore.Store

	threadLayouts   map[string]threads.Layout
	graphLayouts    map[string]followerGraph
	transactionLife time.Duration

	users      *mongo.Collection
	profiles   *mongo.Collection
	properties *mongo.Collection
	handles    *mongo.Collection
	sessions   *mongo.Collection
	circles    *mongo.Collection
	edges      *mongo.Collection
	posts      *mongo.Collection
	versions   *mongo.Collection
	reactions  *mongo.Collection
	votes      *mongo.Collection

	threadMutes *mongo.Collection

	events   *mongo.Collection
	settings *mongo.Collection

	sequences *mongo.Collection
}

var _ storage.Store = (*Store)(nil)

// Open connects to the replica set (or mongos) that the URI names, makes what indexes are missing, and returns the
// store. The database is that in the URI's path, "plaza" where it has none. Its errors, within 10 s, are for people: an
// unknown layout, a malformed URI, a server that does not answer (ErrUnavailable), a standalone server, a server that is
// too old, another layout than the database has.
func Open(ctx context.Context, uri string, o Options) (*Store, error) {
	o.Timeout = orDefault(o.Timeout, defaultTimeout)
	o.ConnectTimeout = orDefault(o.ConnectTimeout, defaultConnectTimeout)
	address, err := connect.Parse(uri)
	if err := errors.Join(err, o.CheckLayouts()); err != nil {
		return nil, err
	}
	self := id.New().String()
	clientOptions := clientOptions(uri, self, o)
	address.TLS = clientOptions.TLSConfig
	client, err := mongo.Connect(clientOptions)
	if err != nil {
		return nil, fmt.Errorf("the MongoDB URI can't be used: %w", err)
	}
	server, err := connect.Check(ctx, client, address, o.ConnectTimeout)
	if err != nil {
		return nil, errors.Join(err, connect.Disconnect(client))
	}
	s := newStore(client, address, server.IsRouter(), self, o)
	if err := s.prepare(ctx, o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// prepare finds out how the database keeps things, and makes it ready for that.
func (s *Store) prepare(ctx context.Context, o Options) error {
	if o.MustExist {
		if err := s.mustExist(ctx); err != nil {
			return err
		}
	}
	if err := s.member.ClaimVersions(ctx, s.users); err != nil {
		return err
	}
	if err := s.settle(ctx, commentsSetting(), o.Comments); err != nil {
		return err
	}
	if err := s.settle(ctx, feedsSetting(), o.Feeds); err != nil {
		return err
	}
	if err := s.settle(ctx, graphSetting(), o.Graph); err != nil {
		return err
	}
	if err := s.renameThreads(ctx); err != nil {
		return err
	}
	if err := s.member.Join(ctx); err != nil {
		return err
	}
	if err := s.createIndexes(ctx); err != nil {
		return err
	}
	if err := s.startSequence(ctx); err != nil {
		return err
	}
	if o.Unfinished != nil && !s.written().Reach(s.member.Edition.Newest) {
		o.Unfinished()
	}
	return nil
}

// mustExist refuses a database that has neither settings nor, as one that is older than those, users.
func (s *Store) mustExist(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	for _, collection := range []*mongo.Collection{s.settings, s.users} {
		has, err := mdb.HasDocuments(ctx, collection)
		if has || err != nil {
			return mdb.Translate(ctx, "settings", err)
		}
	}
	return &NoDatabaseError{Database: s.settings.Database().Name()}
}

func orDefault(d, fallback time.Duration) time.Duration {
	if d <= 0 {
		return fallback
	}
	return d
}

// clientOptions are the URI's, except for what the contract depends on.
func clientOptions(uri, self string, o Options) *options.ClientOptions {
	journaled := true
	client := options.Client().ApplyURI(uri).
		SetAppName(cluster.AppName(self)).
		SetRegistry(mdb.Registry).
		SetDialer(&connect.Dialer{}).
		SetReadPreference(readpref.Primary()).
		SetReadConcern(&readconcern.ReadConcern{}).
		SetWriteConcern(&writeconcern.WriteConcern{W: writeconcern.WCMajority, Journal: &journaled}).
		SetRetryReads(true).
		SetRetryWrites(true).
		SetServerSelectionTimeout(min(o.Timeout, cluster.ElectionTime))
	client.Timeout = nil // each call sets its own deadline; event streams have none
	if o.Monitor != nil {
		client.SetMonitor(o.Monitor)
	}
	return client
}

func newStore(client *mongo.Client, address connect.Address, routed bool, self string, o Options) *Store {
	db := client.Database(address.Database)
	s := &Store{
		client: client, address: address, timeout: o.Timeout, transactionLife: orDefault(o.TransactionLife, defaultTransactionLife),
		users: db.Collection("users"), profiles: db.Collection("profiles"), properties: db.Collection("properties"),
		handles: db.Collection("handles"), sessions: db.Collection("sessions"),
		circles: db.Collection("circles"), edges: db.Collection("edges"),
		posts: db.Collection("posts"), versions: db.Collection("postVersions"),
		reactions: db.Collection("reactions"), votes: db.Collection("votes"),
		threadMutes: db.Collection("threadMutes"),
		events:      db.Collection("events"), settings: db.Collection("settings"),
		jobs: jobs.NewQueue(db.Collection("jobs"), jobSweep), sequences: db.Collection("sequences"),
		erasing: defaultEraseTimes,

		threadLayouts: map[string]threads.Layout{}, graphLayouts: map[string]followerGraph{},
	}
	s.newPosts, s.newComments = mdb.NewWriteQueue(s.insertPosts), mdb.NewWriteQueue(s.insertComments)
	s.member = s.newMember(self, routed, o)
	s.db = s.member.DB
	s.ads = adstore.New(db, s.db, s.writes)
	s.workers = jobs.NewWorkers(s.jobs, s.db, s.member.Logger, s.doJob)
	for name, layout := range commentLayouts {
		s.threadLayouts[name] = layout(db)
	}
	s.feeds = feeds.New(feeds.Config{
		Database: db, DB: s.db, Posts: postReader{s.posts, s.writes}, Follows: followReader{s}, Jobs: s.jobs, MergeAbove: o.MergeAbove,
		InUse: func(ctx context.Context) *feeds.InUse { return &s.inUse(ctx).feeds },
	}, feedLayouts)
	s.jobs.Kinds = s.jobKinds()
	for name, layout := range graphLayouts {
		s.graphLayouts[name] = layout(s.edges)
	}
	s.threads = threads.New(s.posts, func(ctx context.Context) *threads.InUse { return &s.inUse(ctx).threads })
	s.graph = movingGraph{s}
	return s
}

// cluster.New makes the store one of the servers of its database.
func (s *Store) newMember(self string, routed bool, o Options) *cluster.Member[inUse] {
	c := cluster.Config[inUse]{
		Client: s.client, Database: s.address.Database, Self: self, Routed: routed, Jobs: s.jobs, Edition: thisEdition(),
		Settings: []string{commentsSetting().Name, feedsSetting().Name, graphSetting().Name}, Use: s.use,
		Timeout: o.Timeout, Heartbeat: orDefault(o.Heartbeat, defaultHeartbeat), Lease: orDefault(o.Lease, defaultLease),
		TransactionLife: s.transactionLife, Logger: o.Logger, Outdated: o.Outdated,
	}
	if o.edition != nil {
		c.Edition = *o.edition
	}
	return cluster.New(c)
}

// Description implements storage.Store: the layouts are those that are read now.
func (s *Store) Description() storage.Description {
	return storage.Description{
		Engine: "MongoDB", Database: strings.Join(s.address.Hosts, ",") + "/" + s.address.Database, Layouts: maps.Clone(s.member.Now().Layouts),
	}
}

// Ping says whether the primary answers, and had room for the last heartbeat.
func (s *Store) Ping(ctx context.Context) error {
	err := s.db.Read(ctx, "ping", func(ctx context.Context) error {
		return s.client.Ping(ctx, readpref.Primary())
	})
	if err == nil && s.member.IsFull() {
		return social.ErrNoRoom
	}
	return err
}

// Close waits up to 5 s for calls under way, and closes all connections.
func (s *Store) Close() error {
	s.member.Leave()
	return connect.Disconnect(s.client)
}
