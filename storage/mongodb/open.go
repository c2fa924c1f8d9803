package mongodb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"plaza/batch"
	"plaza/id"
	"plaza/social"
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

// Open connects to the replica set (or mongos) that the URI names, creates missing indexes, and
// returns the store. The URI's path names the database; the default is "plaza". Open fails within
// 10 s (unless the URI sets serverSelectionTimeoutMS), with an error that is written for the
// operator: an unknown layout, a malformed URI, a server that does not answer (ErrUnavailable), a
// standalone server, a server that is too old, or another layout than the database has.
func Open(ctx context.Context, uri string, o Options) (*Store, error) {
	o.Timeout = orDefault(o.Timeout, defaultTimeout)
	address, err := connect.Parse(uri)
	if err := errors.Join(err, o.CheckLayouts()); err != nil {
		return nil, err
	}
	o.ConnectTimeout = orDefault(o.ConnectTimeout, orDefault(address.Wait, defaultConnectTimeout))
	self := id.New().String()
	primary := mdb.NewPrimary(min(o.Timeout, cluster.ElectionTime))
	clientOptions := clientOptions(uri, self, o).SetServerMonitor(primary.Monitor())
	address.TLS = clientOptions.TLSConfig
	client, err := mongo.Connect(clientOptions)
	if err != nil {
		return nil, fmt.Errorf("the MongoDB URI can't be used: %w", err)
	}
	server, err := connect.Check(ctx, client, address, o.ConnectTimeout)
	if err != nil {
		return nil, errors.Join(err, connect.Disconnect(client))
	}
	s := newStore(deployment{client: client, address: address, primary: primary, routed: server.IsRouter()}, self, o)
	if err := s.prepare(ctx, o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// prepare reads or records the layouts of the database, and creates what they need.
func (s *Store) prepare(ctx context.Context, o Options) error {
	if o.MustExist {
		if err := s.mustExist(ctx); err != nil {
			return err
		}
	}
	if err := s.member.ClaimVersions(ctx, s.users.Collection()); err != nil {
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
	reached, err := s.documents.Reached(ctx)
	if err != nil {
		return err
	}
	if err := s.graph.FindJoined(ctx, reached); err != nil {
		return err
	}
	if o.Unfinished != nil && !s.written().Reach(s.member.Edition.Newest) {
		o.Unfinished()
	}
	return nil
}

// mustExist returns an error for a database that has neither settings nor users. One that was made
// before there were settings has users.
func (s *Store) mustExist(ctx context.Context) error {
	ctx, cancel := s.db.Limit(ctx)
	defer cancel()
	for _, collection := range []*mongo.Collection{s.settings, s.users.Collection()} {
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

// clientOptions are the URI's options, except those that the contract depends on.
func clientOptions(uri, self string, o Options) *options.ClientOptions {
	journaled := !o.Unjournaled
	client := options.Client().ApplyURI(uri).
		SetAppName(cluster.AppName(self)).
		SetRegistry(mdb.Registry).
		SetDialer(&connect.Dialer{}).
		SetReadPreference(readpref.Primary()).
		SetReadConcern(&readconcern.ReadConcern{}).
		SetWriteConcern(&writeconcern.WriteConcern{W: writeconcern.WCMajority, Journal: &journaled}).
		SetRetryReads(true).
		SetRetryWrites(true).
		SetServerSelectionTimeout(o.Timeout) // also of the wait for a connection; mdb.Primary ends calls without a primary sooner
	client.Timeout = nil // each call sets its own deadline; event streams have none
	if o.Monitor != nil {
		client.SetMonitor(o.Monitor)
	}
	return client
}

// deployment is what a store is connected to.
type deployment struct {
	client  *mongo.Client
	address connect.Address
	primary *mdb.Primary
	routed  bool // by a mongos
}

// shareWrites lets concurrent writes share transactions.
func (s *Store) shareWrites() {
	s.newPosts = mdb.NewWriteQueue(s.insertPosts)
	s.newComments = mdb.NewSharedWrites(s.db, "insert comment", s.insertComments)
	s.newReactions = s.shareMarks("put reaction", s.reactionKind())
	s.newVotes = s.shareMarks("put vote", s.voteKind())
}

func (s *Store) shareMarks(op string, kind markKind) *mdb.SharedWrites[*newMark] {
	return mdb.NewSharedWrites(s.db, op, func(ctx context.Context, marks []*newMark) error { return s.putMarks(ctx, kind, marks) })
}

func newStore(d deployment, self string, o Options) *Store {
	db := d.client.Database(d.address.Database)
	s := &Store{
		address: d.address, logger: cmp.Or(o.Logger, slog.New(slog.DiscardHandler)), transactionLife: orDefault(o.TransactionLife, defaultTransactionLife),
		posts: db.Collection("posts"), versions: db.Collection("postVersions"),
		reactions: db.Collection("reactions"), votes: db.Collection("votes"),
		threadMutes: db.Collection("threadMutes"),
		openPolls:   db.Collection("openPolls"),
		settings:    db.Collection("settings"),
		sequences:   db.Collection("sequences"),
		erasing:     defaultEraseTimes, walk: cmp.Or(o.walk, defaultWalk), clock: cmp.Or(o.clock, cluster.NewClock(time.Now)),

		threadLayouts: map[string]threads.Layout{},
	}
	s.jobs = jobs.NewQueue(db.Collection("jobs"), jobSweep, s.clock.Now)
	s.member = s.newMember(d, self, o)
	s.db = s.member.DB
	s.shareWrites()
	s.indexes = indexes.NewBuilder(s.member, s.logger, eventlog.Events)
	s.log = eventlog.New(eventlog.Config{Database: db, DB: s.db, Writes: s.writes, Indexes: s.indexes, Logger: s.logger})
	s.eventCalls, s.changeCalls = s.log, s.log
	s.ads = adstore.New(db, s.db, s.writes)
	s.users = users.New(users.Config{
		Database: db, DB: s.db, Log: s.log, Writes: s.writes, Routed: func() bool { return s.member.Routed },
		AddCircles: func(ctx context.Context, circles []*social.Circle) error { return s.graph.AddCircles(ctx, circles) },
		Deletion:   deletions{s},
		MarkAway: func(ctx context.Context, user social.UserID, isAway bool) error {
			return s.graph.MarkAway(ctx, user, isAway)
		},
	})
	s.Accounts = s.users
	s.graph = graph.New(graph.Config{
		Database: db, DB: s.db, Log: s.log, Writes: s.writes, Users: s.users,
		FollowsChanged: func(ctx context.Context, owners ...social.UserID) error {
			return s.feeds.FollowsChanged(ctx, owners...)
		},
		InUse: func(ctx context.Context) *graph.InUse { return &s.inUse(ctx).graph },
	}, graphLayouts)
	s.Graph, s.circleCalls = s.graph, s.graph
	s.profiles = profiles.New(profiles.Config{Database: db, DB: s.db, Log: s.log, Jobs: s.jobs})
	s.profileCalls = s.profiles
	s.notifications = notifications.New(db, s.db, s.writes, s.log.Append)
	s.notificationCalls = s.notifications
	s.moderation = moderation.New(db, s.db, s.writes, s.carryOut)
	s.caseCalls, s.decisionCalls = s.moderation, s.moderation
	s.documents = evolution.New(evolution.Config{
		Database: db, DB: s.db, Settings: s.settings, Self: self, Server: s.member, Upgrades: upgrades, Upgraded: s.upgraded,
		Every: 2 * s.member.Heartbeat, Logger: s.logger,
	})
	s.keys = idempotency.New(db, s.db)
	s.IdempotencyKeys = s.keys
	s.db.BeginWith(s.keys.TakeEffect)
	s.workers = jobs.NewWorkers(s.jobs, s.db, s.logger, s.doJob)
	for name, layout := range commentLayouts {
		s.threadLayouts[name] = layout(db)
	}
	s.feeds = feeds.New(feeds.Config{
		Database: db, DB: s.db, Posts: postReader{s.posts, s.sequences}, Follows: s.graph.Follows(), Changes: s.log, Jobs: s.jobs, MergeAbove: o.MergeAbove,
		InUse: func(ctx context.Context) *feeds.InUse { return &s.inUse(ctx).feeds },
	}, feedLayouts)
	s.jobs.Know(s.jobKinds()...)
	s.threadPages = batch.NewShared(s.readThread)
	s.singlePosts = batch.NewShared(s.readPost)
	s.threads = threads.New(s.posts, func(ctx context.Context) *threads.InUse { return &s.inUse(ctx).threads }, s.writes, s.clock.Now)
	return s
}

// newMember returns the store's membership in the servers of its database.
func (s *Store) newMember(d deployment, self string, o Options) *cluster.Member[inUse] {
	c := cluster.Config[inUse]{
		Client: d.client, Primary: d.primary, Database: s.address.Database, Self: self, Routed: d.routed, Clock: s.clock, Jobs: s.jobs, Edition: thisEdition(),
		Settings: []string{commentsSetting().Name, feedsSetting().Name, graphSetting().Name}, Use: s.use,
		Timeout: o.Timeout, Heartbeat: orDefault(o.Heartbeat, defaultHeartbeat), Lease: orDefault(o.Lease, defaultLease),
		TransactionLife: s.transactionLife, Logger: s.logger, Outdated: o.Outdated,
	}
	if o.edition != nil {
		c.Edition = *o.edition
	}
	return cluster.New(c)
}

const (
	defaultTimeout        = 10 * time.Second
	defaultConnectTimeout = 7 * time.Second
	// defaultHeartbeat is the interval at which a server sends a heartbeat and looks for changed
	// settings.
	defaultHeartbeat = time.Second
	// defaultLease is how long a server may act without a heartbeat. After a crash, others wait
	// that long if they have to be sure that the server does nothing more.
	defaultLease = 8 * time.Second
	// defaultTransactionLife is the database's transactionLifetimeLimitSeconds.
	defaultTransactionLife = time.Minute
)

// renameThreads moves buckets from the collection that an older version used to that of the
// database's layout.
func (s *Store) renameThreads(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, indexTimeout)
	defer cancel()
	db := s.posts.Database()
	if has, err := threads.HasShared(ctx, db); err != nil || !has {
		return err
	}
	settings, err := s.member.ReadSettings(ctx)
	if err != nil {
		return mdb.Translate(ctx, "rename threads", err)
	}
	return threads.TakeShared(ctx, db, s.threadLayouts[settings[commentsSetting().Name].Value])
}

// use returns the layouts that the settings name. It returns an error for layouts that this Plaza
// does not know.
func (s *Store) use(settings map[string]*cluster.Setting) (inUse, error) {
	comments, fed, follows := settings[commentsSetting().Name], settings[feedsSetting().Name], settings[graphSetting().Name]
	err := errors.Join(checkKnown(commentsSetting(), comments), checkKnown(feedsSetting(), fed), checkKnown(graphSetting(), follows))
	if err != nil {
		return inUse{}, err
	}
	return inUse{threads.NewInUse(s.threadLayouts, comments), feeds.NewInUse(s.feeds.Layouts(), fed), graph.NewInUse(s.graph.Layouts(), follows)}, nil
}

// checkKnown returns an error if a setting names an unknown layout.
func checkKnown(g cluster.Layouts, d *cluster.Setting) error {
	for _, layout := range d.Layouts() {
		if !slices.Contains(g.Known, layout) {
			return fmt.Errorf("this database keeps its %s in the layout %q, which this Plaza does not know: run a newer Plaza", g.Name, layout)
		}
	}
	return nil
}

// settle records a layout if the database has none, and returns an error if this server is set to
// another one. See Layouts.
func (s *Store) settle(ctx context.Context, g cluster.Layouts, wanted string) error {
	ctx, cancel := s.db.Limit(ctx)
	defer cancel()
	d, err := s.member.Recorded(ctx, g, wanted)
	if err != nil {
		return fmt.Errorf("settings: %w", mdb.Translate(ctx, "settings", err))
	}
	if err := checkKnown(g, d); err != nil {
		return err
	}
	if wanted == "" || slices.Contains(d.Layouts(), wanted) {
		return nil
	}
	return &LayoutError{Subject: Subject(g.Name), Has: d.Value, Wanted: wanted}
}
