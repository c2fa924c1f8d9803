package mongodb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/connstring"

	"plaza/social"
)

const (
	minWireVersion = 17 // MongoDB 6.0
	probeTimeout   = 2 * time.Second
	probedHosts    = 3
)

// address is what a URI says of where the data lies.
type address struct {
	hosts      []string
	database   string
	replicaSet string
}

func parseURI(uri string) (address, error) {
	parsed, err := connstring.ParseAndValidate(uri)
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

// checkServer waits for a primary, and refuses what has neither transactions nor change streams.
func checkServer(ctx context.Context, client *mongo.Client, a address, timeout time.Duration) (hello, error) {
	connecting, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	h, err := askHello(connecting, client)
	switch {
	case err == nil:
		return h, h.check()
	case ctx.Err() != nil:
		return h, fmt.Errorf("connect to MongoDB at %v: %w", a.hosts, ctx.Err())
	case strings.Contains(err.Error(), "auth error"): // the driver has no type for it
		return h, fmt.Errorf("MongoDB at %v refuses the user name or the password that the URI gives, "+
			"or its authSource", a.hosts)
	}
	return h, diagnose(ctx, a, err)
}

// isRouter says whether it is a mongos, in front of a sharded cluster.
func (h hello) isRouter() bool { return h.Message == "isdbgrid" }

func (h hello) check() error {
	switch {
	case h.Uninitiated:
		return errors.New("the MongoDB server was started with --replSet, but the replica set is not initiated: " +
			"run rs.initiate() in mongosh")
	case h.SetName == "" && !h.isRouter():
		return errors.New("the MongoDB server is standalone, and Plaza needs a replica set " +
			"(for transactions and change streams): start mongod with --replSet rs0, and run rs.initiate() in mongosh once; " +
			"one server is enough")
	case h.MaxWireVersion < minWireVersion:
		return errors.New("the MongoDB server is too old: Plaza needs 6.0 or newer")
	}
	return nil
}

// diagnose asks the named servers one by one what they are, to say why there is no primary.
func diagnose(ctx context.Context, a address, cause error) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	for _, host := range a.hosts[:min(len(a.hosts), probedHosts)] {
		h, err := probe(ctx, host)
		if err != nil {
			continue
		}
		if err := h.check(); err != nil {
			return err
		}
		if a.replicaSet != "" && h.SetName != a.replicaSet {
			return fmt.Errorf("the replica set of the MongoDB server at %s is named %q, but the URI says replicaSet=%s",
				host, h.SetName, a.replicaSet)
		}
	}
	return fmt.Errorf("MongoDB at %v: %w: is the server running, and does it have a primary? (%v)",
		a.hosts, social.ErrUnavailable, cause) //nolint:errorlint // driver types stay in here
}

// probe asks one server, without credentials and without TLS: hello needs no rights, and a server that insists
// on TLS is simply not diagnosed.
func probe(ctx context.Context, host string) (hello, error) {
	if _, _, err := net.SplitHostPort(host); err != nil {
		host = net.JoinHostPort(host, "27017")
	}
	client, err := mongo.Connect(options.Client().SetHosts([]string{host}).SetDirect(true).
		SetServerSelectionTimeout(probeTimeout / 2))
	if err != nil {
		return hello{}, err
	}
	defer func() { _ = disconnect(client) }()
	var h hello
	err = client.Database("admin").RunCommand(ctx, bson.D{{Key: "hello", Value: 1}}).Decode(&h)
	return h, err
}
