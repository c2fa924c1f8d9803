package eventlog

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

const (
	// changeSlots is the number of documents in "changes". A transaction adds to one of them, and
	// conflicts with others that add to the same one concurrently.
	changeSlots = 16
	// changesKept is how many changes a document keeps. A server that has missed more forgets
	// everything that it has cached.
	changesKept = 32
)

// changeDoc is a document of changes. Transactions that add to the same document commit one after
// another, so Count is a position.
type changeDoc struct {
	Slot    int           `bson:"_id"`
	Version int           `bson:"v"`
	Count   int64         `bson:"count"`            // of all changes that were ever added
	Latest  []storeChange `bson:"latest,omitempty"` // the newest changesKept, oldest first
}

// changeCount is a changeDoc without its changes.
type changeCount struct {
	slot, count int
}

func (d *changeCount) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.Int(v, &d.slot)
	case "count":
		r.Int(v, &d.count)
	}
}

// storeChange is a social.Change.
type storeChange struct {
	Users    []social.UserID `bson:"users,omitempty"`
	Pairs    []social.UserID `bson:"pairs,omitempty"` // two ids for each pair
	Around   []social.UserID `bson:"around,omitempty"`
	Sessions []bson.Binary   `bson:"sessions,omitempty"`
	All      bool            `bson:"all,omitempty"`
}

func newStoreChange(c social.Change) storeChange {
	c = c.Bounded()
	d := storeChange{
		Users: c.Users, Around: c.Around, All: c.All,
		Sessions: mdb.Map(c.Sessions, func(hash *[32]byte) bson.Binary { return mdb.HashKey(*hash) }),
	}
	for _, p := range c.Pairs {
		d.Pairs = append(d.Pairs, p.Viewer, p.Other)
	}
	return d
}

func (d *storeChange) change() social.Change {
	c := social.Change{Users: d.Users, Around: d.Around, All: d.All}
	for p := range slices.Chunk(d.Pairs, 2) {
		c.Pairs = append(c.Pairs, social.Pair{Viewer: p[0], Other: p[len(p)-1]})
	}
	for _, hash := range d.Sessions {
		if len(hash.Data) != len([32]byte{}) {
			return social.Change{All: true} // written by a newer version
		}
		c.Sessions = append(c.Sessions, [32]byte(hash.Data))
	}
	return c
}

// Note adds a change to the log of changes, in the transaction that makes it.
func (l *Log) Note(ctx context.Context, c social.Change) error {
	if c.IsEmpty() {
		return nil
	}
	slot := int(l.lastSlot.Add(1) % changeSlots)
	_, err := l.changes.UpdateOne(ctx, mdb.Doc("_id", slot), mdb.Doc(
		"$set", mdb.Doc("v", l.writes(l.changes.Name())), "$inc", mdb.Doc("count", int64(1)),
		"$push", mdb.Doc("latest", mdb.Doc("$each", []storeChange{newStoreChange(c)}, "$slice", -changesKept)),
	), options.UpdateOne().SetUpsert(true))
	return mdb.OrRetry(err)
}

// AppendWith writes a transaction's change to the log of changes, and its event to the log of
// events.
func (l *Log) AppendWith(ctx context.Context, c social.Change, events ...social.Event) error {
	if err := l.Append(ctx, events...); err != nil {
		return err
	}
	return l.Note(ctx, c) // last, because concurrent writers wait for it
}

// ForgetChanges removes all entries of the log of changes, and with them the ids of deleted users.
// Servers that have not read these entries yet forget everything that they have cached.
func (l *Log) ForgetChanges(ctx context.Context) error {
	_, err := l.changes.UpdateMany(ctx, slots, mdb.Doc("$set", mdb.Doc("latest", []storeChange{{All: true}}), "$inc", mdb.Doc("count", int64(1))),
		options.UpdateMany().SetHint("_id_"))
	return err
}

// slots matches the documents of changes.
var slots = mdb.Doc("_id", mdb.Doc("$gte", 0, "$lt", changeSlots))

// Changes implements social.ChangeLog. Most calls read only the counts.
func (l *Log) Changes(ctx context.Context, since social.ChangePosition) (changes []social.Change, now social.ChangePosition, err error) {
	err = l.db.ReadAcknowledged(ctx, "changes", func(ctx context.Context) error {
		if l.writes(l.changes.Name()) < changesVersion {
			return social.ErrNoChanges
		}
		changes, now, err = l.changesSince(ctx, since)
		return err
	})
	return changes, now, err
}

func (l *Log) changesSince(ctx context.Context, since social.ChangePosition) ([]social.Change, social.ChangePosition, error) {
	// A scan: the collection has only these documents, and an index costs half as much again.
	counts, err := mdb.FindAll[changeCount](ctx, l.acknowledged, slots, changeSlots,
		options.Find().SetProjection(mdb.Doc("count", 1)).SetHint(mdb.Doc("$natural", 1)))
	if err != nil {
		return nil, nil, err
	}
	now := make(social.ChangePosition, changeSlots)
	if len(since) != len(now) {
		for i := range counts {
			now[counts[i].slot] = int64(counts[i].count)
		}
		return []social.Change{{All: true}}, now, nil
	}
	copy(now, since)
	var grown []int
	for i := range counts {
		if int64(counts[i].count) != since[counts[i].slot] {
			grown = append(grown, counts[i].slot)
		}
	}
	if len(grown) == 0 {
		return nil, now, nil
	}
	docs, err := mdb.FindIn[changeDoc](ctx, l.acknowledged, "_id", grown)
	var changes []social.Change
	for i := range docs {
		changes = append(changes, docs[i].after(since[docs[i].Slot])...)
		now[docs[i].Slot] = docs[i].Count
	}
	return changes, now, err
}

// after returns the changes that follow a count.
func (d *changeDoc) after(count int64) []social.Change {
	missed := d.Count - count
	if missed < 0 || missed > int64(len(d.Latest)) {
		return []social.Change{{All: true}}
	}
	return mdb.Map(slices.Clone(d.Latest[int64(len(d.Latest))-missed:]), (*storeChange).change)
}
