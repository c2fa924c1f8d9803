package mongodb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/batch"
	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// markDoc is a document of reactions, votes or threadMutes: one for each post and user.
type markDoc struct {
	ID      bson.Binary         `bson:"_id"` // mdb.PairKey(post, user)
	Version int                 `bson:"v"`
	User    social.UserID       `bson:"user"`            // since version 2
	Kind    social.ReactionKind `bson:"kind,omitempty"`  // of reactions
	Option  int                 `bson:"option"`          // of votes
	Mutes   bool                `bson:"mutes,omitempty"` // of threadMutes: true
}

func (d *markDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.Binary(v, &d.ID)
	case "v":
		r.Int(v, &d.Version)
	case "kind":
		mdb.ReadText(r, v, &d.Kind)
	case "option":
		r.Int(v, &d.Option)
	case "user":
		r.ID(v, &d.User.ID)
	case "mutes":
		r.Bool(v, &d.Mutes)
	}
}

func (d *markDoc) Evolve() error {
	if d.User.IsZero() && len(d.ID.Data) == 2*len(d.User.ID) {
		copy(d.User.ID[:], d.ID.Data[len(d.User.ID):])
	}
	err := known("reactions", d.Version)
	d.Version = marksVersion
	return err
}

func (d *markDoc) post() social.PostID { return social.PostID{ID: id.ID(d.ID.Data[:16])} }

// markKind is one of reactions, votes and muted threads.
type markKind struct {
	of      *mongo.Collection
	value   func(*markDoc) bson.E // what the user has chosen
	counter func(*markDoc) string // the field in which the post counts equal marks
	fixed   bool                  // the post has all counters that exist
	secret  bool                  // others do not see the counts
}

func (s *Store) reactionKind() markKind {
	return markKind{
		of:      s.reactions,
		value:   func(d *markDoc) bson.E { return bson.E{Key: "kind", Value: d.Kind} },
		counter: func(d *markDoc) string { return "reactions." + string(d.Kind) },
	}
}

func (s *Store) voteKind() markKind {
	return markKind{
		of:      s.votes,
		value:   func(d *markDoc) bson.E { return bson.E{Key: "option", Value: d.Option} },
		counter: func(d *markDoc) string { return fmt.Sprintf("votes.%d", d.Option) },
		fixed:   true,
	}
}

func (s *Store) muteKind() markKind {
	return markKind{
		of:      s.threadMutes,
		value:   func(d *markDoc) bson.E { return bson.E{Key: "mutes", Value: d.Mutes} },
		counter: func(*markDoc) string { return "muters" },
		secret:  true,
	}
}

// newMark is a reaction or a vote on its way into the database.
type newMark struct {
	markDoc

	event social.Event
}

// PutReaction implements social.Posts.
func (s *Store) PutReaction(ctx context.Context, post social.PostID, user social.UserID, kind social.ReactionKind, e social.Event) error {
	return s.newReactions.Do(ctx, post.ID, &newMark{markDoc{ID: mdb.PairKey(post.ID, user.ID), User: user, Kind: kind}, e})
}

// PutVote implements social.Posts.
func (s *Store) PutVote(ctx context.Context, post social.PostID, user social.UserID, option int, e social.Event) error {
	return s.newVotes.Do(ctx, post.ID, &newMark{markDoc{ID: mdb.PairKey(post.ID, user.ID), User: user, Option: option}, e})
}

// putMarks stores marks in the place of the users' earlier ones, and counts them, as a part of a
// transaction. It returns ErrNotFound if a post or a poll's option is missing.
func (s *Store) putMarks(ctx context.Context, kind markKind, marks []*newMark) error {
	before, err := s.replaceMarks(ctx, kind, marks)
	if err != nil {
		return err
	}
	var updates []mongo.WriteModel
	var posts []social.PostID
	var events []social.Event
	for _, onPost := range batch.Runs(marks, func(m **newMark) social.PostID { return (*m).post() }) {
		post, counts := onPost[0].post(), map[string]int{}
		for _, m := range onPost {
			old, had := before[string(m.ID.Data)]
			if had && kind.counter(&old) == kind.counter(&m.markDoc) {
				continue
			}
			if had {
				counts[kind.counter(&old)]--
			}
			counts[kind.counter(&m.markDoc)]++
			events = append(events, m.event)
		}
		if len(counts) > 0 {
			posts, updates = append(posts, post), append(updates, kind.counting(post, counts))
		}
	}
	if len(updates) == 0 {
		return nil
	}
	result, err := s.posts.BulkWrite(ctx, updates, options.BulkWrite().SetOrdered(false))
	if err != nil {
		return err
	}
	if result.MatchedCount < int64(len(updates)) {
		return social.ErrNotFound
	}
	if err := s.feeds.PostsChanged(ctx, posts...); err != nil {
		return err
	}
	return s.log.Append(ctx, events...)
}

// counting returns the update that adds to counters of a post.
func (k markKind) counting(post social.PostID, counts map[string]int) mongo.WriteModel {
	filter, add := mdb.Doc("_id", post), mdb.Doc("changes", 1)
	for _, counter := range slices.Sorted(maps.Keys(counts)) {
		if k.fixed {
			filter = append(filter, bson.E{Key: counter, Value: mdb.Doc("$exists", true)})
		}
		add = append(add, bson.E{Key: counter, Value: counts[counter]})
	}
	return mongo.NewUpdateOneModel().SetFilter(filter).SetUpdate(mdb.Doc("$inc", add))
}

// replaceMarks stores marks, and returns the previous ones, by their _ids. It returns mdb.ErrApart
// for two marks of one user on one post.
func (s *Store) replaceMarks(ctx context.Context, kind markKind, marks []*newMark) (map[string]markDoc, error) {
	before := make(map[string]markDoc, len(marks))
	if len(marks) == 1 {
		d, err := s.putMark(ctx, kind, &marks[0].markDoc)
		if d != nil {
			before[string(d.ID.Data)] = *d
		}
		return before, err
	}
	keys := mdb.Map(marks, func(m **newMark) bson.Binary { return (*m).ID })
	if len(batch.Unique(mdb.Map(keys, func(k *bson.Binary) string { return string(k.Data) }))) < len(marks) {
		return nil, mdb.ErrApart
	}
	docs, err := mdb.FindIn[markDoc](ctx, kind.of, "_id", keys, options.Find().SetHint(mdb.Doc("_id", 1)))
	if err != nil {
		return nil, err
	}
	for _, d := range docs {
		before[string(d.ID.Data)] = d
	}
	_, err = kind.of.BulkWrite(ctx, mdb.Map(marks, func(m **newMark) mongo.WriteModel {
		return mongo.NewUpdateOneModel().SetFilter(mdb.Doc("_id", (*m).ID)).SetUpdate(s.setMark(kind, &(*m).markDoc)).SetUpsert(true)
	}), options.BulkWrite().SetOrdered(false))
	return before, mdb.OrRetry(err)
}

// putMark stores a mark, and returns the user's previous one, or nil.
func (s *Store) putMark(ctx context.Context, kind markKind, d *markDoc) (*markDoc, error) {
	var before markDoc
	err := kind.of.FindOneAndUpdate(ctx, mdb.Doc("_id", d.ID), s.setMark(kind, d), options.FindOneAndUpdate().SetUpsert(true)).Decode(&before)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil, nil
	}
	return &before, mdb.OrRetry(err)
}

func (s *Store) setMark(kind markKind, d *markDoc) bson.D {
	return mdb.Doc("$set", append(mdb.Doc("v", s.writes(kind.of.Name()), "user", d.User), kind.value(d)))
}

// countMark updates the count of a post after a user's mark has come or gone.
func (s *Store) countMark(ctx context.Context, kind markKind, d *markDoc, by int, e social.Event) error {
	if err := mdb.UpdateOne(ctx, s.posts, mdb.Doc("_id", d.post()), mdb.Doc("$inc", mdb.Doc(kind.counter(d), by, "changes", 1))); err != nil {
		return err
	}
	if err := s.feeds.PostsChanged(ctx, d.post()); err != nil {
		return err
	}
	return s.log.Append(ctx, e)
}

// DeleteReaction implements social.Posts.
func (s *Store) DeleteReaction(ctx context.Context, post social.PostID, user social.UserID, e social.Event) error {
	return s.db.Write(ctx, "delete reaction", []id.ID{post.ID}, func(ctx context.Context) error {
		var before markDoc
		err := mdb.OrNotFound(s.reactions.FindOneAndDelete(ctx, mdb.Doc("_id", mdb.PairKey(post.ID, user.ID))).Decode(&before))
		if errors.Is(err, social.ErrNotFound) {
			return s.postExists(ctx, post)
		}
		if err != nil {
			return err
		}
		return s.countMark(ctx, s.reactionKind(), &before, -1, e)
	})
}

// MuteThread implements social.Posts.
func (s *Store) MuteThread(ctx context.Context, post social.PostID, user social.UserID, e social.Event) (muted bool, err error) {
	err = s.db.Write(ctx, "mute thread", []id.ID{post.ID}, func(ctx context.Context) error {
		muted = false
		mark := &markDoc{ID: mdb.PairKey(post.ID, user.ID), User: user, Mutes: true}
		before, err := s.putMark(ctx, s.muteKind(), mark)
		if err != nil {
			return err
		}
		if before != nil {
			return s.postExists(ctx, post)
		}
		muted = true
		return s.countMark(ctx, s.muteKind(), mark, 1, e)
	})
	return muted && err == nil, err
}

// UnmuteThread implements social.Posts.
func (s *Store) UnmuteThread(ctx context.Context, post social.PostID, user social.UserID, e social.Event) (unmuted bool, err error) {
	err = s.db.Write(ctx, "unmute thread", []id.ID{post.ID}, func(ctx context.Context) error {
		unmuted = false
		mark := &markDoc{ID: mdb.PairKey(post.ID, user.ID)}
		result, err := s.threadMutes.DeleteOne(ctx, mdb.Doc("_id", mark.ID))
		if err != nil {
			return err
		}
		if result.DeletedCount == 0 {
			return s.postExists(ctx, post)
		}
		unmuted = true
		return s.countMark(ctx, s.muteKind(), mark, -1, e)
	})
	return unmuted && err == nil, err
}

// MutedThreads implements social.Posts.
func (s *Store) MutedThreads(ctx context.Context, mutes []social.ThreadMute) (map[social.ThreadMute]bool, error) {
	keys := mdb.Map(mutes, func(m *social.ThreadMute) bson.Binary { return mdb.PairKey(m.Post.ID, m.User.ID) })
	all := make(map[social.ThreadMute]bool)
	err := s.marks(ctx, "muted threads", s.threadMutes, keys, func(d *markDoc) { all[social.ThreadMute{Post: d.post(), User: d.User}] = d.Mutes })
	return all, err
}

// Votes implements social.Posts.
func (s *Store) Votes(ctx context.Context, user social.UserID, posts []social.PostID) (map[social.PostID]int, error) {
	all := make(map[social.PostID]int)
	err := s.marks(ctx, "votes", s.votes, markKeys(user, posts), func(d *markDoc) { all[d.post()] = d.Option })
	return all, err
}

// Reactions implements social.Posts.
func (s *Store) Reactions(ctx context.Context, user social.UserID, posts []social.PostID) (map[social.PostID]social.ReactionKind, error) {
	all := make(map[social.PostID]social.ReactionKind)
	err := s.marks(ctx, "reactions", s.reactions, markKeys(user, posts), func(d *markDoc) { all[d.post()] = d.Kind })
	return all, err
}

// markKeys returns the keys of a user's marks at posts.
func markKeys(user social.UserID, posts []social.PostID) []bson.Binary {
	return mdb.Map(posts, func(post *social.PostID) bson.Binary { return mdb.PairKey(post.ID, user.ID) })
}

func (s *Store) marks(ctx context.Context, op string, c *mongo.Collection, keys []bson.Binary, take func(*markDoc)) error {
	return s.db.Read(ctx, op, func(ctx context.Context) error {
		docs, err := mdb.FindIn[markDoc](ctx, c, "_id", keys)
		for i := range docs {
			take(&docs[i])
		}
		return err
	})
}
