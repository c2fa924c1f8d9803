package feeds

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// tidyPer is how many times open parts are looked at while as many posts come as a closed part has.
const tidyPer = 8

// push puts a post into the feeds of users once, except for stale ones. It has a copy if copies are
// kept and the post still exists. push reports whether all users have feeds that it belongs into.
func (f *keptFeed) push(ctx context.Context, post social.PostID, copies []postCopy, users []social.UserID) (all bool, err error) {
	if len(users) == 0 {
		return true, nil
	}
	if err := f.tidy(ctx, post, users); err != nil {
		return false, err
	}
	open := slices.Concat(openOfAll(users), mdb.Doc("count", mdb.Doc("$gte", 0), "from", mdb.Doc("$lte", post), "ids", mdb.Doc("$ne", post)))
	pushed, err := f.docs.UpdateMany(ctx, open, f.pushing(post, copies, true), options.UpdateMany().SetHint(mdb.Doc("_id", 1)))
	if err != nil {
		return false, err
	}
	if int(pushed.MatchedCount) == len(users) { // as usual, so no closed part needs it
		return true, nil
	}
	// A part that was closed in between has the post, or exists by now.
	late, err := f.pushLate(ctx, post, copies, users)
	if err != nil || late == 0 {
		return false, err
	}
	return false, f.thin(ctx, post, users)
}

// pushLate puts a post into the closed parts of users where it belongs, and returns how many these
// are.
func (f *keptFeed) pushLate(ctx context.Context, post social.PostID, copies []postCopy, users []social.UserID) (int, error) {
	closed := mdb.Doc("user", mdb.Doc("$in", mdb.Values(users)), "upper", mdb.Doc("$gt", post), "lower", mdb.Doc("$lte", post), "ids", mdb.Doc("$ne", post))
	result, err := f.docs.UpdateMany(ctx, closed, f.pushing(post, copies, false), options.UpdateMany().SetHint(byPart))
	if err != nil {
		return 0, err
	}
	return int(result.ModifiedCount), nil
}

// pushing returns the update that puts a post into a part.
func (f *keptFeed) pushing(post social.PostID, copies []postCopy, isOpen bool) bson.D {
	var update bson.D
	pushed := mdb.Doc("ids", post)
	if f.copies {
		pushed = append(pushed, bson.E{Key: "posts", Value: mdb.Doc("$each", small(copies))})
	}
	if isOpen {
		update = mdb.Doc("$inc", mdb.Doc("count", 1))
		if f.copies {
			update = append(update, bson.E{Key: "$min", Value: mdb.Doc("month", monthOf(post))})
		}
	}
	return append(update, bson.E{Key: "$push", Value: pushed})
}

// thin builds those feeds again in which too many posts came late into a closed part.
func (f *keptFeed) thin(ctx context.Context, post social.PostID, users []social.UserID) error {
	thick := mdb.Doc("user", mdb.Doc("$in", mdb.Values(users)), "upper", mdb.Doc("$gt", post), "lower", mdb.Doc("$lte", post),
		fmt.Sprintf("ids.%d", 2*f.size-1), mdb.Doc("$exists", true))
	parts, err := mdb.FindAll[closedPart](ctx, f.docs, thick, len(users), options.Find().SetProjection(mdb.Doc("_id", 0, "user", 1)).SetHint(byPart))
	for i := 0; i < len(parts) && err == nil; i++ {
		err = f.rebuild(ctx, parts[i].User)
	}
	return err
}

// pull takes a post out of the feeds of users.
func (f *keptFeed) pull(ctx context.Context, post social.PostID, users []social.UserID) error {
	pulled := mdb.Doc("ids", post)
	if f.copies {
		pulled = append(pulled, bson.E{Key: "posts", Value: mdb.Doc("_id", post)})
	}
	return f.updateParts(ctx, post, users, mdb.Doc("ids", post), mdb.Doc("$pull", pulled), mdb.Doc("$inc", mdb.Doc("count", -1)))
}

// refresh replaces older copies in the feeds of users with a newer one.
func (f *keptFeed) refresh(ctx context.Context, c postCopy, users []social.UserID) error {
	post := c.id()
	older := mdb.Doc("posts", mdb.Doc("$elemMatch", mdb.Doc("_id", post, "changes", mdb.Doc("$not", mdb.Doc("$gte", c.changes())))))
	update := mdb.Doc("$set", mdb.Doc("posts.$", c))
	if len(c) > maxCopy {
		update = mdb.Doc("$pull", mdb.Doc("posts", mdb.Doc("_id", post)))
	}
	return f.updateParts(ctx, post, users, older, update, nil)
}

// updateParts changes the parts of users that match and in which the post belongs. Open parts are
// also changed as openAlso says.
func (f *keptFeed) updateParts(ctx context.Context, post social.PostID, users []social.UserID, match, update, openAlso bson.D) error {
	open := append(openOfAll(users), match...)
	closed := append(mdb.Doc("user", mdb.Doc("$in", mdb.Values(users)), "upper", mdb.Doc("$gt", post), "lower", mdb.Doc("$lte", post)), match...)
	_, err := f.docs.BulkWrite(ctx, []mongo.WriteModel{
		mongo.NewUpdateManyModel().SetFilter(open).SetUpdate(slices.Concat(update, openAlso)).SetHint(mdb.Doc("_id", 1)),
		mongo.NewUpdateManyModel().SetFilter(closed).SetUpdate(update).SetHint(byPart),
	}, options.BulkWrite().SetOrdered(false))
	return err
}

// refreshStale updates a user's copies of posts that were changed while the copies were moved.
func (f *keptFeed) refreshStale(ctx context.Context, user social.UserID, copies []postCopy) error {
	known := make(map[social.PostID]int, len(copies))
	for _, c := range copies {
		known[c.id()] = c.changes()
	}
	states, err := f.changesOf(ctx, mdb.Map(copies, func(c *postCopy) social.PostID { return c.id() }))
	if err != nil {
		return err
	}
	states = slices.DeleteFunc(states, func(d changesDoc) bool { return known[d.ID] == d.Changes })
	if len(states) == 0 {
		return nil
	}
	newer, err := f.copiesOf(ctx, mdb.Map(states, func(d *changesDoc) social.PostID { return d.ID }))
	for i := 0; i < len(newer) && err == nil; i++ {
		err = f.refresh(ctx, newer[i], []social.UserID{user})
	}
	return err
}

// tidy closes parts where open ones are full, or have posts of an earlier month, before another
// post comes. If months do not matter, it does so by chance, because looking for these parts costs a
// fifth of a push.
func (f *keptFeed) tidy(ctx context.Context, post social.PostID, users []social.UserID) error {
	if !f.copies && rand.N(1+f.size/tidyPer) > 0 { //nolint:gosec // chance needs no secure randomness
		return nil
	}
	month := monthOf(post)
	due := bson.A{mdb.Doc("count", mdb.Doc("$gte", 2*f.size))}
	if f.copies {
		due = append(due, mdb.Doc("month", mdb.Doc("$lt", month)))
	}
	found, err := mdb.FindAll[openPart](ctx, f.docs, slices.Concat(openOfAll(users), mdb.Doc("ready", true, "$or", due)), len(users),
		options.Find().SetProjection(mdb.Doc("_id", 1)).SetHint(mdb.Doc("_id", 1)))
	for i := 0; i < len(found) && err == nil; i++ {
		err = f.closeParts(ctx, found[i].User, month)
	}
	return err
}

// closeParts moves the oldest posts of an open part into closed ones, before a post of that month
// comes. It builds the feed again if too many posts came late.
func (f *keptFeed) closeParts(ctx context.Context, user social.UserID, month string) error {
	for more := true; more; {
		docs, err := mdb.FindAll[openPart](ctx, f.docs, openOf(user), 1, options.Find().SetHint(mdb.Doc("_id", 1)))
		if err != nil || len(docs) == 0 || !docs[0].Ready {
			return err
		}
		open := &docs[0]
		late, inOrder := open.sorted()
		if len(late) >= f.size {
			return f.rebuild(ctx, user)
		}
		n := f.due(len(late), inOrder, month)
		if n == 0 {
			return f.label(ctx, open, inOrder)
		}
		if err := f.closePart(ctx, open, inOrder, n); err != nil {
			return err
		}
		if open.Parts >= f.kept+f.kept/4 {
			if err := f.trim(ctx, open); err != nil {
				return err
			}
		}
		more = f.copies || f.due(len(late), inOrder[n:], month) > 0
	}
	return nil
}

// label records the oldest month of an open part again; late posts don't count.
func (f *keptFeed) label(ctx context.Context, open *openPart, inOrder []social.PostID) error {
	if !f.copies || len(inOrder) == 0 || open.Month == monthOf(inOrder[0]) {
		return nil
	}
	_, err := f.docs.UpdateOne(ctx, append(openOf(open.User), mdb.Doc("gen", open.Gen, "from", open.From)...), mdb.Doc("$set", mdb.Doc("month", monthOf(inOrder[0]))))
	return err
}

// sorted returns the posts that belong into closed parts, and the others, oldest first.
func (d *openPart) sorted() (late, inOrder []social.PostID) {
	for _, post := range d.IDs {
		if post.Compare(d.From.ID) < 0 {
			late = append(late, post)
		} else {
			inOrder = append(inOrder, post)
		}
	}
	slices.SortFunc(inOrder, func(a, b social.PostID) int { return a.Compare(b.ID) })
	return late, slices.Compact(inOrder)
}

// due returns how many of an open part's posts the next closed part takes, before a post of that
// month comes.
func (f *keptFeed) due(late int, inOrder []social.PostID, month string) int {
	n := 0
	if late+len(inOrder) >= 2*f.size {
		n = len(inOrder) - f.size
	}
	if f.copies && len(inOrder) > 0 {
		of := monthOf(inOrder[0])
		run := 1
		for run < len(inOrder) && monthOf(inOrder[run]) == of {
			run++
		}
		if of < month {
			n = run
		}
		n = min(n, run)
	}
	return min(n, f.size)
}

// closePart moves the first n posts into a closed part. It stores that first; readers see it when
// the open part is changed. If another server has already stored it, and may have died since, that
// one is used.
func (f *keptFeed) closePart(ctx context.Context, open *openPart, inOrder []social.PostID, n int) error {
	upper := nextMonth(inOrder[n-1])
	if n < len(inOrder) {
		upper = inOrder[n]
	}
	c := closedPart{
		ID: partKey(open.User, open.Gen, open.From), Version: mdb.FirstVersion, User: open.User, Gen: open.Gen,
		Lower: open.From, Upper: upper, IDs: inOrder[:n],
	}
	if f.copies {
		c.Month = monthOf(inOrder[0])
		c.Posts = slices.DeleteFunc(slices.Clone(open.Posts), func(p postCopy) bool { return !slices.Contains(c.IDs, p.id()) })
	}
	_, err := f.docs.InsertOne(ctx, c)
	if mongo.IsDuplicateKeyError(err) {
		err = f.docs.FindOne(ctx, mdb.Doc("_id", c.ID, "user", c.User)).Decode(&c)
		if errors.Is(err, mongo.ErrNoDocuments) {
			return nil // the feed was built again
		}
	}
	if err != nil {
		return err
	}
	if err := f.trimOpen(ctx, open, &c); err != nil || !f.copies {
		return err
	}
	return f.refreshStale(ctx, open.User, c.Posts)
}

// trimOpen removes from the open part what a closed one has.
func (f *keptFeed) trimOpen(ctx context.Context, open *openPart, c *closedPart) error {
	set := mdb.Doc(
		"ids", ascending(mdb.Doc("$setDifference", bson.A{"$ids", idArray(c.IDs)})),
		"from", c.Upper, "parts", mdb.Doc("$add", bson.A{"$parts", 1}))
	if f.copies {
		set = append(set,
			bson.E{Key: "month", Value: "$$REMOVE"}, // pushes set it again
			bson.E{Key: "posts", Value: copiesBut(c.IDs)})
	}
	_, err := f.docs.UpdateOne(ctx, append(openOf(open.User), mdb.Doc("gen", open.Gen, "from", open.From)...),
		mdb.Pipeline{mdb.Doc("$set", set), mdb.Doc("$set", mdb.Doc("count", mdb.Doc("$size", "$ids")))})
	return err
}

// copiesBut selects a part's copies without those of some posts.
func copiesBut(posts []social.PostID) bson.D {
	others := mdb.Doc("$not", bson.A{mdb.Doc("$in", bson.A{"$$this._id", idArray(posts)})})
	return mdb.Doc("$filter", mdb.Doc("input", mdb.Doc("$ifNull", bson.A{"$posts", bson.A{}}), "cond", others))
}

// trim removes the oldest closed parts. It takes three commands, so it waits for more than one
// part.
func (f *keptFeed) trim(ctx context.Context, open *openPart) error {
	parts, err := mdb.FindAll[closedPart](ctx, f.docs, mdb.Doc("user", open.User, "upper", mdb.Doc("$gt", mdb.ZeroKey), "gen", open.Gen), f.kept,
		options.Find().SetSort(mdb.Doc("upper", -1)).SetLimit(int64(f.kept)).SetHint(byPart).SetProjection(mdb.Doc("lower", 1)))
	if err != nil || len(parts) < f.kept {
		return err
	}
	floor := parts[f.kept-1].Lower
	_, err = f.docs.UpdateOne(ctx, append(openOf(open.User), bson.E{Key: "gen", Value: open.Gen}), mdb.Doc("$max", mdb.Doc("floor", floor), "$set", mdb.Doc("parts", f.kept)))
	if err != nil {
		return err
	}
	_, err = f.docs.DeleteMany(ctx, mdb.Doc("user", open.User, "upper", mdb.Doc("$gt", mdb.ZeroKey, "$lte", floor), "gen", open.Gen),
		options.DeleteMany().SetHint(byPart))
	return err
}
