package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/storage/mongodb/internal/mdb"
)

// AppName returns the application name of a server's connections, which identifies the owner of a
// transaction. MongoDB logs it too.
func AppName(self string) string { return "plaza " + self }

// errOtherUser means that a server's sessions can't be ended: a MongoDB user may only end its own.
var errOtherUser = errors.New("that server uses another MongoDB user, or runs an older Plaza: run all servers as the same MongoDB user")

// EndTransactions ends the open transactions of a server, and returns how many there were.
func (r *roster) EndTransactions(ctx context.Context, d *Server) (n int, err error) {
	return r.endOperations(ctx, d, inTransaction())
}

func inTransaction() bson.D { return mdb.Doc("transaction", mdb.Doc("$exists", true)) }

// atWork matches everything that can still write: transactions, and commands outside of them.
func atWork() bson.D {
	return mdb.Doc("$or", bson.A{inTransaction(), mdb.Doc("lsid", mdb.Doc("$exists", true), "op", mdb.Doc("$nin", bson.A{"query", "getmore"}))})
}

// endOperations ends the sessions of a server whose operations match, and returns how many there
// were.
func (r *roster) endOperations(ctx context.Context, d *Server, match bson.D) (n int, err error) {
	if d.App != AppName(d.ID) || d.User != r.user {
		return 0, errOtherUser
	}
	err = r.DB.Read(ctx, "end operations", func(ctx context.Context) error {
		sessions, err := r.sessionsOf(ctx, d.App, match)
		if n = len(sessions); n == 0 || err != nil {
			return err
		}
		return r.client.Database("admin").RunCommand(ctx, mdb.Doc("killSessions", sessions)).Err()
	})
	return n, err
}

// sessionsOf returns the sessions of the connections with this application name whose operations
// match.
func (r *roster) sessionsOf(ctx context.Context, app string, match bson.D) (sessions bson.A, err error) {
	cursor, err := r.client.Database("admin").Aggregate(ctx, mongo.Pipeline{
		mdb.Doc("$currentOp", mdb.Doc("allUsers", false, "idleSessions", true)),
		mdb.Doc("$match", append(mdb.Doc("appName", app), match...)),
		mdb.Doc("$project", mdb.Doc("id", "$lsid.id")),
	})
	if err != nil {
		return nil, err
	}
	found, err := mdb.ReadAll[struct{ ID bson.Binary }](ctx, cursor, 0)
	for _, session := range found {
		sessions = append(sessions, mdb.Doc("id", session.ID))
	}
	return sessions, err
}

// isIdle ends the server's operations, and reports whether there were none. It looks twice: MongoDB
// lists active sessions before idle ones, and one that begins to commit in between is in neither
// list.
func (r *roster) isIdle(ctx context.Context, d *Server) bool {
	for range 2 {
		if n, err := r.endOperations(ctx, d, atWork()); n > 0 || err != nil {
			return false
		}
	}
	return true
}

// authenticatedUser returns the MongoDB user of this process with its database, or "" if MongoDB
// has no access control.
func (r *roster) authenticatedUser(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	var status struct {
		AuthInfo struct {
			Users []struct{ User, DB string } `bson:"authenticatedUsers"`
		} `bson:"authInfo"`
	}
	err := r.client.Database("admin").RunCommand(ctx, mdb.Doc("connectionStatus", 1)).Decode(&status)
	if err != nil || len(status.AuthInfo.Users) == 0 {
		return "", mdb.Translate(ctx, "who am I", err)
	}
	user := status.AuthInfo.Users[0]
	return fmt.Sprintf("%s@%s", user.User, user.DB), nil
}

// IsGone reports whether a server can do nothing more: its lease has ended, so it neither begins
// nor commits anything, and MongoDB runs none of its operations any more.
func (r *roster) IsGone(ctx context.Context, d *Server) bool {
	left := time.Duration(d.Lease-d.Silence) * time.Millisecond
	switch {
	case left >= 0:
		return false
	case left < -r.transactionLife*3/2: // MongoDB looks for expired transactions twice in that time
		return true
	}
	return !r.Routed && r.isIdle(ctx, d) // not tried with a mongos
}
