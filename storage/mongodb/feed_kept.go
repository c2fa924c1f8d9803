package mongodb

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

// keptFeed keeps the newest posts of a feed that everybody has: their ids, and copies of them where that is wanted. It is a
// cache; the truth stays in posts and edges.
//
// A feed is one open part, and closed ones before it. Posts are pushed to the open part. When it is
// full, its oldest posts go into a new closed part; from then on the open part has all posts from From on, and
// the closed ones tile what lies before that, down to the floor. Posts that come late are pushed to the closed part where they belong; those
// that are older than the floor are not kept.
//
// A feed that does not fit its user's follows any more is stale: its open part has no ids, and posts are not pushed to it. Building it anew is
//
//  1. an open part without posts, of a new generation; from then on pushes reach it;
//  2. reading what belongs into the feed: all that was committed before the first push could come;
//  3. storing closed parts, and then joining the rest with what was pushed, if the open part is still that of step 1.
//
// A change of follows makes the feed stale in its own transaction, so that 3 finds another generation. Closed parts of
// other generations than the open part's are not there for readers.
type keptFeed struct {
	*Store

	docs   *mongo.Collection
	size   int  // how many posts a part has: the open one up to twice as many
	built  int  // how many posts are read when the feed is built
	kept   int  // how many closed parts are kept
	copies bool // copies of posts are kept, too, and parts end with months
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

	found []postDoc // of a read alone: some of the posts as they are now
}

// closedPart is another document of a feed: its posts from Lower on, up to but not at Upper.
type closedPart struct {
	ID      bson.Binary     `bson:"_id"` // partKey: two that close the same posts at the same time make the same part
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

// postCopy is a document of posts as it was once. It says nothing that may be shown unless the post still has as many changes.
type postCopy bson.Raw

// maxCopy is the length of the longest copy in bytes. Longer posts are read themselves. So a part is far below the 16 MB that a
// document may have.
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

func (c postCopy) post() (*social.Post, error) {
	var d postDoc
	if err := mdb.ReadDocument(c, &d); err != nil {
		return nil, err
	}
	return d.post(), nil
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

// copiesOf copies posts as they are now. Those that are gone are missing.
func (f *keptFeed) copiesOf(ctx context.Context, posts []social.PostID) ([]postCopy, error) {
	return mdb.FindIn[postCopy](ctx, f.posts, "_id", posts, options.Find().SetProjection(notCopied))
}

// small are the copies that may be kept.
func small(copies []postCopy) []postCopy {
	return slices.DeleteFunc(slices.Clone(copies), func(c postCopy) bool { return len(c) > maxCopy })
}

// monthOf is the month in which a post was made, as in "2026-11", in UTC.
func monthOf(post social.PostID) string { return post.Time().Format("2006-01") }

// nextMonth is before all posts of the month after a post's.
func nextMonth(post social.PostID) social.PostID {
	made := post.Time()
	return social.PostID{ID: id.FirstAt(time.Date(made.Year(), made.Month()+1, 1, 0, 0, 0, 0, time.UTC))}
}

// openOf matches the open part of a user. It has the user twice, since the closed ones are on the same shard by that field.
func openOf(user social.UserID) bson.D { return mdb.Doc("_id", user, "user", user) }

// openOfAll matches the open parts of users.
func openOfAll(users []social.UserID) bson.D {
	some := mdb.Doc("$in", mdb.Values(users))
	return mdb.Doc("_id", some, "user", some)
}

// byPart finds the closed parts of users.
const byPart = "user_upper_lower"

// partIndexes are those of a kept feed's collection.
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
	case "found":
		mdb.ReadDocuments(r, v, &d.found)
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

// readCopies keeps the documents as they are: most are never looked at.
func readCopies(r *mdb.Reader, v bsoncore.Value, to *[]postCopy) {
	v.Data = slices.Clone(v.Data) // the cursor's memory is used again
	mdb.ReadArray(r, v, to, func(r *mdb.Reader, v bsoncore.Value, c *postCopy) {
		raw, ok := v.DocumentOK()
		if r.Check(ok, v) {
			*c = postCopy(raw)
		}
	})
}
