package mongotest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
)

// Scatter is a kind of query that is sent to all shards, with the reason why that is acceptable.
type Scatter struct {
	Collection string // without the layout's name at its end
	Command    string // the command's name
	By         string // the field that it searches by; "" for none
	Why        string
}

// Scatters are the commands that need not contain their collection's shard key. docs/sharding.md
// lists them too.
var Scatters = []Scatter{
	{"users", "find", "nameOrder", "people are found by how their names begin"},
	{"users", "find", "rights", "who has rights, once in a second at most"},
	{"posts", "find", "author", "the posts of an author, and news merged at read: posts are on all shards"},
	{"posts", "aggregate", "author", "the same, for many authors"},
	{"posts", "find", "_id", "the ids of the newest posts of all, once on each server; their authors, for suggestions"},
	{"posts", "find", "wallOwner", "a wall has posts by many"},
	{"posts", "aggregate", "wallOwner", "the same, for many walls"},
	{"posts", "find", "inbox", "Incoming depends on circles as they are now"},
	{"posts", "aggregate", "inbox", "the same, for many keys"},
	{"posts", "find", "", "is the database new? Once, when a server starts"},
	{"edges", "find", "", "the same"},
	{"users", "find", "", "has anyone an account? Once, when a server starts with the demo"},
	{"users", "find", "handle", "on a replica set; behind a mongos users are found through handles"},
	{"edges", "find", "other", "followers on the layout reverse; two has them together"},
	{"edges", "aggregate", "other", "the same, for many lists"},
	{"edges", "aggregate", "joined", "members of a circle: its id does not tell its owner"},
	{"circles", "find", "_id", "a circle's id does not tell its owner"},
	{"circles", "update", "_id", "the same: renaming"},
	{"comments", "find", "_id", "a comment's id does not tell its post"},
	{"threads", "find", "comments._id", "the same"},
	{"comments", "find", "author", "the comments of an author are stored beside their replies"},
	{"comments", "aggregate", "author", "the same, for many lists, or counted"},
	{"commentAuthors", "delete", "post", "a post is deleted with all that hangs on it"},
	{"threadMutes", "delete", "_id", "the same"},
	{"reactions", "delete", "_id", "a post is deleted with all that hangs on it"},
	{"votes", "delete", "_id", "the same"},
	{"sessions", "aggregate", "user", "how many access tokens does a user have?"},
	{"sessions", "find", "user", "an account is deleted with all that is left behind, mostly in the background"},
	{"identities", "find", "user", "the same"},
	{"mailTokens", "find", "user", "the links in a user's mails become void, or are counted"},
	{"invitations", "find", "inviter", "a user's invitations are listed"},
	{"invitations", "aggregate", "inviter", "how many invitations does a user have?"},
	{"emails", "find", "key", "whose is an e-mail address?"},
	{"reactions", "find", "user", "the same"},
	{"votes", "find", "user", "the same"},
	{"threadMutes", "find", "user", "the same"},
	{"notifications", "find", "acts.actor", "the same"},
	{"notifications", "find", "acts.comment", "who was notified of a deleted comment; in the background"},
	{"notifications", "find", "post", "who was notified of a deleted post, or what is said there; in the background"},
	{"idempotencyKeys", "delete", "_id", "the same"},
	{"reactions", "find", "_id", "the same: what hangs on a post, in parts"},
	{"votes", "find", "_id", "the same"},
	{"threadMutes", "find", "_id", "the same"},
	{"commentAuthors", "find", "post", "the same"},
	{"adAdvertisers", "find", "", "the list of all, for those who manage ads"},
	{"adAdvertisers", "find", "_id", "the same, further on"},
	{"adZones", "find", "", "the same"},
	{"adZones", "find", "_id", "the same"},
	{"adCampaigns", "find", "advertiser", "an advertiser's campaigns are listed, or changed with it"},
	{"adUnits", "find", "campaign", "a campaign's units are listed, or changed with it"},
	{"adUnits", "update", "campaign", "the same"},
	{"adUnits", "aggregate", "campaign", "do a campaign's units have the currency of its budget?"},
	{"adLeases", "find", "settleAt", "leases that have ended are settled, in the background"},
	{"adClicks", "aggregate", "profile", "has a person clicked too often?"},
	{"adClicks", "aggregate", "address", "the same, of an address"},
	{"adClicks", "find", "profile", "the clicks of a person who has clicked too often, or is deleted"},
	{"adConversions", "find", "profile", "the conversions of a person who is deleted, in the background"},
	{"adImpressions", "find", "waiting.due", "what was recorded and not counted, in the background"},
	{"adClicks", "find", "waiting.due", "the same"},
	{"adConversions", "find", "waiting.due", "the same"},
	{"adClicks", "aggregate", "at", "an hour is added up for reports, in the background"},
	{"adImpressions", "aggregate", "at", "the same"},
	{"adConversions", "aggregate", "at", "the same"},
	{"adClicks", "find", "", "the time of the oldest one: before the first report, or when all reports are rebuilt"},
	{"adImpressions", "find", "", "the same"},
	{"adConversions", "find", "", "the same"},
	{"adClicks", "find", "billed", "what of a campaign, a person or an address can be refunded"},
	{"adImpressions", "find", "billed", "the same"},
	{"adConversions", "find", "billed", "the same"},
	{"adTallies", "delete", "hour", "an hour is added up for reports, in the background"},
	{"adTallies", "aggregate", "hour", "a report of all campaigns"},
	{"adTraffic", "aggregate", "hour", "a report of all zones"},
}

// Routing checks whether commands could be routed to single shards of a cluster, by the shard keys
// of their collections.
type Routing struct {
	keys   map[string]bson.D
	mu     sync.Mutex
	faults map[string]bool
	seen   map[Scatter]bool
	routed int
}

// WatchRouting makes a test fail, at its end, if a command that the monitor has seen contains no
// shard key and is not one of Scatters.
func WatchRouting(tb testing.TB, keys map[string]bson.D) *Routing {
	tb.Helper()
	r := &Routing{keys: keys, faults: map[string]bool{}, seen: map[Scatter]bool{}}
	tb.Cleanup(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, fault := range slices.Sorted(maps.Keys(r.faults)) {
			tb.Errorf("for all shards: %s", fault)
		}
	})
	return r
}

// Monitor returns a command monitor for the options of a store. It passes commands on to next, if
// that is not nil.
func (r *Routing) Monitor(next *event.CommandMonitor) *event.CommandMonitor {
	return &event.CommandMonitor{Started: func(ctx context.Context, e *event.CommandStartedEvent) {
		r.Check(e.Command)
		if next != nil {
			next.Started(ctx, e)
		}
	}}
}

// Check checks one command.
func (r *Routing) Check(raw bson.Raw) {
	var command bson.D
	if err := bson.Unmarshal(raw, &command); err != nil {
		r.faultf("a command that cannot be read: %v", err)
		return
	}
	name := command[0].Key
	collection, ok := command[0].Value.(string)
	if !ok || name == "create" || name == "createIndexes" {
		return // a command without documents
	}
	key, declared := r.keys[collection]
	if !declared {
		r.faultf("%s %s: the collection has no declared shard key", name, collection)
		return
	}
	if key == nil {
		return // not sharded
	}
	q := query{routing: r, collection: collection, command: name, key: key}
	switch name {
	case "insert":
		q.inserts(command)
	case "find", "count", "distinct":
		q.reaches(field(command, "filter"))
	case "aggregate":
		q.pipeline(field(command, "pipeline"))
	case "update":
		q.updates(command)
	case "delete":
		q.deletes(command)
	case "findAndModify":
		q.decides(field(command, "query"))
	}
}

// Seen returns the entries of Scatters that matched a command.
func (r *Routing) Seen() map[Scatter]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.seen)
}

// Routed returns how many filters and documents contained their shard key.
func (r *Routing) Routed() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.routed
}

func (r *Routing) faultf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults[fmt.Sprintf(format, args...)] = true
}

func (r *Routing) scatters(s Scatter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen[s] = true
}

func (r *Routing) count() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.routed++
}

// query is a command on a sharded collection.
type query struct {
	routing             *Routing
	collection, command string
	key                 bson.D
}

func (q query) inserts(command bson.D) {
	documents, _ := field(command, "documents").(bson.A)
	for _, d := range documents {
		q.decides(d)
	}
}

func (q query) updates(command bson.D) {
	statements, _ := field(command, "updates").(bson.A)
	for _, s := range statements {
		if upsert, _ := field(s, "upsert").(bool); upsert {
			q.decides(field(s, "q"))
		} else {
			q.reaches(field(s, "q"))
		}
	}
}

func (q query) deletes(command bson.D) {
	statements, _ := field(command, "deletes").(bson.A)
	for _, s := range statements {
		q.reaches(field(s, "q"))
	}
}

// pipeline checks the first stage, and the collections that are joined.
func (q query) pipeline(pipeline any) {
	stages, _ := pipeline.(bson.A)
	for i, stage := range stages {
		switch {
		case field(stage, "$changeStream") != nil:
			return // it covers all shards by its nature
		case i == 0:
			q.reaches(field(stage, "$match"))
		case field(stage, "$unionWith") != nil:
			q.joined(field(stage, "$unionWith"), "coll").pipeline(field(field(stage, "$unionWith"), "pipeline"))
		case field(stage, "$lookup") != nil:
			lookup := field(stage, "$lookup")
			foreign, _ := field(lookup, "foreignField").(string)
			q.joined(lookup, "from").reaches(bson.D{{Key: foreign, Value: "of each document"}})
		}
	}
}

func (q query) joined(stage any, name string) query {
	q.collection, _ = field(stage, name).(string)
	q.key = q.routing.keys[q.collection]
	return q
}

// decides requires values for the whole key: without them a cluster rejects upserts and
// findAndModify, or cannot place a document.
func (q query) decides(filter any) {
	for _, part := range q.key {
		if !isValue(field(filter, part.Key)) {
			q.routing.faultf("%s %s by %v: it needs a value of %s", q.command, q.collection, names(filter), part.Key)
			return
		}
	}
	q.routing.count()
}

// reaches requires values for the key's first field, unless the command is one of Scatters.
func (q query) reaches(filter any) {
	if routes(filter, q.key[0].Key) {
		q.routing.count()
		return
	}
	by := names(filter)
	for _, s := range Scatters {
		noun, _, _ := strings.Cut(q.collection, ".") // the rest of the name is a layout
		same := s.Collection == noun && s.Command == q.command
		if same && (s.By == "" && len(by) == 0 || slices.ContainsFunc(by, s.names)) {
			q.routing.scatters(s)
			return
		}
	}
	q.routing.faultf("%s %s by %v: it has no %s", q.command, q.collection, by, q.key[0].Key)
}

// names reports whether the field is the one that the query searches by, or a part of it.
func (s Scatter) names(field string) bool {
	return field == s.By || s.By != "" && strings.HasPrefix(field, s.By+".")
}

// routes reports whether a filter gives values for a field, in each of its branches.
func routes(filter any, name string) bool {
	if isValue(field(filter, name)) || field(field(filter, name), "$in") != nil {
		return true
	}
	branches, _ := field(filter, "$or").(bson.A)
	for _, branch := range branches {
		if !routes(branch, name) {
			return false
		}
	}
	return len(branches) > 0
}

// isValue reports whether a condition compares for equality.
func isValue(condition any) bool {
	if d, ok := condition.(bson.D); ok {
		return len(d) == 0 || d[0].Key[0] != '$'
	}
	return condition != nil
}

// names are the fields of a filter, with those of its branches.
func names(filter any) []string {
	fields, _ := filter.(bson.D)
	var all []string
	for _, e := range fields {
		branches, ok := e.Value.(bson.A)
		if !ok || e.Key != "$or" {
			all = append(all, e.Key)
			continue
		}
		for _, branch := range branches {
			all = append(all, names(branch)...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// field reads a field of a document; nil if it is missing.
func field(document any, name string) any {
	fields, _ := document.(bson.D)
	for _, e := range fields {
		if e.Key == name {
			return e.Value
		}
	}
	return nil
}
