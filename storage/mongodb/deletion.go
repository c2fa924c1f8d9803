package mongodb

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/internal/mdb"
)

// The jobs that remove what belonged to Author, who has deleted their account. Each attempt removes
// a part.
const (
	jobDelete jobs.Kind = "delete user"
	// jobSweep does the same a second time, when every call that began before the deletion must
	// have ended.
	jobSweep jobs.Kind = "sweep user"
)

const (
	// One transaction removes up to cutTogether edges, and moves up to moveTogether posts or
	// removes as many marks.
	cutTogether  = 500
	moveTogether = 50
	// emptiedTogether is how many documents that belong to a deleted user's post are removed in one
	// step. A post with more than fullPost of them is emptied in steps, not in the transaction that
	// deletes it.
	emptiedTogether = 1_000
	fullPost        = 500
)

func deletionID(user social.UserID) jobs.ID {
	return jobs.ID{ID: id.Derive(user.ID.Time(), string(jobDelete)+user.ID.String())}
}

// deletions starts the removal of what belonged to deleted users.
type deletions struct{ s *Store }

// Begin implements users.Deletion.
func (d deletions) Begin(ctx context.Context, user social.UserID) error {
	if err := d.s.graph.MarkGone(ctx, user); err != nil {
		return err
	}
	now := d.s.Now()
	return d.s.jobs.AddAs(ctx, jobs.Job{ID: deletionID(user), Kind: jobDelete, Author: user, MadeAt: now, Due: now})
}

// IsUnderWay implements users.Deletion.
func (d deletions) IsUnderWay(ctx context.Context, user social.UserID) (is bool, err error) {
	err = d.s.db.Read(ctx, "is user being deleted", func(ctx context.Context) error {
		_, err := d.s.jobs.Find(ctx, deletionID(user))
		is = err == nil
		if errors.Is(err, social.ErrNotFound) {
			return nil
		}
		return err
	})
	return is, err
}

// deletion is one attempt at removing what belonged to a user. It finds out what is left to do by
// reading, not from a record, so repeating a step does no harm.
type deletion struct {
	*Store

	user     social.UserID
	together int // the most edges to remove in one transaction: fewer after attempts that met many conflicts
}

// removals are the steps. Each removes a part, and returns whether there may be more. Follows come
// first, so that the posts are in no other user's news when they are deleted.
func (d deletion) removals() []func(context.Context) (did bool, err error) {
	return []func(context.Context) (bool, error){
		d.cutEdgesTo, d.cutEdgesOf, d.deletePost, d.movePosts, d.eraseComments, d.takeBackMarks,
		func(ctx context.Context) (bool, error) { return d.notifications.ForgetActs(ctx, d.user) },
		func(ctx context.Context) (bool, error) { return d.moderation.Forget(ctx, d.user) },
		func(ctx context.Context) (bool, error) { return d.ads.ForgetUser(ctx, d.user.String()) },
	}
}

// deleteLeft does a part of jobDelete or jobSweep.
func (s *Store) deleteLeft(ctx context.Context, j *jobs.Job) error {
	d := deletion{Store: s, user: j.Author, together: max(1, cutTogether>>max(0, j.Attempts-1))}
	deadline := time.Now().Add(s.erasing.inJob)
	for did := true; did; { // until a whole round finds nothing: calls that began earlier can still write
		did = false
		for _, remove := range d.removals() {
			some, err := d.removeUntil(ctx, deadline, remove)
			if err != nil {
				return err
			}
			did = did || some
		}
	}
	if err := d.deleteOwn(ctx); err != nil || j.Kind == jobSweep {
		return err
	}
	return s.addSweep(ctx, j, 2*s.transactionLife)
}

// removeUntil repeats a step until nothing is left, or until the deadline.
func (d deletion) removeUntil(ctx context.Context, deadline time.Time, remove func(context.Context) (bool, error)) (did bool, err error) {
	for {
		some, err := remove(ctx)
		if err != nil || !some {
			return did, err
		}
		did = true
		if time.Now().After(deadline) {
			return did, jobs.ErrMore
		}
	}
}

// addSweep stores the job that looks a second time. By then all calls have timed out, and MongoDB
// has ended the transactions of servers that were killed.
func (s *Store) addSweep(ctx context.Context, from *jobs.Job, after time.Duration) error {
	due := s.Now().Add(after)
	return s.jobs.AddOnce(ctx, jobs.Job{
		ID: jobs.ID{ID: id.Derive(from.ID.Time(), string(jobSweep)+from.Author.ID.String())}, Kind: jobSweep, Author: from.Author,
		MadeAt: due, Due: due,
	})
}

// cutEdgesTo removes some of the edges that lead to the user.
func (d deletion) cutEdgesTo(ctx context.Context) (did bool, err error) {
	return d.graph.CutEdgesTo(ctx, d.user, d.together)
}

// cutEdgesOf removes some of the user's own edges.
func (d deletion) cutEdgesOf(ctx context.Context) (did bool, err error) {
	return d.graph.CutEdgesOf(ctx, d.user, d.together)
}

// deletePost removes one of the user's posts. It is already invisible, so what belongs to it may
// be removed in several steps.
func (d deletion) deletePost(ctx context.Context) (did bool, err error) {
	var p postDoc
	err = d.db.Read(ctx, "post of a deleted user", func(ctx context.Context) error {
		one := options.FindOne().SetHint(byAuthor).SetProjection(mdb.Doc("commentCount", 1, "reactions", 1, "votes", 1, "muters", 1))
		return mdb.OrNotFound(d.posts.FindOne(ctx, mdb.Doc("author", d.user), one).Decode(&p))
	})
	if errors.Is(err, social.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if p.countDependents() > fullPost {
		err = d.db.Read(ctx, "empty post", func(ctx context.Context) error {
			did, err = d.emptyPost(ctx, p.ID)
			return err
		})
		if did || err != nil {
			return did, err
		}
	}
	err = d.db.Write(ctx, "delete post", []id.ID{p.ID.ID}, func(ctx context.Context) error {
		if _, err := d.takePost(ctx, p.ID); err != nil {
			return err
		}
		return d.log.Append(ctx, social.NewPostErased(p.ID))
	})
	if errors.Is(err, social.ErrNotFound) {
		err = nil
	}
	return true, err
}

// countDependents estimates how many documents belong to a post.
func (d *postDoc) countDependents() int {
	n := d.CommentCount + d.Muters
	for _, reactions := range d.Reactions {
		n += reactions
	}
	for _, votes := range d.Votes {
		n += votes
	}
	return n
}

// emptyPost removes a part of what belongs to a post that is already invisible.
func (d deletion) emptyPost(ctx context.Context, post social.PostID) (did bool, err error) {
	for _, c := range []*mongo.Collection{d.reactions, d.votes, d.threadMutes} {
		marks, err := mdb.FindAll[markDoc](ctx, c, mdb.Doc("_id", mdb.PairRange(post.ID)), emptiedTogether, options.Find().SetLimit(emptiedTogether).SetHint("_id_"))
		if err != nil {
			return did, err
		}
		if len(marks) == 0 {
			continue
		}
		did = true
		if _, err := c.DeleteMany(ctx, mdb.Doc("_id", mdb.Doc("$in", mdb.Values(mdb.Map(marks, func(m *markDoc) bson.Binary { return m.ID }))))); err != nil {
			return did, err
		}
	}
	some, err := d.threads.RemovePart(ctx, post, emptiedTogether)
	return did || some, err
}

// movePosts moves some of the posts that others wrote on the user's wall to their authors' walls.
// It changes the revision, so a concurrent edit fails and runs again.
func (d deletion) movePosts(ctx context.Context) (did bool, err error) {
	err = d.db.Write(ctx, "move posts", nil, func(ctx context.Context) error {
		few := min(moveTogether, d.together)
		posts, err := mdb.FindAll[postDoc](ctx, d.posts, mdb.Doc("wallOwner", d.user, "author", mdb.Doc("$ne", d.user)), few,
			options.Find().SetLimit(int64(few)).SetHint(byWall).SetProjection(mdb.Doc("author", 1, "audience", 1)))
		if did = len(posts) > 0; err != nil || !did {
			return err
		}
		if _, err := d.posts.BulkWrite(ctx, mdb.Map(posts, toAuthorsWall), options.BulkWrite().SetOrdered(false)); err != nil {
			return err
		}
		for i := range posts {
			if err := d.feeds.PostMoved(ctx, posts[i].ID); err != nil {
				return err
			}
		}
		return d.log.Append(ctx, mdb.Map(posts, func(p *postDoc) social.Event { return social.NewPostReduced(p.ID) })...)
	})
	return did && err == nil, err
}

// toAuthorsWall moves a post to the wall of its author.
func toAuthorsWall(p *postDoc) mongo.WriteModel {
	inbox := inboxOf(&social.Post{Author: p.Author, WallOwner: p.Author, Audience: social.Audience(p.Audience)})
	set, unset := setOrUnset(mdb.Doc("wallOwner", p.Author), nil, "inbox", inbox, len(inbox) > 0)
	update := mdb.Doc("$set", set, "$inc", mdb.Doc("revision", 1, "changes", 1))
	if len(unset) > 0 {
		update = append(update, bson.E{Key: "$unset", Value: unset})
	}
	return mongo.NewUpdateOneModel().SetFilter(mdb.Doc("_id", p.ID)).SetUpdate(update)
}

// lastComment is greater than the ids of all comments, but not the greatest id.
var lastComment = func() social.CommentID {
	last := social.CommentID{ID: mdb.LastID}
	last.ID[len(last.ID)-1]--
	return last
}()

// eraseComments erases comments for as long as an attempt may take.
func (d deletion) eraseComments(ctx context.Context) (did bool, err error) {
	return d.eraseFor(ctx, d.erasing.inJob, d.user, lastComment, social.UserID{})
}

// takeBackMarks removes some of the user's reactions, votes or muted threads, and updates the
// counts.
func (d deletion) takeBackMarks(ctx context.Context) (did bool, err error) {
	for _, kind := range []markKind{d.reactionKind(), d.voteKind(), d.muteKind()} {
		if did, err = d.nameMarks(ctx, kind.of); did || err != nil {
			return did, err
		}
		err = d.db.Write(ctx, "take marks back", nil, func(ctx context.Context) error {
			few := min(moveTogether, d.together)
			marks, err := mdb.FindAll[markDoc](ctx, kind.of, mdb.Doc("user", d.user), few, options.Find().SetLimit(int64(few)).SetHint(byUserID))
			if did = len(marks) > 0; err != nil || !did {
				return err
			}
			return d.uncountMarks(ctx, kind, marks)
		})
		if did || err != nil {
			return did && err == nil, err
		}
	}
	return false, nil
}

// uncountMarks removes marks, and subtracts them from the counts of their posts.
func (d deletion) uncountMarks(ctx context.Context, kind markKind, marks []markDoc) error {
	keys := mdb.Map(marks, func(m *markDoc) bson.Binary { return m.ID })
	if _, err := kind.of.DeleteMany(ctx, mdb.Doc("_id", mdb.Doc("$in", mdb.Values(keys)))); err != nil {
		return err
	}
	models := mdb.Map(marks, func(m *markDoc) mongo.WriteModel {
		return mongo.NewUpdateOneModel().SetFilter(mdb.Doc("_id", m.post())).SetUpdate(mdb.Doc("$inc", mdb.Doc(kind.counter(m), -1, "changes", 1)))
	})
	if _, err := d.posts.BulkWrite(ctx, models, options.BulkWrite().SetOrdered(false)); err != nil {
		return err
	}
	if err := d.feeds.PostsChanged(ctx, mdb.Map(marks, (*markDoc).post)...); err != nil || kind.secret {
		return err
	}
	return d.log.Append(ctx, mdb.Map(marks, func(m *markDoc) social.Event { return social.NewPostReduced(m.post()) })...)
}

// nameMarks adds the user to some marks of version 1, so that they can be found by user, and
// returns whether there were any.
func (d deletion) nameMarks(ctx context.Context, c *mongo.Collection) (did bool, err error) {
	err = d.db.Read(ctx, "name marks", func(ctx context.Context) error {
		marks, err := mdb.FindAll[markDoc](ctx, c, mdb.Doc("user", nil), cutTogether, options.Find().SetLimit(cutTogether).SetHint(byUserID))
		if did = len(marks) > 0; err != nil || !did {
			return err
		}
		models := mdb.Map(marks, func(m *markDoc) mongo.WriteModel {
			return mongo.NewUpdateOneModel().SetFilter(mdb.Doc("_id", m.ID)).SetUpdate(mdb.Doc("$set", mdb.Doc("v", d.writes(c.Name()), "user", m.User)))
		})
		_, err = c.BulkWrite(ctx, models, options.BulkWrite().SetOrdered(false))
		return err
	})
	return did && err == nil, err
}

// deleteOwn removes what belongs only to the user. It ends the sessions too, because a sign-in may
// have created one since the deletion.
func (d deletion) deleteOwn(ctx context.Context) error {
	err := d.db.Write(ctx, "end sessions", nil, func(ctx context.Context) error { return d.users.EndAllSessions(ctx, d.user) })
	if err != nil {
		return err
	}
	return d.db.Read(ctx, "delete what is a deleted user's own", func(ctx context.Context) error {
		if err := d.graph.ForgetCircles(ctx, d.user); err != nil {
			return err
		}
		if err := d.profiles.Forget(ctx, d.user); err != nil {
			return err
		}
		if err := d.jobs.Remove(ctx, eraseID(d.user)); err != nil {
			return err
		}
		if err := d.notifications.ForgetRecipient(ctx, d.user); err != nil {
			return err
		}
		if err := d.keys.Forget(ctx, d.user); err != nil {
			return err
		}
		if err := d.users.ForgetEmail(ctx, d.user); err != nil {
			return err
		}
		if err := d.users.ForgetInvitations(ctx, d.user); err != nil {
			return err
		}
		if err := d.log.ForgetChanges(ctx); err != nil {
			return err
		}
		return d.feeds.Forget(ctx, d.user)
	})
}
