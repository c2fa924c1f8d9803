package mongodb

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/ads"
	"plaza/id"
	"plaza/internal/testtime"
	"plaza/social"
	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/wait"
	"plaza/storage/mongodb/mongotest"
)

// openOn opens a store on a server or replica set that only this test uses.
func openOn(t *testing.T, uri string, o Options) *Store {
	t.Helper()
	s := must(Open(t.Context(), uri, patientInside(o)))(t)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// eventually repeats a call until it succeeds, like a client that gets UNAVAILABLE for a moment.
func eventually(t *testing.T, what string, try func() error) {
	t.Helper()
	var err error
	done := testtime.Becomes(func() bool {
		err = try()
		return err == nil || !errors.Is(err, social.ErrUnavailable)
	})
	if !done || err != nil {
		t.Fatalf("timed out waiting for %s: %v", what, err)
	}
}

// square is a small set of data that is written concurrently: a thread, a follow, a post and a
// campaign.
type square struct {
	*Store

	t              *testing.T
	author, reader social.UserID
	post           social.PostID
	campaign       ads.Campaign
}

func newSquare(t *testing.T, s *Store) *square {
	t.Helper()
	author, followers := fans(t, s, 1)
	q := &square{Store: s, t: t, author: author, reader: followers[0]}
	p := newStatus(author)
	ok(t, s.InsertPost(t.Context(), p, anEvent(social.EventPostCreated)))
	q.post = p.ID
	acme := ads.Advertiser{ID: ads.AdvertiserID{ID: id.New()}, Name: "Acme"}
	q.campaign = ads.Campaign{ID: ads.CampaignID{ID: id.New()}, Advertiser: acme.ID, Name: "Boats", State: ads.Active}
	must(s.Ads().Save(t.Context(), ads.Batch{Advertisers: []ads.Advertiser{acme}, Campaigns: []ads.Campaign{q.campaign}}))(t)
	return q
}

// hold leaves a transaction open that has changed all of it.
func (q *square) hold() {
	q.t.Helper()
	session := must(q.client().StartSession())(q.t)
	ok(q.t, session.StartTransaction())
	ctx := mongo.NewSessionContext(q.t.Context(), session)
	for c, key := range map[*mongo.Collection]any{
		q.posts: q.post, collectionOf(q.Store, "users"): q.author, newsListsOf(q.Store): q.author, collectionOf(q.Store, "users").Database().Collection("adCampaigns"): q.campaign.ID,
	} {
		must(c.UpdateOne(ctx, mdb.Doc("_id", key), mdb.Doc("$set", mdb.Doc("held", true))))(q.t)
	}
	must(collectionOf(q.Store, "users").UpdateOne(ctx, mdb.Doc("_id", q.reader), mdb.Doc("$set", mdb.Doc("held", true))))(q.t)
}

func (q *square) comment(s *Store) error {
	return s.InsertComment(q.t.Context(), &social.Comment{Post: q.post, Author: q.reader, Text: "yes"}, anEvent(social.EventCommentAdded))
}

// die stops everything that a killed server would stop, and leaves its connections and transactions
// open.
func (s *Store) die() {
	s.member.Stop()
}

// TestDeadServerDoesNotBlockOthers lets a server die in the middle of a transaction, on a replica
// set that would keep it open for an hour. The other server writes what the dead one has changed,
// and moves the feeds.
func TestDeadServerDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	set := mongotest.OwnSet(t, mongotest.WithParameter("transactionLifetimeLimitSeconds=3600"))
	o := Options{Feeds: FeedsHybrid, Heartbeat: 150 * time.Millisecond, Lease: testtime.Scale(6 * time.Second), Timeout: testtime.Scale(10 * time.Second)}
	dead, alive := openOn(t, set.URI(), o), openOn(t, set.URI(), o)
	q := newSquare(t, dead)
	q.hold()
	dead.die()
	ctx := t.Context()
	eventually(t, "a comment", func() error { return q.comment(alive) })
	eventually(t, "an unfollow", func() error {
		_, err := alive.Unfollow(ctx, q.reader, q.author, anEvent(social.EventUnfollowed))
		return err
	})
	eventually(t, "a campaign", func() error {
		_, err := alive.Ads().Save(ctx, ads.Batch{Campaigns: []ads.Campaign{q.campaign}})
		return err
	})
	eventually(t, "a post", func() error { return alive.InsertPost(ctx, newStatus(q.author), anEvent(social.EventPostCreated)) })
	eventually(t, "a migration", func() error {
		return alive.Migrate(ctx, Migration{Subject: MigrateFeeds, To: FeedsRead, Goal: GoalFinish})
	})
	if err := q.comment(dead); !errors.Is(err, social.ErrUnavailable) {
		t.Errorf("the dead server stored a comment: %v", err)
	}
}

// TestLiveServerLosesNothing lets eight writers comment through one server, while another server
// repeatedly takes it for dead and ends its transactions. No comment fails. After each hit the
// other server waits for a comment, so that a slow machine makes progress too.
func TestLiveServerLosesNothing(t *testing.T) {
	t.Parallel()
	const writers, each = 8, 10
	uri := mongotest.OwnServer(t).URI()
	living, other := openOn(t, uri, Options{}), openOn(t, uri, Options{})
	q := newSquare(t, living)
	all := must(other.member.Servers(t.Context()))(t)
	d := all[slices.IndexFunc(all, func(d cluster.Server) bool { return d.ID == living.member.ID })]
	ctx, stop := context.WithCancel(t.Context())
	var ending, writing sync.WaitGroup
	ended, commented := 0, make(chan struct{}, 1)
	ending.Go(func() {
		for ctx.Err() == nil {
			n, err := other.member.EndTransactions(ctx, &d)
			if ended += n; err != nil && ctx.Err() == nil {
				t.Error(err)
			}
			if n > 0 {
				wait.For(ctx, time.Hour, commented)
			}
			wait.For(ctx, time.Millisecond, nil)
		}
	})
	for range writers {
		writing.Go(func() {
			for range each {
				if err := q.comment(living); err != nil {
					t.Error(err)
				}
				select {
				case commented <- struct{}{}:
				default:
				}
			}
		})
	}
	writing.Wait()
	stop()
	ending.Wait()
	posts := must(living.Posts(t.Context(), []social.PostID{q.post}))(t)
	if n := posts[q.post].CommentCount; n != writers*each || ended == 0 {
		t.Errorf("%d comments, want %d; %d transactions were ended", n, writers*each, ended)
	}
}

// TestInterruptedTransactionsAreRetried interrupts each command of a write once, as MongoDB does
// when a session ends.
func TestInterruptedTransactionsAreRetried(t *testing.T) {
	t.Parallel()
	server := mongotest.OwnServer(t, mongotest.WithFailPoints())
	s := openOn(t, server.URI(), Options{})
	q := newSquare(t, s)
	for n, command := range []string{"find", "update", "insert", "findAndModify", "commitTransaction"} {
		mongotest.FailCommand(t, s.client(), mdb.Doc("times", 1),
			mdb.Doc("failCommands", bson.A{command}, "errorCode", mdb.Interrupted, "appName", cluster.AppName(s.member.ID)))
		if err := q.comment(s); err != nil {
			t.Errorf("%s %d: %v", command, n, err)
		}
		mongotest.FailCommand(t, s.client(), "off", mdb.Doc())
	}
}

// TestWithoutAPrimary checks that calls end long before their own deadline.
func TestWithoutAPrimary(t *testing.T) {
	t.Parallel()
	set := mongotest.OwnSet(t)
	s := openOn(t, set.URI(), Options{Timeout: time.Hour})
	q := newSquare(t, s)
	for _, member := range set.Members()[:2] { // the primary, and with the last one the majority
		ok(t, member.Stop())
	}
	for name, call := range map[string]func() error{
		"Ping":    func() error { return s.Ping(t.Context()) },
		"comment": func() error { return q.comment(s) },
	} {
		if err := call(); !errors.Is(err, social.ErrUnavailable) {
			t.Errorf("%s: %v, want ErrUnavailable", name, err)
		}
	}
}
