package graph

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/indexes"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/migrate"
)

// Mover moves the follower graph, one followed user after another. Both layouts use edges as the
// source of truth. Mover copies, compares and repairs the copies of [Two]; [Reverse] only needs its
// index.
type Mover struct{ c MoverConfig }

// MoverConfig is what moving the follower graph needs from the rest of the engine.
type MoverConfig struct {
	DB      *mdb.DB
	Users   *mongo.Collection
	Edges   *mongo.Collection
	Layouts map[string]Layout // all, by name
	Indexes *indexes.Builder
	Logger  *slog.Logger
}

var _ migrate.Mover = Mover{}

// NewMover returns a mover of the follower graph.
func NewMover(c MoverConfig) Mover { return Mover{c} }

// FollowersTogether is how many followers one transaction copies or compares.
const FollowersTogether = 500

// Count implements migrate.Mover.
func (v Mover) Count(ctx context.Context) (int, error) {
	return migrate.Count(ctx, v.c.DB, v.c.Users)
}

// Prepare implements migrate.Mover.
func (v Mover) Prepare(ctx context.Context, m *migrate.Run, layout string) error {
	if err := v.Remove(ctx, m, layout); err != nil {
		return err
	}
	return v.c.Indexes.Prepare(ctx, v.c.Layouts[layout].Indexes())
}

// Remove implements migrate.Mover.
func (v Mover) Remove(ctx context.Context, m *migrate.Run, layout string) error {
	return v.c.DB.Read(ctx, "remove a layout", func(ctx context.Context) error {
		if err := m.Still(ctx); err != nil {
			return err
		}
		return v.c.Layouts[layout].Remove(ctx)
	})
}

// Copy implements migrate.Mover.
func (v Mover) Copy(ctx context.Context, m *migrate.Run) error {
	if m.Move().To != Two {
		return nil
	}
	return m.EachUser(ctx, v.c.Users, func(ctx context.Context, followed social.UserID) error {
		return v.eachPage(ctx, m, followed, func(ctx context.Context, page followerRange) ([]Document, int, error) {
			read, err := v.copyPage(ctx, m, page)
			return read, 0, err
		})
	})
}

// copyPage copies a page of follows. It also removes copies of follows that have ended: before all
// servers kept both layouts in step, one may have copied a follow that another one then ended.
func (v Mover) copyPage(ctx context.Context, m *migrate.Run, page followerRange) ([]Document, error) {
	read, there, err := v.readBoth(ctx, m, page)
	if err != nil {
		return nil, err
	}
	changed := slices.Clone(read)
	for _, follower := range onlyIn(there, read) {
		changed = append(changed, Document{Owner: follower, Other: page.followed})
	}
	return read, v.c.Layouts[Two].Filling().FollowsChanged(ctx, changed...)
}

// Compare implements migrate.Mover: it makes both layouts name the same followers with the same
// circles.
func (v Mover) Compare(ctx context.Context, m *migrate.Run) error {
	return m.EachUser(ctx, v.c.Users, func(ctx context.Context, followed social.UserID) error {
		return v.eachPage(ctx, m, followed, func(ctx context.Context, page followerRange) ([]Document, int, error) {
			return v.comparePage(ctx, m, page)
		})
	})
}

// eachPage calls do for each page of a user's followers, newest first, each time in a new
// transaction. do returns the page that it has read in the layout that sets the bounds (a short
// page is the last one), and how many copies it has repaired. It may run more than once.
func (v Mover) eachPage(ctx context.Context, m *migrate.Run, followed social.UserID,
	do func(context.Context, followerRange) (read []Document, fixed int, err error),
) error {
	page := followerRange{followed: followed}
	for {
		var read []Document
		fixed := 0
		err := m.Transaction(ctx, "move followers", nil, func(ctx context.Context) (err error) {
			read, fixed, err = do(ctx, page)
			return err
		})
		if err != nil {
			return err
		}
		if fixed > 0 {
			v.c.Logger.WarnContext(ctx, "copies of follows differed and were replaced", "user", followed.ID, "copies", fixed)
			m.Fixed(fixed)
		}
		if len(read) < FollowersTogether {
			return nil
		}
		page.below = read[len(read)-1].Follow
	}
}

// readBoth reads a page of the current layout, and the same range of the new one.
func (v Mover) readBoth(ctx context.Context, m *migrate.Run, page followerRange) (read, other []Document, err error) {
	if read, err = page.read(ctx, v.c.Layouts[m.Move().From], FollowersTogether); err != nil {
		return nil, nil, err
	}
	if len(read) == FollowersTogether {
		page.from = read[len(read)-1].Follow
	}
	other, err = page.read(ctx, v.c.Layouts[m.Move().To], 0) // no limit: it may have too many
	return read, other, err
}

// comparePage compares a page of the current layout with the same range of the new one, and repairs
// copies that differ.
func (v Mover) comparePage(ctx context.Context, m *migrate.Run, page followerRange) (read []Document, fixed int, err error) {
	read, other, err := v.readBoth(ctx, m, page)
	if err != nil {
		return nil, 0, err
	}
	different := differentFollowers(read, other)
	if len(different) == 0 {
		return read, 0, nil
	}
	return read, len(different), v.repair(ctx, page.followed, different)
}

// repair copies the current edges of these followers again.
func (v Mover) repair(ctx context.Context, followed social.UserID, followers []social.UserID) error {
	there, err := edgesFrom(ctx, v.c.Edges, followers, followed)
	if err != nil {
		return err
	}
	edges := edgeMap{}
	for _, follower := range followers {
		edges.add(&Document{Owner: follower, Other: followed})
	}
	for i := range there {
		edges.add(&there[i])
	}
	var now []Document
	for _, d := range edges {
		now = append(now, *d)
	}
	return v.c.Layouts[Two].Filling().FollowsChanged(ctx, now...)
}

// differentFollowers returns the followers that are in only one of the lists, or that differ in
// follow or circles.
func differentFollowers(a, b []Document) []social.UserID {
	all := followTexts(a)
	different := onlyIn(a, b)
	for user, there := range followTexts(b) {
		if all[user] != there {
			different = append(different, user)
		}
	}
	return different
}

// onlyIn returns the followers that the first list has and the second does not.
func onlyIn(list, others []Document) (users []social.UserID) {
	there := followTexts(others)
	for i := range list {
		if _, ok := there[list[i].Owner]; !ok {
			users = append(users, list[i].Owner)
		}
	}
	return users
}

// followTexts returns the FollowText of each follower in a list.
func followTexts(list []Document) map[social.UserID]string {
	follows := make(map[social.UserID]string, len(list))
	for i := range list {
		follows[list[i].Owner] = list[i].FollowText()
	}
	return follows
}

// FollowText returns a text that is equal for edges with the same follow and the same circles in
// any order.
func (d *Document) FollowText() string {
	circles := slices.SortedFunc(slices.Values(d.Circles()), func(a, b social.CircleID) int { return a.Compare(b.ID) })
	return fmt.Sprint(d.Follow, circles)
}

// followerRange is a range of a user's followers, newest first: those whose follow is below one
// edge, down to another.
type followerRange struct {
	followed social.UserID
	below    social.EdgeID // zero: starts with the newest
	from     social.EdgeID // zero: ends with the oldest
}

// read reads the first followers of the range. A limit of 0 means all.
func (r followerRange) read(ctx context.Context, layout Layout, limit int) ([]Document, error) {
	bounds := mdb.Doc("$gt", mdb.ZeroKey)
	if !r.below.IsZero() {
		bounds = append(bounds, mdb.Doc("$lt", r.below)...)
	}
	if !r.from.IsZero() {
		bounds = append(bounds, mdb.Doc("$gte", r.from)...)
	}
	return mdb.FindAll[Document](ctx, layout.Followers(), mdb.Doc("other", r.followed, "follow", bounds), FollowersTogether,
		options.Find().SetSort(mdb.Doc("follow", -1)).SetLimit(int64(limit)).SetHint(byFollowed).
			SetProjection(mdb.Doc("_id", 0, "owner", 1, "other", 1, "follow", 1, "circles", 1)))
}
