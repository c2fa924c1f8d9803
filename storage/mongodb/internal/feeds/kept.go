package feeds

import (
	"context"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// keptFeed keeps the newest posts of a feed that all users have: their ids, and, if wanted, copies
// of them. It is a cache; the truth is in posts and edges.
//
// A feed is one open part, and closed ones before it. Posts are pushed to the open part. When it is
// full, its oldest posts go into a new closed part; from then on the open part has all posts from
// From on, and the closed ones have those before, without gaps, down to the floor. Posts that come
// late are pushed to the closed part where they belong; those that are older than the floor are not
// kept.
//
// A feed that no longer fits its user's follows is stale: its open part has no ids, and posts are
// not pushed to it. Building it again takes three steps:
//
//  1. Store an open part without posts, of a new generation. From then on pushes reach it.
//  2. Read what belongs into the feed: everything that was committed before the first push could
//     come.
//  3. Store closed parts, and then join the rest with what was pushed, if the open part is still
//     that of step 1.
//
// A change of follows makes the feed stale in its own transaction, so that step 3 finds another
// generation. Readers ignore closed parts of other generations than the open part's.
type keptFeed struct {
	*base

	docs   *mongo.Collection
	size   int  // how many posts a part has; the open one has up to twice as many
	built  int  // how many posts are read when the feed is built
	kept   int  // how many closed parts are kept, up to a quarter more until they are trimmed
	copies bool // copies of posts are kept as well, and parts end with months
	// truth reads the ids of a feed's newest posts, newest first.
	truth func(ctx context.Context, user social.UserID, limit int) ([]social.PostID, error)
}

// stamp names a generation of a feed.
type stamp struct{ id.ID }

// openPart is the document of a feed whose _id is the user's.
type openPart struct {
	User    social.UserID   `bson:"_id"`
	Version int             `bson:"v"`
	Gen     stamp           `bson:"gen"`
	IDs     []social.PostID `bson:"ids,omitempty"` // in no order, with those of deleted posts; absent: the feed is stale
	Posts   []postCopy      `bson:"posts,omitempty"`
	Count   int             `bson:"count,omitempty"` // of IDs
	Month   string          `bson:"month,omitempty"` // the oldest that it has posts of
	From    social.PostID   `bson:"from"`            // the posts from this one on are all here; older ones may be here, too
	Floor   social.PostID   `bson:"floor"`           // posts before this one are not kept; zero: all are
	Parts   int             `bson:"parts"`           // how many closed ones there are
	Ready   bool            `bson:"ready,omitempty"` // step 3 is done
}

// closedPart is another document of a feed: its posts from Lower on, up to but not including Upper.
type closedPart struct {
	ID      bson.Binary     `bson:"_id"` // partKey: two servers that close the same posts at the same time make the same part
	Version int             `bson:"v"`
	User    social.UserID   `bson:"user"`
	Gen     stamp           `bson:"gen"`
	Lower   social.PostID   `bson:"lower"`
	Upper   social.PostID   `bson:"upper"`
	Month   string          `bson:"month,omitempty"` // where parts end with months
	IDs     []social.PostID `bson:"ids"`
	Posts   []postCopy      `bson:"posts,omitempty"`
}

func partKey(user social.UserID, gen stamp, lower social.PostID) bson.Binary {
	return bson.Binary{Data: slices.Concat(user.Bytes(), gen.Bytes(), lower.Bytes())}
}

// postCopy is a document of posts as it was at some time. It may be shown only if the post still
// has the same number of changes.
type postCopy bson.Raw

// maxCopy is the length of the longest copy, in bytes. Longer posts are read themselves, so a part
// is far below the 16 MB that a document may have.
const maxCopy = 16 << 10

func (c postCopy) id() (post social.PostID) {
	if _, data, ok := bsoncore.Document(c).Lookup("_id").BinaryOK(); ok {
		copy(post.ID[:], data)
	}
	return post
}

func (c postCopy) changes() int {
	n, _ := bsoncore.Document(c).Lookup("changes").AsInt64OK()
	return int(n)
}

// MarshalBSON implements bson.Marshaler.
func (c postCopy) MarshalBSON() ([]byte, error) { return c, nil }

// UnmarshalBSON implements bson.Unmarshaler.
func (c *postCopy) UnmarshalBSON(raw []byte) error {
	*c = slices.Clone(raw)
	return nil
}

// notCopied are the fields of a post that only queries need.
var notCopied = mdb.Doc("seq", 0, "inbox", 0)

// copiesOf copies posts as they are now. Those that are gone are left out.
func (f *keptFeed) copiesOf(ctx context.Context, posts []social.PostID) ([]postCopy, error) {
	return mdb.FindIn[postCopy](ctx, f.posts.Collection(), "_id", posts, options.Find().SetProjection(notCopied))
}

// small returns the copies that may be kept.
func small(copies []postCopy) []postCopy {
	return slices.DeleteFunc(slices.Clone(copies), func(c postCopy) bool { return len(c) > maxCopy })
}

// monthOf returns the month in which a post was made, as in "2026-11", in UTC.
func monthOf(post social.PostID) string { return post.Time().Format("2006-01") }

// nextMonth returns an id before all posts of the month after a post's.
func nextMonth(post social.PostID) social.PostID {
	made := post.Time()
	return social.PostID{ID: id.FirstAt(time.Date(made.Year(), made.Month()+1, 1, 0, 0, 0, 0, time.UTC))}
}

// openOf matches the open part of a user. It has the user twice: by the field user, closed parts
// are on the same shard.
func openOf(user social.UserID) bson.D { return mdb.Doc("_id", user, "user", user) }

// openOfAll matches the open parts of users.
func openOfAll(users []social.UserID) bson.D {
	some := mdb.Doc("$in", mdb.Values(users))
	return mdb.Doc("_id", some, "user", some)
}

// byPart finds the closed parts of users.
const byPart = "user_upper_lower"

// partIndexes returns the indexes of a kept feed's collection.
func partIndexes() []mongo.IndexModel {
	return []mongo.IndexModel{mdb.IndexHaving("upper", byPart, mdb.Doc("user", 1, "upper", 1, "lower", 1))}
}

func (d *openPart) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.ID(v, &d.User.ID)
	case "v":
		r.Int(v, &d.Version)
	case "gen":
		r.ID(v, &d.Gen.ID)
	case "ids":
		mdb.ReadIDs(r, v, &d.IDs)
	case "posts":
		readCopies(r, v, &d.Posts)
	case "count":
		r.Int(v, &d.Count)
	case "month":
		r.Text(v, &d.Month)
	case "from":
		r.ID(v, &d.From.ID)
	case "floor":
		r.ID(v, &d.Floor.ID)
	case "parts":
		r.Int(v, &d.Parts)
	case "ready":
		r.Bool(v, &d.Ready)
	}
}

func (d *closedPart) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.Binary(v, &d.ID)
	case "v":
		r.Int(v, &d.Version)
	case "user":
		r.ID(v, &d.User.ID)
	case "gen":
		r.ID(v, &d.Gen.ID)
	case "lower":
		r.ID(v, &d.Lower.ID)
	case "upper":
		r.ID(v, &d.Upper.ID)
	case "month":
		r.Text(v, &d.Month)
	case "ids":
		mdb.ReadIDs(r, v, &d.IDs)
	case "posts":
		readCopies(r, v, &d.Posts)
	}
}

// readCopies keeps the documents as they are, because most are never decoded.
func readCopies(r *mdb.Reader, v bsoncore.Value, to *[]postCopy) {
	v.Data = slices.Clone(v.Data) // the cursor reuses the memory
	mdb.ReadArray(r, v, to, func(r *mdb.Reader, v bsoncore.Value, c *postCopy) {
		raw, ok := v.DocumentOK()
		if r.Check(ok, v) {
			*c = postCopy(raw)
		}
	})
}
