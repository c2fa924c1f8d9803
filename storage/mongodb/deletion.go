package mongodb

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/id"
	"plaza/social"
)

// The jobs that remove what Author, who has deleted their account, has left behind, some at each attempt.
const (
	jobDelete jobKind = "delete user"
	// jobSweep is the same once more, when nothing can be under way any more that began before the deletion.
	jobSweep jobKind = "sweep user"
)

const (
	// cutTogether is how many edges are removed in one transaction, and moveTogether how many posts are moved or marks taken back.
	cutTogether  = 500
	moveTogether = 50
	// emptiedTogether is how much of what hangs on a deleted user's post is removed at once, and fullPost from how much on that is
	// not left to the post's own transaction.
	emptiedTogether = 1_000
	fullPost        = 500
)

// goneKey is the edge that says that somebody has deleted their account. It stays for good, and is read with the edges of every
// relation, in the same command.
func goneKey(user social.UserID) bson.D { return edgeKey(user, user) }

func deletionID(user social.UserID) jobID {
	return jobID{id.Derive(user.ID.Time(), string(jobDelete)+user.ID.String())}
}

// DeleteUser implements social.Users.
func (s *Store) DeleteUser(ctx context.Context, user social.UserID, e social.Event) error {
	return s.write(ctx, "delete user", []id.ID{user.ID}, func(ctx context.Context) error {
		var d userDoc
		if err := found(s.users.FindOneAndDelete(ctx, doc("_id", user)).Decode(&d)); err != nil {
			return err
		}
		if _, err := s.handles.DeleteOne(ctx, doc("_id", d.Handle, "user", user)); err != nil {
			return err
		}
		mark := doc("$set", doc("v", version, "gone", true))
		if _, err := s.edges.UpdateOne(ctx, goneKey(user), mark, options.UpdateOne().SetUpsert(true)); err != nil {
			return upserted(err)
		}
		if err := s.endSessions(ctx, user); err != nil {
			return err
		}
		now := time.Now()
		s.jobs.made.Add(1)
		_, err := s.jobs.jobs.InsertOne(ctx, jobDoc{ID: deletionID(user), Version: version, Kind: jobDelete, Author: user, MadeAt: now, Due: now})
		if err != nil {
			return err
		}
		return s.append(ctx, e)
	})
}

// endSessions removes all of a user's sessions, each with its event.
func (s *Store) endSessions(ctx context.Context, user social.UserID) error {
	sessions, err := findAll[sessionDoc](ctx, s.sessions, doc("user", user), inBatch, options.Find().SetHint(byUser))
	if err != nil || len(sessions) == 0 {
		return err
	}
	events := each(sessions, func(d *sessionDoc) any {
		e := newEventDoc(&social.Event{ID: social.EventID{ID: id.New()}, Kind: social.EventSessionEnded, Actor: user})
		e.Session = &d.TokenHash
		return e
	})
	tokens := each(sessions, func(d *sessionDoc) bson.Binary { return d.TokenHash })
	if _, err := s.sessions.DeleteMany(ctx, doc("_id", doc("$in", tokens))); err != nil {
		return err
	}
	_, err = s.events.InsertMany(ctx, events)
	return err
}

// IsDeleting implements social.Users.
func (s *Store) IsDeleting(ctx context.Context, user social.UserID) (deleting bool, err error) {
	err = s.read(ctx, "is user being deleted", func(ctx context.Context) error {
		err := s.jobs.jobs.FindOne(ctx, doc("_id", deletionID(user)), options.FindOne().SetProjection(doc("_id", 1))).Err()
		deleting = err == nil
		if errors.Is(err, mongo.ErrNoDocuments) {
			return nil
		}
		return err
	})
	return deleting, err
}

// gone are those of the users who have deleted their accounts.
func (s *Store) gone(ctx context.Context, users []social.UserID) (map[social.UserID]bool, error) {
	keys := each(users, func(user *social.UserID) bson.Binary { return pairKey(user.ID, user.ID) })
	gone := map[social.UserID]bool{}
	for i := 0; i < len(keys); i += inBatch {
		some := min(i+inBatch, len(keys))
		filter := doc("_id", doc("$in", binaryList(keys[i:some])), "owner", doc("$in", valueList(users[i:some])))
		docs, err := findAll[edgeDoc](ctx, s.edges, filter, 1, options.Find().SetHint(doc("_id", 1)))
		if err != nil {
			return nil, err
		}
		for j := range docs {
			gone[docs[j].Owner] = docs[j].Gone
		}
	}
	return gone, nil
}

// removals each remove some of what a deleted user has left behind, and say whether they have found anything. What is left to do is not recorded but read,
// so that doing anything twice changes nothing. Follows go first: when the posts go, they are in nobody's feeds any more.
func (s *Store) removals() []func(context.Context, social.UserID) (did bool, err error) {
	return []func(context.Context, social.UserID) (bool, error){
		s.cutEdgesTo, s.cutEdgesOf, s.deletePostBy, s.movePostsOn, s.eraseCommentsBy, s.takeBackMarks,
	}
}

// deleteLeft does a part of jobDelete or jobSweep.
func (s *Store) deleteLeft(ctx context.Context, j *jobDoc) error {
	deadline := time.Now().Add(s.erasing.inJob)
	for did := true; did; { // until a whole round finds nothing: somebody may write while it goes on
		did = false
		for _, remove := range s.removals() {
			for {
				some, err := remove(ctx, j.Author)
				if err != nil {
					return err
				}
				if !some {
					break
				}
				did = true
				if time.Now().After(deadline) {
					return errMoreWork
				}
			}
		}
	}
	if err := s.deleteOwn(ctx, j.Author); err != nil || j.Kind == jobSweep {
		return err
	}
	return s.jobs.addSweep(ctx, j, 2*s.transactionLife)
}

// addSweep stores the job that looks again. Calls end some seconds after they began, and the transactions of killed servers after their life.
func (q *jobQueue) addSweep(ctx context.Context, from *jobDoc, after time.Duration) error {
	j := jobDoc{
		ID: jobID{id.Derive(from.ID.Time(), string(jobSweep)+from.Author.ID.String())}, Version: version, Kind: jobSweep, Author: from.Author,
		MadeAt: from.MadeAt, Due: time.Now().Add(after),
	}
	_, err := q.jobs.InsertOne(ctx, j)
	if mongo.IsDuplicateKeyError(err) {
		return nil
	}
	return err
}

// cutEdgesTo removes some of the edges that lead to the user, follows with all counts.
func (s *Store) cutEdgesTo(ctx context.Context, user social.UserID) (did bool, err error) {
	return s.cutEdges(ctx, doc("other", user, "owner", doc("$ne", user)), byOther, func(ctx context.Context, follows []edgeDoc) error {
		owners := each(follows, func(d *edgeDoc) social.UserID { return d.Owner })
		if err := s.countMany(ctx, owners, "following"); err != nil {
			return err
		}
		var circles []social.CircleID
		for i := range follows {
			circles = append(circles, follows[i].Circles...)
		}
		if err := s.uncountMembers(ctx, circles, owners...); err != nil {
			return err
		}
		return s.feeds.followsChanged(ctx, owners...)
	})
}

// cutEdgesOf removes some of the user's own edges. Their circles and feeds go as a whole.
func (s *Store) cutEdgesOf(ctx context.Context, user social.UserID) (did bool, err error) {
	own := doc("_id", pairRange(user.ID), "owner", user, "other", doc("$ne", user))
	return s.cutEdges(ctx, own, "_id_", func(ctx context.Context, follows []edgeDoc) error {
		return s.countMany(ctx, each(follows, func(d *edgeDoc) social.UserID { return d.Other }), "followers")
	})
}

func (s *Store) cutEdges(ctx context.Context, which bson.D, hint string, uncount func(context.Context, []edgeDoc) error) (did bool, err error) {
	err = s.write(ctx, "cut edges", nil, func(ctx context.Context) error {
		edges, err := findAll[edgeDoc](ctx, s.edges, which, cutTogether, options.Find().SetLimit(cutTogether).SetHint(hint))
		if did = len(edges) > 0; err != nil || !did {
			return err
		}
		keys := each(edges, func(d *edgeDoc) bson.Binary { return d.ID })
		owners := each(edges, func(d *edgeDoc) social.UserID { return d.Owner })
		if _, err := s.edges.DeleteMany(ctx, doc("_id", doc("$in", binaryList(keys)), "owner", doc("$in", valueList(owners)))); err != nil {
			return err
		}
		if err := s.graph.followsChanged(ctx, ended(edges...)...); err != nil {
			return err
		}
		follows := slices.DeleteFunc(edges, func(d edgeDoc) bool { return d.Follow.IsZero() })
		if len(follows) == 0 {
			return nil
		}
		return uncount(ctx, follows)
	})
	return did && err == nil, err
}

// countMany counts one less for each of the users who are there.
func (s *Store) countMany(ctx context.Context, users []social.UserID, field string) error {
	_, err := s.users.UpdateMany(ctx, doc("_id", doc("$in", valueList(users))), doc("$inc", doc(field, -1)))
	return err
}

// deletePostBy removes one of the user's posts. Nobody sees it any more, so what hangs on it may go in parts, if it is much.
func (s *Store) deletePostBy(ctx context.Context, user social.UserID) (did bool, err error) {
	var d postDoc
	err = s.read(ctx, "post of a deleted user", func(ctx context.Context) error {
		one := options.FindOne().SetHint(byAuthor).SetProjection(doc("commentCount", 1, "reactions", 1, "votes", 1, "muters", 1, "wallOwner", 1))
		return found(s.posts.FindOne(ctx, doc("author", user), one).Decode(&d))
	})
	if errors.Is(err, social.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if d.hangingOn() > fullPost {
		err = s.read(ctx, "empty post", func(ctx context.Context) error {
			did, err = s.emptyPost(ctx, d.ID)
			return err
		})
		if did || err != nil {
			return did, err
		}
	}
	e := social.Event{ID: social.EventID{ID: id.New()}, Kind: social.EventPostDeleted, Post: d.ID}
	if d.WallOwner != user {
		e.Target = d.WallOwner
	}
	err = s.DeletePost(ctx, d.ID, e)
	if errors.Is(err, social.ErrNotFound) {
		err = nil
	}
	return true, err
}

// hangingOn is about how many documents hang on a post.
func (d *postDoc) hangingOn() int {
	n := d.CommentCount + d.Muters
	for _, reactions := range d.Reactions {
		n += reactions
	}
	for _, votes := range d.Votes {
		n += votes
	}
	return n
}

// emptyPost removes a part of what hangs on a post that nobody sees any more.
func (s *Store) emptyPost(ctx context.Context, post social.PostID) (did bool, err error) {
	for _, c := range []*mongo.Collection{s.reactions, s.votes, s.threadMutes} {
		marks, err := findAll[markDoc](ctx, c, doc("_id", pairRange(post.ID)), emptiedTogether, options.Find().SetLimit(emptiedTogether).SetHint("_id_"))
		if err != nil {
			return did, err
		}
		if len(marks) == 0 {
			continue
		}
		did = true
		if _, err := c.DeleteMany(ctx, doc("_id", doc("$in", binaryList(each(marks, func(d *markDoc) bson.Binary { return d.ID }))))); err != nil {
			return did, err
		}
	}
	some, err := s.threads.removePart(ctx, post, emptiedTogether)
	return did || some, err
}

// movePostsOn moves some of the posts by others on the user's wall to their authors' walls. An edit that is under way meets another revision.
func (s *Store) movePostsOn(ctx context.Context, user social.UserID) (did bool, err error) {
	err = s.write(ctx, "move posts", nil, func(ctx context.Context) error {
		posts, err := findAll[postDoc](ctx, s.posts, doc("wallOwner", user, "author", doc("$ne", user)), moveTogether,
			options.Find().SetLimit(moveTogether).SetHint(byWall).SetProjection(doc("author", 1)))
		if did = len(posts) > 0; err != nil || !did {
			return err
		}
		models := each(posts, func(d *postDoc) mongo.WriteModel {
			return mongo.NewUpdateOneModel().SetFilter(doc("_id", d.ID)).SetUpdate(doc(
				"$set", doc("wallOwner", d.Author), "$inc", doc("revision", 1, "changes", 1), "$pull", doc("inbox", inboxKey('w', user.ID))))
		})
		if _, err := s.posts.BulkWrite(ctx, models, options.BulkWrite().SetOrdered(false)); err != nil {
			return err
		}
		for i := range posts {
			if err := s.feeds.postMoved(ctx, posts[i].ID); err != nil {
				return err
			}
		}
		return nil
	})
	return did && err == nil, err
}

// lastComment is greater than all ids of comments, and there is another id behind it.
var lastComment = func() social.CommentID {
	last := social.CommentID(lastUser)
	last.ID[len(last.ID)-1]--
	return last
}()

// eraseCommentsBy erases comments for as long as an attempt may take.
func (s *Store) eraseCommentsBy(ctx context.Context, user social.UserID) (did bool, err error) {
	return s.eraseFor(ctx, s.erasing.inJob, user, lastComment)
}

// takeBackMarks takes some of the user's reactions, votes or muted threads back, with their counts.
func (s *Store) takeBackMarks(ctx context.Context, user social.UserID) (did bool, err error) {
	for c, field := range s.markFields() {
		if did, err = s.nameMarks(ctx, c); did || err != nil {
			return did, err
		}
		err = s.write(ctx, "take marks back", nil, func(ctx context.Context) error {
			marks, err := findAll[markDoc](ctx, c, doc("user", user), moveTogether, options.Find().SetLimit(moveTogether).SetHint(byUser))
			if did = len(marks) > 0; err != nil || !did {
				return err
			}
			return s.uncountMarks(ctx, c, marks, field)
		})
		if did || err != nil {
			return did && err == nil, err
		}
	}
	return false, nil
}

// markFields say where a post counts each kind of mark.
func (s *Store) markFields() map[*mongo.Collection]func(*markDoc) string {
	return map[*mongo.Collection]func(*markDoc) string{
		s.reactions:   func(d *markDoc) string { return reactionField(d.Kind) },
		s.votes:       func(d *markDoc) string { return voteField(d.Option) },
		s.threadMutes: func(*markDoc) string { return "muters" },
	}
}

// uncountMarks removes marks, and counts them less at their posts.
func (s *Store) uncountMarks(ctx context.Context, c *mongo.Collection, marks []markDoc, field func(*markDoc) string) error {
	keys := each(marks, func(d *markDoc) bson.Binary { return d.ID })
	if _, err := c.DeleteMany(ctx, doc("_id", doc("$in", binaryList(keys)))); err != nil {
		return err
	}
	models := each(marks, func(d *markDoc) mongo.WriteModel {
		return mongo.NewUpdateOneModel().SetFilter(doc("_id", d.post())).SetUpdate(doc("$inc", doc(field(d), -1, "changes", 1)))
	})
	if _, err := s.posts.BulkWrite(ctx, models, options.BulkWrite().SetOrdered(false)); err != nil {
		return err
	}
	for i := range marks {
		if err := s.feeds.postChanged(ctx, marks[i].post()); err != nil {
			return err
		}
	}
	return nil
}

// nameMarks gives some marks of version 1 their user, by whom they are found, and says whether there were any.
func (s *Store) nameMarks(ctx context.Context, c *mongo.Collection) (did bool, err error) {
	err = s.read(ctx, "name marks", func(ctx context.Context) error {
		marks, err := findAll[markDoc](ctx, c, doc("user", nil), cutTogether, options.Find().SetLimit(cutTogether).SetHint(byUser))
		if did = len(marks) > 0; err != nil || !did {
			return err
		}
		models := each(marks, func(d *markDoc) mongo.WriteModel {
			return mongo.NewUpdateOneModel().SetFilter(doc("_id", d.ID)).SetUpdate(doc("$set", doc("v", marksVersion, "user", d.User)))
		})
		_, err = c.BulkWrite(ctx, models, options.BulkWrite().SetOrdered(false))
		return err
	})
	return did && err == nil, err
}

// deleteOwn removes what nobody else has a part in.
func (s *Store) deleteOwn(ctx context.Context, user social.UserID) error {
	return s.read(ctx, "delete what is a deleted user's own", func(ctx context.Context) error {
		if _, err := s.circles.DeleteMany(ctx, doc("owner", user), options.DeleteMany().SetHint(byOwnerID)); err != nil {
			return err
		}
		if _, err := s.profiles.DeleteOne(ctx, doc("_id", user)); err != nil {
			return err
		}
		if _, err := s.sessions.DeleteMany(ctx, doc("user", user), options.DeleteMany().SetHint(byUser)); err != nil {
			return err
		}
		if _, err := s.jobs.jobs.DeleteOne(ctx, doc("_id", eraseID(user))); err != nil {
			return err
		}
		return s.feeds.forget(ctx, user)
	})
}
