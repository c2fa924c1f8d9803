package feeds

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/recent"
)

// cachedNews is a document of newsCache: a user's news, as they were when it was stored. Its reader
// makes it in a snapshot, and stores it afterwards if it still has the stamp of that snapshot. Every
// change of the user's follows empties it, and sets another stamp, in its own transaction.
type cachedNews struct {
	User      social.UserID   `bson:"_id"`
	Version   int             `bson:"v"`
	Stamp     stamp           `bson:"stamp"`               // each document that is stored has another one
	Authors   []social.UserID `bson:"authors,omitempty"`   // the followed people, and the user
	IDs       []social.PostID `bson:"ids,omitempty"`       // newest first, including those of posts that were deleted later
	Floor     social.PostID   `bson:"floor,omitempty"`     // posts before this one are not in IDs; zero: all are
	Until     int64           `bson:"until,omitempty"`     // posts with a greater serial are not in IDs
	Backdated int64           `bson:"backdated,omitempty"` // the ids are complete while this is the sequence's: see recent.Sequence
	UsedAt    time.Time       `bson:"usedAt"`
}

func (d *cachedNews) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.ID(v, &d.User.ID)
	case "stamp":
		r.ID(v, &d.Stamp.ID)
	case "authors":
		mdb.ReadIDs(r, v, &d.Authors)
	case "ids":
		mdb.ReadIDs(r, v, &d.IDs)
	case "floor":
		r.ID(v, &d.Floor.ID)
	case "until":
		r.Long(v, &d.Until)
	case "backdated":
		r.Long(v, &d.Backdated)
	case "usedAt":
		r.Time(v, &d.UsedAt)
	}
}

// isEmpty reports whether the document has to be made: it is new, or the follows have changed.
func (d *cachedNews) isEmpty() bool { return len(d.Authors) == 0 }

// isOld reports whether the document was not renewed for a day.
func (d *cachedNews) isOld(now time.Time) bool { return now.Sub(d.UsedAt) >= listUse }

// isDue reports whether the document has to be renewed before it is used, or should be, because half
// of the posts in memory are newer, so that it would soon leave a gap.
func (d *cachedNews) isDue(known recent.Known, now time.Time) bool {
	return !d.continues(known) || d.isOld(now) || !known.Floor.IsZero() && d.Until < known.Middle.Serial()
}

// continues reports whether the ids reach up to the known posts, without a gap.
func (d *cachedNews) continues(known recent.Known) bool {
	return !d.isEmpty() && d.Backdated == known.At.Backdated && d.Until >= min(known.At.Last, known.Floor.Serial())
}

// floorWith returns down to where a page's ids are known: those of the document, and the known
// posts.
func (d *cachedNews) floorWith(known recent.Known) social.PostID {
	if known.Floor.Compare(d.Floor.ID) < 0 {
		return known.Floor
	}
	return d.Floor
}

// fill adds older ids to a page that has all those in memory, as far as the snapshot has them.
func (d *cachedNews) fill(ids []social.PostID, known recent.Known, p social.Page) []social.PostID {
	if known.Floor.IsZero() || !p.Last && len(ids) == p.Limit {
		return ids
	}
	for _, post := range d.IDs {
		if post.Compare(known.Floor.ID) < 0 && post.Serial() <= known.At.Last && isWithin(p, post) {
			ids = append(ids, post)
		}
	}
	return firstIDs(ids, p)
}
