package connect

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/connstring"

	"plaza/social"
)

const (
	minWireVersion    = 17 // MongoDB 6.0
	defaultDatabase   = "plaza"
	disconnectTimeout = 5 * time.Second
	// diagnoseAfter is how long a primary may take to answer before Check starts a diagnosis.
	diagnoseAfter = 500 * time.Millisecond
)

// Address is the part of a URI that says where the database is.
type Address struct {
	Hosts      []string
	Database   string
	replicaSet string
	Wait       time.Duration // how long to wait for a primary (serverSelectionTimeoutMS); 0 if the URI does not say it
	TLS        *tls.Config   // nil: no TLS
}

// hosts names the hosts, for the operator.
func (a Address) hosts() string { return strings.Join(a.Hosts, ", ") }

// Parse reads an address from a URI. Its errors are written for the operator.
func Parse(uri string) (Address, error) {
	parsed, err := connstring.ParseAndValidate(uri)
	if lookup, failed := errors.AsType[*net.DNSError](err); failed {
		return Address{}, fmt.Errorf("MongoDB is %w: its hosts cannot be looked up: %w", social.ErrUnavailable, lookup)
	}
	if err != nil {
		return Address{}, fmt.Errorf("the MongoDB URI is malformed: %w "+
			"(it should look like mongodb://127.0.0.1:27017/plaza?replicaSet=rs0)", err)
	}
	a := Address{Hosts: parsed.Hosts, Database: parsed.Database, replicaSet: parsed.ReplicaSet, Wait: parsed.ServerSelectionTimeout}
	if a.Database == "" {
		a.Database = defaultDatabase
	}
	return a, checkDatabase(a.Database)
}

// checkDatabase refuses a name that no database of Plaza's can have. MongoDB accepts collections in
// its own databases, but no transactions.
func checkDatabase(name string) error {
	switch {
	case len(name) > 63 || strings.ContainsAny(name, "/\\. \"$\x00"):
		return fmt.Errorf("the MongoDB URI names the database %q: "+
			"a name has at most 63 bytes, and none of the characters / \\ . \" $ and space", name)
	case slices.Contains(ofMongoDB, strings.ToLower(name)):
		return fmt.Errorf("the MongoDB URI names the database %[1]q, which is MongoDB's own: name another one for Plaza; "+
			"if the user who signs in was created in %[1]q, add authSource=%[1]s "+
			"(mongodb://user:password@host/plaza?authSource=%[1]s)", name)
	}
	return nil
}

// ofMongoDB are the databases that MongoDB keeps for itself.
var ofMongoDB = []string{"admin", "config", "local"}

// Server is a server's answer to hello.
type Server struct {
	SetName        string `bson:"setName"`
	Message        string `bson:"msg"` // "isdbgrid": a mongos
	Uninitiated    bool   `bson:"isreplicaset"`
	MaxWireVersion int    `bson:"maxWireVersion"`
}

// IsRouter reports whether it is a mongos, in front of a sharded cluster.
func (h Server) IsRouter() bool { return h.Message == "isdbgrid" }

func (h Server) check() error {
	switch {
	case h.Uninitiated:
		return fmt.Errorf("the MongoDB server is %w: it was started with --replSet, but the replica set is not initiated: "+
			"run rs.initiate() in mongosh", social.ErrUnavailable) // a member that has just started says so too
	case h.SetName == "" && !h.IsRouter():
		return errors.New("the MongoDB server is standalone, and Plaza needs a replica set " +
			"(for transactions and change streams): start mongod with --replSet rs0, and run rs.initiate() in mongosh once; " +
			"one server is enough")
	case h.MaxWireVersion < minWireVersion:
		return errors.New("the MongoDB server is too old: Plaza needs 6.0 or newer")
	}
	return nil
}

// Disconnect closes all connections of a client. It waits for at most 5 s.
func Disconnect(client *mongo.Client) error {
	ctx, cancel := context.WithTimeout(context.Background(), disconnectTimeout)
	defer cancel()
	return client.Disconnect(ctx)
}
