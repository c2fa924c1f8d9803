package mongodb

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// listedIDs is how many ids a first answer may have: 16 MB of about 40 bytes each, rounded down.
const listedIDs = 100_000

// followReader reads the follower graph for feeds.
type followReader struct{ s *Store }

// otherDoc is the user to whom an edge leads, read from an index.
type otherDoc struct {
	Other social.UserID `bson:"other"`
}

func (d *otherDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	if string(field) == "other" {
		r.ID(v, &d.Other.ID)
	}
}

// Followed reads from the index alone.
func (r followReader) Followed(ctx context.Context, user social.UserID) ([]social.UserID, error) {
	filter := mdb.Doc("owner", user, "follow", mdb.Doc("$gt", mdb.ZeroKey))
	docs, err := mdb.FindAll[otherDoc](ctx, r.s.edges, filter, listedIDs,
		options.Find().SetProjection(mdb.Doc("_id", 0, "other", 1)).SetHint(byFollower))
	return mdb.Map(docs, func(d *otherDoc) social.UserID { return d.Other }), err
}

func (r followReader) FollowedAmong(ctx context.Context, user social.UserID, people []social.UserID) ([]social.UserID, error) {
	pairs := mdb.Map(people, func(other *social.UserID) social.Pair { return social.Pair{Viewer: user, Other: *other} })
	follows := append(edgesAmong(pairs, []social.UserID{user}), bson.E{Key: "follow", Value: mdb.Doc("$gt", mdb.ZeroKey)})
	docs, err := mdb.FindAll[edgeDoc](ctx, r.s.edges, follows, len(people),
		options.Find().SetProjection(mdb.Doc("_id", 0, "other", 1)).SetHint(mdb.Doc("_id", 1)))
	return mdb.Map(docs, func(d *edgeDoc) social.UserID { return d.Other }), err
}

func (r followReader) Followers(ctx context.Context, author social.UserID, bounds bson.D, most int) (users []social.UserID, last social.EdgeID, err error) {
	docs, err := mdb.FindAll[edgeDoc](ctx, r.s.graph.followers(ctx), mdb.Doc("other", author, "follow", bounds), most,
		options.Find().SetSort(mdb.Doc("follow", -1)).SetLimit(int64(most)).SetHint(byFollowed).
			SetProjection(mdb.Doc("_id", 0, "owner", 1, "follow", 1)))
	if len(docs) > 0 {
		last = docs[len(docs)-1].Follow
	}
	return mdb.Map(docs, func(d *edgeDoc) social.UserID { return d.Owner }), last, err
}

func (r followReader) NotFollowing(ctx context.Context, author social.UserID, users []social.UserID) ([]social.UserID, error) {
	others := without(users, []social.UserID{author})
	if len(others) == 0 {
		return nil, nil
	}
	edges := mdb.Map(others, func(user *social.UserID) social.Pair { return social.Pair{Viewer: *user, Other: author} })
	docs, err := mdb.FindAll[edgeDoc](ctx, r.s.edges, append(edgesAmong(edges, others), bson.E{Key: "follow", Value: mdb.Doc("$gt", mdb.ZeroKey)}), len(others),
		options.Find().SetProjection(mdb.Doc("_id", 0, "owner", 1)).SetHint(mdb.Doc("_id", 1)))
	return without(others, mdb.Map(docs, func(d *edgeDoc) social.UserID { return d.Owner })), err
}

func (r followReader) FollowersCount(ctx context.Context, user social.UserID) (int, error) {
	var u userDoc
	few := options.FindOne().SetProjection(mdb.Doc("followers", 1))
	err := mdb.OrNotFound(r.s.users.FindOne(ctx, mdb.Doc("_id", user), few).Decode(&u))
	return u.Followers, err
}

func (r followReader) Exists(ctx context.Context, user social.UserID) error {
	return r.s.userExists(ctx, user)
}

// without returns those users that are not among others.
func without(users, others []social.UserID) []social.UserID {
	left := make(map[social.UserID]bool, len(others))
	for _, user := range others {
		left[user] = true
	}
	return slices.DeleteFunc(slices.Clone(users), func(user social.UserID) bool { return left[user] })
}
