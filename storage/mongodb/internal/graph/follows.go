package graph

import (
	"cmp"
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/batch"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// listedIDs is how many ids fit into a first batch: 16 MB at about 40 bytes each, rounded down.
const listedIDs = 100_000

// otherDoc is the other user of an edge, read from an index.
type otherDoc struct {
	Other social.UserID `bson:"other"`
}

func (d *otherDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	if string(field) == "other" {
		r.ID(v, &d.Other.ID)
	}
}

// Follows reads the follower graph for feeds.
type Follows struct{ *Store }

// Follows returns the graph's implementation of feeds.Follows.
func (s *Store) Follows() Follows { return Follows{s} }

// Followed reads all users that a user follows, from the index alone.
func (s Follows) Followed(ctx context.Context, user social.UserID) ([]social.UserID, error) {
	filter := mdb.Doc("owner", user, "follow", mdb.Doc("$gt", mdb.ZeroKey))
	docs, err := mdb.FindAll[otherDoc](ctx, s.edges, filter, listedIDs,
		options.Find().SetProjection(mdb.Doc("_id", 0, "other", 1)).SetHint(byFollower))
	return mdb.Map(docs, func(d *otherDoc) social.UserID { return d.Other }), err
}

// FollowedByEach is Followed for several users, with one command, outside of the snapshot of ctx:
// at least as new as the changes that were read before. It leaves out users whose lists have not
// all been read, because together they have more than a number of entries.
func (s Follows) FollowedByEach(ctx context.Context, users []social.UserID, most int) (map[social.UserID][]social.UserID, error) {
	var docs []Document
	err := s.db.ReadAcknowledged(ctx, "followed", func(ctx context.Context) (err error) {
		filter := mdb.Doc("owner", mdb.Doc("$in", mdb.Values(users)), "follow", mdb.Doc("$gt", mdb.ZeroKey))
		docs, err = mdb.FindAll[Document](ctx, s.acknowledged, filter, most,
			options.Find().SetProjection(mdb.Doc("_id", 0, "owner", 1, "other", 1)).SetLimit(int64(most)).
				SetSort(mdb.Doc("owner", 1, "follow", -1)).SetHint(byFollower))
		return err
	})
	if err != nil {
		return nil, err
	}
	followed := make(map[social.UserID][]social.UserID, len(users))
	for _, user := range users {
		if len(docs) < most || user.Compare(docs[most-1].Owner.ID) < 0 {
			followed[user] = []social.UserID{}
		}
	}
	for i := range docs {
		if list, isWhole := followed[docs[i].Owner]; isWhole {
			followed[docs[i].Owner] = append(list, docs[i].Other)
		}
	}
	return followed, nil
}

// Among returns which of the users follow which of the people.
func (s Follows) Among(ctx context.Context, users, people []social.UserID) (map[social.Pair]bool, error) {
	pairs := make([]social.Pair, 0, len(users)*len(people))
	for _, user := range users {
		for _, other := range people {
			pairs = append(pairs, social.Pair{Viewer: user, Other: other})
		}
	}
	follows := append(edgesAmong(pairs, users), bson.E{Key: "follow", Value: mdb.Doc("$gt", mdb.ZeroKey)})
	docs, err := mdb.FindAll[Document](ctx, s.edges, follows, len(pairs),
		options.Find().SetProjection(mdb.Doc("_id", 0, "owner", 1, "other", 1)).SetHint(mdb.Doc("_id", 1)))
	among := make(map[social.Pair]bool, len(docs))
	for i := range docs {
		among[social.Pair{Viewer: docs[i].Owner, Other: docs[i].Other}] = true
	}
	return among, err
}

// Followers reads the followers of an author whose follows are within bounds, newest first, at most
// a number of them, and the follow of the last.
func (s Follows) Followers(ctx context.Context, author social.UserID, bounds bson.D, most int) (users []social.UserID, last social.EdgeID, err error) {
	docs, err := mdb.FindAll[Document](ctx, s.followers(ctx), mdb.Doc("other", author, "follow", bounds), most,
		options.Find().SetSort(mdb.Doc("follow", -1)).SetLimit(int64(most)).SetHint(byFollowed).
			SetProjection(mdb.Doc("_id", 0, "owner", 1, "follow", 1)))
	if len(docs) > 0 {
		last = docs[len(docs)-1].Follow
	}
	return mdb.Map(docs, func(d *Document) social.UserID { return d.Owner }), last, err
}

// NotFollowing returns those of the users who do not follow the author, and are not the author.
func (s Follows) NotFollowing(ctx context.Context, author social.UserID, users []social.UserID) ([]social.UserID, error) {
	others := batch.Without(users, []social.UserID{author})
	if len(others) == 0 {
		return nil, nil
	}
	follows, err := s.Among(ctx, others, []social.UserID{author})
	return slices.DeleteFunc(others, func(user social.UserID) bool { return follows[social.Pair{Viewer: user, Other: author}] }), err
}

// FollowersCount reads how many followers a user has. ErrNotFound.
func (s Follows) FollowersCount(ctx context.Context, user social.UserID) (int, error) {
	return s.users.FollowersCount(ctx, user)
}

// Exists returns ErrNotFound for a user who has deleted their account.
func (s Follows) Exists(ctx context.Context, user social.UserID) error {
	return s.users.Exists(ctx, user)
}

// Of reads follows of a user, with their owners and the circles that contain the user: at most a
// number of them, or all if it is 0.
func (s Follows) Of(ctx context.Context, followed social.UserID, most int) ([]Document, error) {
	filter := mdb.Doc("other", followed, "follow", mdb.Doc("$gt", mdb.ZeroKey))
	return mdb.FindAll[Document](ctx, s.followers(ctx), filter, cmp.Or(most, listedIDs), options.Find().SetLimit(int64(most)).
		SetProjection(mdb.Doc("_id", 0, "owner", 1, "follow", 1, "circles", 1)).SetHint(byFollowed))
}

// By reads the follows of a user by some owners, and what else their edges have.
func (s Follows) By(ctx context.Context, owners []social.UserID, followed social.UserID) ([]Document, error) {
	if len(owners) == 0 {
		return nil, nil
	}
	return edgesFrom(ctx, s.edges, owners, followed)
}
