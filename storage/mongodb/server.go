package mongodb

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/connstring"

	"plaza/social"
)

const (
	minWireVersion = 17 // MongoDB 6.0
	// diagnoseAfter is how long a primary may take to answer before the servers are asked what is wrong.
	diagnoseAfter = 500 * time.Millisecond
)

// address is what a URI says of where the data lies.
type address struct {
	hosts      []string
	database   string
	replicaSet string
	tls        *tls.Config // nil: without TLS
}

func parseURI(uri string) (address, error) {
	parsed, err := connstring.ParseAndValidate(uri)
	if lookup, failed := errors.AsType[*net.DNSError](err); failed {
		return address{}, fmt.Errorf("MongoDB is %w: its hosts cannot be looked up: %w", social.ErrUnavailable, lookup)
	}
	if err != nil {
		return address{}, fmt.Errorf("the MongoDB URI is malformed: %w "+
			"(it should look like mongodb://127.0.0.1:27017/plaza?replicaSet=rs0)", err)
	}
	a := address{hosts: parsed.Hosts, database: parsed.Database, replicaSet: parsed.ReplicaSet}
	if a.database == "" {
		a.database = defaultDatabase
	}
	if len(a.database) > 63 || strings.ContainsAny(a.database, "/\\. \"$\x00") {
		return address{}, fmt.Errorf("the MongoDB URI names the database %q: "+
			"a name has at most 63 bytes, and none of the characters / \\ . \" $ and space", a.database)
	}
	return a, nil
}

// hello is what a server says of itself.
type hello struct {
	SetName        string `bson:"setName"`
	Message        string `bson:"msg"` // "isdbgrid": a mongos
	Uninitiated    bool   `bson:"isreplicaset"`
	MaxWireVersion int    `bson:"maxWireVersion"`
}

func askHello(ctx context.Context, client *mongo.Client) (hello, error) {
	var h hello
	err := client.Database("admin").RunCommand(ctx, doc("hello", 1)).Decode(&h)
	return h, err
}

// checkServer waits for a primary, and refuses what has neither transactions nor change streams. It does not wait where it
// finds out that waiting is in vain.
func checkServer(ctx context.Context, client *mongo.Client, a address, timeout time.Duration) (h hello, err error) {
	connecting, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		h, err = awaitHello(connecting, client)
	}()
	select {
	case <-asked:
	case <-time.After(diagnoseAfter):
		d := a.diagnose(connecting)
		if d.isFinal() {
			cancel()
		}
		<-asked
		if err != nil && d.isFinal() {
			return h, d.fault
		}
	}
	switch {
	case err == nil:
		return h, h.check()
	case ctx.Err() != nil:
		return h, fmt.Errorf("connect to MongoDB at %v: %w", a.hosts, ctx.Err())
	case strings.Contains(err.Error(), "auth error"): // the driver has no type for it
		return h, fmt.Errorf("MongoDB at %v refuses the user name or the password that the URI gives, "+
			"or its authSource", a.hosts)
	}
	return h, a.explain(ctx, err)
}

// awaitHello asks until a primary answers or ctx ends: the driver gives up sooner, after electionTime.
func awaitHello(ctx context.Context, client *mongo.Client) (hello, error) {
	for {
		h, err := askHello(ctx, client)
		if ctx.Err() != nil || !hasNoPrimary(err) {
			return h, err
		}
	}
}

// explain says why no primary has answered.
func (a address) explain(ctx context.Context, cause error) error {
	if d := a.diagnose(ctx); d.fault != nil {
		return d.fault
	}
	return fmt.Errorf("MongoDB at %v: %w: is the server running, and does it have a primary? (%v)",
		a.hosts, social.ErrUnavailable, cause) //nolint:errorlint // driver types stay in here
}

// isRouter says whether it is a mongos, in front of a sharded cluster.
func (h hello) isRouter() bool { return h.Message == "isdbgrid" }

func (h hello) check() error {
	switch {
	case h.Uninitiated:
		return fmt.Errorf("the MongoDB server is %w: it was started with --replSet, but the replica set is not initiated: "+
			"run rs.initiate() in mongosh", social.ErrUnavailable) // a member that has just started says so, too
	case h.SetName == "" && !h.isRouter():
		return errors.New("the MongoDB server is standalone, and Plaza needs a replica set " +
			"(for transactions and change streams): start mongod with --replSet rs0, and run rs.initiate() in mongosh once; " +
			"one server is enough")
	case h.MaxWireVersion < minWireVersion:
		return errors.New("the MongoDB server is too old: Plaza needs 6.0 or newer")
	}
	return nil
}
