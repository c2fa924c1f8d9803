package threads

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"golang.org/x/sync/errgroup"

	"plaza/fault"
	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/indexes"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/migrate"
)

// Mover moves comment threads. It copies each post's thread in one transaction, which also records
// in the post where the thread is stored from then on. A call that changes the thread, in any era,
// reads this record after it has written the post, so no other call can change it in between. Posts
// that are created meanwhile have the record from the start.
type Mover struct{ c MoverConfig }

// MoverConfig is what moving threads needs from the rest of the engine.
type MoverConfig struct {
	DB      *mdb.DB
	Posts   *mongo.Collection
	Layouts map[string]Layout // all, by name
	Indexes *indexes.Builder
	// Gone returns those of the users who have deleted their accounts.
	Gone   func(ctx context.Context, users []social.UserID) (map[social.UserID]bool, error)
	Now    func() time.Time // the database's time
	Logger *slog.Logger
}

var _ migrate.Mover = Mover{}

// NewMover returns a mover of threads.
func NewMover(c MoverConfig) Mover { return Mover{c} }

// Count implements migrate.Mover.
func (v Mover) Count(ctx context.Context) (int, error) { return migrate.Count(ctx, v.c.DB, v.c.Posts) }

// Prepare implements migrate.Mover.
func (v Mover) Prepare(ctx context.Context, m *migrate.Run, layout string) error {
	if err := v.drop(ctx, m, layout); err != nil {
		return err
	}
	return v.c.Indexes.Prepare(ctx, v.c.Layouts[layout].Indexes())
}

func (v Mover) drop(ctx context.Context, m *migrate.Run, layout string) error {
	return v.c.DB.Read(ctx, "drop a layout", func(ctx context.Context) error {
		for c := range v.c.Layouts[layout].Indexes() {
			if err := m.Still(ctx); err != nil {
				return err
			}
			if err := c.Drop(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// threadHead is the part of a post that describes its thread.
type threadHead struct {
	ID       social.PostID `bson:"_id"`
	Author   social.UserID `bson:"author"`
	Comments int           `bson:"commentCount"`
	Homes    []string      `bson:"homes"`
	Copying  *Copying      `bson:"copying"`
	Revision int           `bson:"threadRevision"`
}

// walk processes the posts that exist when it begins, and continues where the phase was stopped.
// Later posts are right from the start.
func (v Mover) walk(ctx context.Context, m *migrate.Run, do func(context.Context, []threadHead) error) error {
	end, err := v.heads(ctx, mdb.Doc("$gt", mdb.ZeroKey), -1, 1)
	if err != nil || len(end) == 0 {
		return err
	}
	for {
		after, err := m.Position()
		if err != nil {
			return err
		}
		heads, err := v.heads(ctx, mdb.Doc("$gt", after, "$lte", end[0].ID), 1, m.Together())
		if err != nil || len(heads) == 0 {
			return err
		}
		if err := do(ctx, heads); err != nil {
			return err
		}
		if err := m.Note(ctx, heads[len(heads)-1].ID.ID, len(heads)); err != nil {
			return err
		}
	}
}

// heads reads posts by their ids, upwards (1) or downwards (-1).
func (v Mover) heads(ctx context.Context, ids bson.D, direction, limit int) (heads []threadHead, err error) {
	err = v.c.DB.Read(ctx, "posts to move", func(ctx context.Context) error {
		heads, err = mdb.FindAll[threadHead](ctx, v.c.Posts, mdb.Doc("_id", ids), limit, options.Find().SetSort(mdb.Doc("_id", direction)).
			SetLimit(int64(limit)).SetHint(mdb.Doc("_id", 1)).SetProjection(mdb.Doc("commentCount", 1, "homes", 1, "copying", 1)))
		return err
	})
	return heads, err
}

// eachThread calls do for all posts, several at a time.
func eachThread(ctx context.Context, heads []threadHead, do func(context.Context, threadHead) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(migrate.Parallel)
	for _, head := range heads {
		group.Go(func() error { return do(ctx, head) })
	}
	return group.Wait()
}

// Copy implements migrate.Mover.
func (v Mover) Copy(ctx context.Context, m *migrate.Run) error {
	return v.walk(ctx, m, func(ctx context.Context, heads []threadHead) error {
		heads = slices.DeleteFunc(slices.Clone(heads), func(h threadHead) bool { return h.Homes != nil })
		empty := slices.DeleteFunc(slices.Clone(heads), func(h threadHead) bool { return h.Comments > 0 })
		if done, err := v.markEmpty(ctx, m, empty); err != nil {
			return err
		} else if done {
			heads = slices.DeleteFunc(heads, func(h threadHead) bool { return h.Comments == 0 })
		}
		return eachThread(ctx, heads, func(ctx context.Context, h threadHead) error { return v.copyThread(ctx, m, h, false) })
	})
}

// markEmpty marks posts without comments with one command. It returns false if one of them has
// changed meanwhile.
func (v Mover) markEmpty(ctx context.Context, m *migrate.Run, heads []threadHead) (done bool, err error) {
	if len(heads) == 0 {
		return true, nil
	}
	posts := mdb.Map(heads, func(h *threadHead) social.PostID { return h.ID })
	filter := mdb.Doc("_id", mdb.Doc("$in", mdb.Values(posts)), "commentCount", 0, "homes", mdb.Doc("$exists", false))
	err = m.Transaction(ctx, "mark posts", nil, func(ctx context.Context) error {
		result, err := v.c.Posts.UpdateMany(ctx, filter, mdb.Doc("$set", mdb.Doc("homes", homesOf(m))), options.UpdateMany().SetHint(mdb.Doc("_id", 1)))
		done = err == nil && int(result.ModifiedCount) == len(heads)
		return err
	})
	return done, err
}

// homesOf returns the homes of posts whose threads are stored in both layouts.
func homesOf(m *migrate.Run) []string { return []string{m.Move().From, m.Move().To} }

const (
	// copyLease is how long no other call may change a long thread after the last copied part.
	copyLease = 30 * time.Second
	// copyAttempts bounds how often the copy of a long thread is started, because changes of the
	// thread make it fail.
	copyAttempts = 5
)

// copyThread copies the thread of a post to the new layout, unless the post records that it is
// there, or is gone.
func (v Mover) copyThread(ctx context.Context, m *migrate.Run, head threadHead, again bool) (err error) {
	filter := mdb.Doc("_id", head.ID)
	if !again {
		filter = append(filter, bson.E{Key: "homes", Value: mdb.Doc("$exists", false)})
	}
	if head.Comments < LongThread {
		err = v.copyAtOnce(ctx, m, filter, head.ID)
	} else {
		err = v.copyInParts(ctx, m, filter, head.ID)
	}
	switch {
	case errors.Is(err, social.ErrNotFound):
		return nil
	case errors.Is(err, social.ErrThreadFull):
		return &migrate.Error{
			Subject: migrate.Comments, From: m.Move().From, To: m.Move().To, Reason: migrate.DoesNotFit,
			Detail: fmt.Sprintf("the thread of post %s has %d comments, which is more than the layout %q takes", head.ID.ID, head.Comments, m.Move().To),
		}
	}
	return err
}

func (v Mover) copyAtOnce(ctx context.Context, m *migrate.Run, filter bson.D, post social.PostID) error {
	from, to := v.c.Layouts[m.Move().From], v.c.Layouts[m.Move().To]
	return m.Transaction(ctx, "copy a thread", []id.ID{post.ID}, func(ctx context.Context) error {
		if err := mdb.UpdateOne(ctx, v.c.Posts, filter, v.isCopied(m)); err != nil {
			return err
		}
		thread, err := from.Thread(ctx, post)
		if err != nil {
			return err
		}
		parts, err := to.Parts(post, thread)
		if err != nil {
			return err
		}
		if err := to.RemoveThread(ctx, post); err != nil {
			return err
		}
		for _, part := range parts {
			if err := part.Store(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// isCopied returns the update that marks a post whose thread is in both layouts.
func (v Mover) isCopied(m *migrate.Run) bson.D {
	return mdb.Doc("$set", mdb.Doc("homes", homesOf(m)), "$inc", mdb.Doc("threadRevision", 1), "$unset", mdb.Doc("copying", 1))
}

// copyInParts copies a long thread. No comments can be added meanwhile.
func (v Mover) copyInParts(ctx context.Context, m *migrate.Run, filter bson.D, post social.PostID) error {
	for attempt := 1; ; attempt++ {
		err := v.copyParts(ctx, m, filter, post)
		if !errors.Is(err, errChanged) || attempt == copyAttempts {
			return err
		}
	}
}

// errChanged means that the thread was changed or deleted during the copy.
var errChanged = fault.Refusal("the thread has changed while it was copied: try again")

// copyParts makes one attempt. The attempt fails if a transaction finds the post changed since the
// first one.
func (v Mover) copyParts(ctx context.Context, m *migrate.Run, filter bson.D, post social.PostID) error {
	from, to := v.c.Layouts[m.Move().From], v.c.Layouts[m.Move().To]
	attempt, revision := id.New().String(), 0
	err := m.Transaction(ctx, "begin to copy a thread", nil, func(ctx context.Context) error {
		var d threadHead
		err := mdb.OrNotFound(v.c.Posts.FindOneAndUpdate(ctx, filter, mdb.Doc("$set", mdb.Doc("copying", v.newCopying(attempt)), "$unset", mdb.Doc("homes", 1)),
			options.FindOneAndUpdate().SetProjection(mdb.Doc("threadRevision", 1))).Decode(&d))
		revision = d.Revision
		return err
	})
	if err != nil {
		return err
	}
	still := mdb.Doc("_id", post, "copying.by", attempt, "threadRevision", revision)
	var parts []Part
	err = v.c.DB.Read(ctx, "read a thread", func(ctx context.Context) error {
		thread, err := from.Thread(ctx, post)
		if err != nil {
			return err
		}
		parts, err = to.Parts(post, thread)
		return err
	})
	if err != nil {
		return errors.Join(err, v.giveUp(ctx, m, still))
	}
	// Remove the parts of an earlier attempt. A process that was paused must not remove what
	// another one has copied.
	err = v.changeCopying(ctx, m, still, mdb.Doc("$set", mdb.Doc("copying", v.newCopying(attempt))), func(ctx context.Context) error {
		return to.RemoveThread(ctx, post)
	})
	if err != nil {
		return err
	}
	for _, part := range parts {
		err := v.changeCopying(ctx, m, still, mdb.Doc("$set", mdb.Doc("copying", v.newCopying(attempt))), part.Store)
		if err != nil {
			return err
		}
	}
	return v.changeCopying(ctx, m, still, v.isCopied(m), func(context.Context) error { return nil })
}

func (v Mover) newCopying(attempt string) Copying {
	return Copying{By: attempt, Until: v.c.Now().Add(copyLease)}
}

// giveUp unlocks a thread whose copy has failed.
func (v Mover) giveUp(ctx context.Context, m *migrate.Run, still bson.D) error {
	return v.changeCopying(ctx, m, still, mdb.Doc("$unset", mdb.Doc("copying", 1)), func(context.Context) error { return nil })
}

// changeCopying changes the post and calls do, if the attempt still owns the post. Otherwise it
// returns errChanged.
func (v Mover) changeCopying(ctx context.Context, m *migrate.Run, still, update bson.D, do func(context.Context) error) error {
	return m.Transaction(ctx, "copy a part of a thread", nil, func(ctx context.Context) error {
		err := mdb.UpdateOne(ctx, v.c.Posts, still, update)
		if errors.Is(err, social.ErrNotFound) {
			return errChanged
		}
		if err != nil {
			return err
		}
		return do(ctx)
	})
}

// Compare implements migrate.Mover.
func (v Mover) Compare(ctx context.Context, m *migrate.Run) error {
	return v.walk(ctx, m, func(ctx context.Context, heads []threadHead) error {
		return eachThread(ctx, heads, func(ctx context.Context, h threadHead) error {
			why, err := v.difference(ctx, m, h.ID)
			if err != nil || why == "" {
				return err
			}
			m.Fixed(1)
			return v.repair(ctx, m, h, why)
		})
	})
}

// repair copies a thread again, and returns an error if the copies still differ.
func (v Mover) repair(ctx context.Context, m *migrate.Run, head threadHead, why string) error {
	v.c.Logger.WarnContext(ctx, "the copy of a thread differs and is replaced", "post", head.ID.ID, "difference", why)
	if err := v.copyThread(ctx, m, head, true); err != nil {
		return err
	}
	why, err := v.difference(ctx, m, head.ID)
	if err == nil && why != "" {
		return fmt.Errorf("the copy of the thread of post %s still differs after it was replaced: %s", head.ID.ID, why)
	}
	return err
}

// difference compares both copies of a post's thread in one snapshot, in both orders, with the
// counts.
func (v Mover) difference(ctx context.Context, m *migrate.Run, post social.PostID) (why string, err error) {
	err = m.Transaction(ctx, "compare a thread", []id.ID{post.ID}, func(ctx context.Context) error {
		var head threadHead
		only := options.FindOne().SetProjection(mdb.Doc("author", 1, "commentCount", 1, "homes", 1))
		err := v.c.Posts.FindOne(ctx, mdb.Doc("_id", post), only).Decode(&head)
		switch {
		case errors.Is(err, mongo.ErrNoDocuments):
			why = "" // it was deleted
			return nil
		case err != nil:
			return err
		case !slices.Equal(head.Homes, homesOf(m)):
			why = "the post does not say that there is a copy"
			return nil
		}
		why, err = v.compareHomes(ctx, m.Move(), head)
		if err == nil && why == "" {
			return nil
		}
		gone, notRead := v.c.Gone(ctx, []social.UserID{head.Author})
		if gone[head.Author] { // the author has deleted their account: long threads are removed in parts, and then their posts
			why, err = "", nil
		}
		return errors.Join(err, notRead)
	})
	return why, err
}

func (v Mover) compareHomes(ctx context.Context, move *cluster.Move, head threadHead) (why string, err error) {
	for _, order := range []social.CommentOrder{social.OrderOldest, social.OrderThreaded} {
		from, err := digestOf(ctx, v.c.Layouts[move.From], head.ID, order)
		if err != nil {
			return "", err
		}
		to, err := digestOf(ctx, v.c.Layouts[move.To], head.ID, order)
		switch {
		case err != nil:
			return "", err
		case from.live != head.Comments:
			return "", fmt.Errorf("post %s counts %d comments, and %q has %d of them", head.ID.ID, head.Comments, move.From, from.live)
		case from != to:
			return fmt.Sprintf("%q and %q are not the same (%s; %d and %d live comments)", move.From, move.To, order, from.live, to.live), nil
		}
	}
	return "", nil
}

// threadDigest summarizes a thread. It is equal for equal copies.
type threadDigest struct {
	live int // comments that are not tombstones
	sum  [sha256.Size]byte
}

// digestOf reads a thread page by page, as clients do.
func digestOf(ctx context.Context, layout Layout, post social.PostID, order social.CommentOrder) (d threadDigest, err error) {
	list := social.List[social.Thread]{Of: social.Thread{Post: post, Order: order}, Page: social.Page{Limit: comparedTogether}}
	sum := sha256.New()
	for {
		pages, err := layout.Pages(ctx, []social.List[social.Thread]{list})
		if err != nil {
			return d, err
		}
		comments := pages[list]
		for _, c := range comments {
			fmt.Fprintf(sum, "%#v\n", *c)
			if !c.Deleted {
				d.live++
			}
		}
		if len(comments) < list.Limit {
			break
		}
		last := comments[len(comments)-1]
		list.After = social.Key(last.ID.Bytes())
		if order == social.OrderThreaded {
			list.After = last.TreePath
		}
	}
	sum.Sum(d.sum[:0])
	return d, nil
}

// comparedTogether is how many comments to read at a time to compare them.
const comparedTogether = 2000

// Remove implements migrate.Mover.
func (v Mover) Remove(ctx context.Context, m *migrate.Run, layout string) error {
	err := v.walk(ctx, m, func(ctx context.Context, heads []threadHead) error {
		for i := range heads {
			if err := v.unmark(ctx, m, &heads[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return v.drop(ctx, m, layout)
}

// unmark removes the migration's record from a post. It uses a transaction for each post, which
// waits for the writers of this post. A transaction for many posts would conflict with other
// writers at each retry.
func (v Mover) unmark(ctx context.Context, m *migrate.Run, head *threadHead) error {
	if head.Homes == nil && head.Copying == nil {
		return nil
	}
	return m.Transaction(ctx, "unmark a post", []id.ID{head.ID.ID}, func(ctx context.Context) error {
		err := mdb.UpdateOne(ctx, v.c.Posts, mdb.Doc("_id", head.ID), mdb.Doc("$unset", mdb.Doc("homes", 1, "copying", 1)))
		if errors.Is(err, social.ErrNotFound) {
			return nil // the post was deleted
		}
		return err
	})
}
