package mongotest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/internal/testtime"
)

// setSize is the number of members of a set: the smallest one that survives the loss of a member.
const setSize = 3

// Set is a replica set of three members that this process started.
type Set struct{ members []*Server }

// OwnSet starts a replica set of three members for this test alone, which may do anything with
// them. The set is stopped when the test ends. The test is skipped, or fails, as with [URI].
func OwnSet(tb testing.TB, opts ...Option) *Set {
	tb.Helper()

	if os.Getenv(EnvURI) == None {
		URI(tb) // says so, and does not return
	}

	ctx, cancel := context.WithTimeout(context.Background(), testtime.Scale(waitLimit))
	defer cancel()

	set, err := StartSet(ctx, opts...)
	if err != nil {
		giveUp(tb, err)
	}

	tb.Cleanup(func() {
		if err := set.Stop(); err != nil {
			tb.Errorf("mongotest: %v", err)
		}
	})

	return set
}

// StartSet is [Start] for a replica set of three members. It returns when there is a primary, which
// the others have agreed on: the first member, while all of them live.
func StartSet(ctx context.Context, opts ...Option) (*Set, error) {
	set := &Set{}
	opts = append(opts, func(c *config) { c.member = true })

	for range setSize {
		member, err := Start(ctx, opts...)
		if err != nil {
			return nil, errors.Join(err, set.Stop())
		}

		set.members = append(set.members, member)
	}

	if err := set.initiate(ctx); err != nil {
		return nil, errors.Join(err, set.Stop())
	}

	return set, nil
}

func (s *Set) initiate(ctx context.Context) error {
	first := s.members[0]

	client, err := mongo.Connect(options.Client().ApplyURI(first.uri).SetServerSelectionTimeout(testtime.Scale(5 * time.Second)))
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer client.Disconnect(context.WithoutCancel(ctx)) //nolint:errcheck // the connection only served to check

	ctx, cancel := context.WithTimeout(ctx, testtime.Patience())
	defer cancel()

	admin := client.Database("admin")
	if err := initiate(ctx, admin, s.addresses()...); err != nil {
		return err
	}

	return first.awaitWritable(ctx, admin)
}

// URI is the set's connection string, without a database.
func (s *Set) URI() string { return setURI(s.addresses()...) }

// Members are the set's servers; the first is the primary while all of them live.
func (s *Set) Members() []*Server { return s.members }

// Stop ends all members.
func (s *Set) Stop() error {
	var errs []error
	for _, member := range s.members {
		errs = append(errs, member.Stop())
	}

	return errors.Join(errs...)
}

func (s *Set) addresses() []string {
	all := make([]string, len(s.members))
	for i, member := range s.members {
		all[i] = member.address
	}

	return all
}

func setURI(addresses ...string) string {
	return "mongodb://" + strings.Join(addresses, ",") + "/?replicaSet=" + replicaSet
}

// initiate makes a replica set of the servers at these addresses. The first one is the primary
// whenever possible.
func initiate(ctx context.Context, admin *mongo.Database, addresses ...string) error {
	members := bson.A{}
	for i, address := range addresses {
		priority := 1
		if i == 0 {
			priority = 2
		}

		members = append(members, bson.D{
			{Key: "_id", Value: i}, {Key: "host", Value: address}, {Key: "priority", Value: priority},
		})
	}

	set := bson.D{
		{Key: "_id", Value: replicaSet},
		{Key: "writeConcernMajorityJournalDefault", Value: false},
		{Key: "members", Value: members},
		{Key: "settings", Value: bson.D{
			{Key: "electionTimeoutMillis", Value: testtime.Scale(time.Duration(len(addresses)) * time.Second).Milliseconds()}, {Key: "heartbeatIntervalMillis", Value: 200},
		}},
	}

	if err := admin.RunCommand(ctx, bson.D{{Key: "replSetInitiate", Value: set}}).Err(); err != nil {
		return fmt.Errorf("replSetInitiate: %w", err)
	}

	return nil
}
