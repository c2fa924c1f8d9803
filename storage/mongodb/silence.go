package mongodb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/wait"
)

// A server that is killed in the middle of a transaction leaves it open, and MongoDB keeps it open for a minute: until then
// nobody else can change what it has changed. So every server watches the others, and ends the transactions of one that is
// silent. A server that was only slow loses nothing by that: it runs its transactions again.

// watch is what a server knows of another one.
type watch struct {
	at    time.Time     // the other's last heartbeat
	quiet time.Duration // since then, as far as this server's own heartbeats came
	ended bool          // since then its transactions were ended
	told  bool          // since then the log has said why they could not be
}

// watches are those of one server, by the id of the other. All times are the database's.
type watches struct {
	own    time.Time // this server's last heartbeat
	others map[string]*watch
}

// look takes note of all heartbeats. Between two looks a server counts as silent for as long as this one's heartbeats went
// on, and at most for most: when the database stalls for every server, none of them counts as silent.
func (w *watches) look(all []serverDoc, self string, most time.Duration) {
	var passed time.Duration
	for _, d := range all {
		if d.ID == self {
			passed, w.own = min(d.At.Sub(w.own), most), d.At
		}
	}
	before := w.others
	w.others = make(map[string]*watch, len(all))
	for _, d := range all {
		known := before[d.ID]
		if known == nil || !known.at.Equal(d.At) {
			known = &watch{at: d.At, quiet: -passed}
		}
		known.quiet += passed
		w.others[d.ID] = known
	}
}

// guard ends the transactions of servers that fall silent, until ctx ends.
func (m *member) guard(ctx context.Context) {
	var w watches
	for ctx.Err() == nil {
		wait.For(ctx, m.lookEvery(), nil)
		m.endSilent(ctx, &w)
	}
}

// lookEvery is the pause between two looks at the others: short next to half a lease, and no shorter than a heartbeat.
func (m *member) lookEvery() time.Duration { return max(m.heartbeat, m.lease/16) }

// endSilent ends the transactions of those that have been silent for half a lease, each once. What fails is tried
// again at the next look.
func (m *member) endSilent(ctx context.Context, w *watches) {
	ctx, cancel := context.WithTimeout(ctx, m.lease/2)
	defer cancel()
	all, err := m.store.servers(ctx)
	if err != nil {
		return // the heartbeat says why
	}
	w.look(all, m.id, 2*m.lookEvery())
	for i := range all {
		known := w.others[all[i].ID]
		if known.ended || known.quiet < m.lease/2 || all[i].ID == m.id {
			continue
		}
		n, err := m.store.endTransactions(ctx, &all[i])
		known.ended = err == nil
		logger := m.logger.With("server", all[i].Process)
		switch {
		case err != nil && !known.told && ctx.Err() == nil:
			known.told = true
			logger.WarnContext(ctx, "a server has fallen silent, and its transactions cannot be ended: "+
				"what they have changed is locked until MongoDB gives them up", "error", err)
		case n > 0:
			logger.WarnContext(ctx, "a server has fallen silent, and its transactions were ended", "transactions", n)
		}
	}
}

// errOtherUser: a MongoDB user may end only its own sessions.
var errOtherUser = errors.New("that server uses another MongoDB user, or runs an older Plaza: run all servers as the same MongoDB user")

// endTransactions ends the transactions that a server has open, and says how many there were.
func (s *Store) endTransactions(ctx context.Context, d *serverDoc) (n int, err error) {
	return s.endOperations(ctx, d, inTransaction())
}

func inTransaction() bson.D { return mdb.Doc("transaction", mdb.Doc("$exists", true)) }

// atWork matches what may still change something: transactions, and commands outside of them.
func atWork() bson.D {
	return mdb.Doc("$or", bson.A{inTransaction(), mdb.Doc("lsid", mdb.Doc("$exists", true), "op", mdb.Doc("$nin", bson.A{"query", "getmore"}))})
}

// endOperations ends the sessions of a server whose operations match, and says how many there were.
func (s *Store) endOperations(ctx context.Context, d *serverDoc, match bson.D) (n int, err error) {
	if d.App != appName(d.ID) || d.User != s.member.user {
		return 0, errOtherUser
	}
	err = s.db.Read(ctx, "end operations", func(ctx context.Context) error {
		sessions, err := s.sessionsOf(ctx, d.App, match)
		if n = len(sessions); n == 0 || err != nil {
			return err
		}
		return s.client.Database("admin").RunCommand(ctx, mdb.Doc("killSessions", sessions)).Err()
	})
	return n, err
}

// sessionsOf are the sessions of the connections with a name whose operations match.
func (s *Store) sessionsOf(ctx context.Context, app string, match bson.D) (sessions bson.A, err error) {
	cursor, err := s.client.Database("admin").Aggregate(ctx, mongo.Pipeline{
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

// isGone says that a server can do nothing more: it has no lease, so it begins nothing and commits nothing; and MongoDB
// does nothing any more of what it had begun.
func (s *Store) isGone(ctx context.Context, d *serverDoc) bool {
	left := time.Duration(d.Lease-d.Silence) * time.Millisecond
	switch {
	case left >= 0:
		return false
	case left < -s.transactionLife*3/2: // MongoDB looks for old ones twice in a transaction's life
		return true
	}
	return !s.routed && s.isIdle(ctx, d) // a router has not been tried
}

// isIdle ends what the server has under way, and looks twice: MongoDB lists the sessions that are at work before those
// that rest, and one that begins to commit in between is in neither list.
func (s *Store) isIdle(ctx context.Context, d *serverDoc) bool {
	for range 2 {
		if n, err := s.endOperations(ctx, d, atWork()); n > 0 || err != nil {
			return false
		}
	}
	return true
}

// authenticatedUser is whom MongoDB knows this process as, with the database that knows them; "" where it asks nobody.
func (s *Store) authenticatedUser(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	var status struct {
		AuthInfo struct {
			Users []struct{ User, DB string } `bson:"authenticatedUsers"`
		} `bson:"authInfo"`
	}
	err := s.client.Database("admin").RunCommand(ctx, mdb.Doc("connectionStatus", 1)).Decode(&status)
	if err != nil || len(status.AuthInfo.Users) == 0 {
		return "", mdb.Translate(ctx, "who am I", err)
	}
	user := status.AuthInfo.Users[0]
	return fmt.Sprintf("%s@%s", user.User, user.DB), nil
}
