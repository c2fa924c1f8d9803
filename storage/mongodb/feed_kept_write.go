package mongodb

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/social"
)

// push puts a post into the feeds of users, once, except into stale ones. There is a copy where copies are kept and the post is not gone.
func (f *keptFeed) push(ctx context.Context, post social.PostID, copies []postCopy, users []social.UserID) error {
	if err := f.tidy(ctx, post, users); err != nil {
		return err
	}
	open := slices.Concat(openOfAll(users), doc("count", doc("$gte", 0), "from", doc("$lte", post), "ids", doc("$ne", post)))
	if _, err := f.docs.UpdateMany(ctx, open, f.pushing(post, copies, true), options.UpdateMany().SetHint(doc("_id", 1))); err != nil {
		return err
	}
	// A part that is closed in between has the post, or is there by now.
	late, err := f.pushLate(ctx, post, copies, users)
	if err != nil || late == 0 {
		return err
	}
	return f.thin(ctx, post, users)
}

// pushLate puts a post into the closed parts of users where it belongs, and says how many these are.
func (f *keptFeed) pushLate(ctx context.Context, post social.PostID, copies []postCopy, users []social.UserID) (int, error) {
	closed := doc("user", doc("$in", valueList(users)), "upper", doc("$gt", post), "lower", doc("$lte", post), "ids", doc("$ne", post))
	result, err := f.docs.UpdateMany(ctx, closed, f.pushing(post, copies, false), options.UpdateMany().SetHint(byPart))
	if err != nil {
		return 0, err
	}
	return int(result.ModifiedCount), nil
}

// pushNow puts a post into the feed of one user, without tidying up, unless the open part is very long.
func (f *keptFeed) pushNow(ctx context.Context, post social.PostID, copies []postCopy, user social.UserID) error {
	open := slices.Concat(openOf(user), doc("count", doc("$gte", 0, "$lt", 4*f.size), "from", doc("$lte", post), "ids", doc("$ne", post)))
	result, err := f.docs.UpdateOne(ctx, open, f.pushing(post, copies, true), options.UpdateOne().SetHint(doc("_id", 1)))
	if err == nil && result.MatchedCount == 0 {
		_, err = f.pushLate(ctx, post, copies, []social.UserID{user})
	}
	return err
}

// pushing is the update that puts a post into a part.
func (f *keptFeed) pushing(post social.PostID, copies []postCopy, isOpen bool) bson.D {
	var update bson.D
	pushed := doc("ids", post)
	if f.copies {
		pushed = append(pushed, bson.E{Key: "posts", Value: doc("$each", small(copies))})
	}
	if isOpen {
		update = doc("$inc", doc("count", 1))
		if f.copies {
			update = append(update, bson.E{Key: "$min", Value: doc("month", monthOf(post))})
		}
	}
	return append(update, bson.E{Key: "$push", Value: pushed})
}

// thin builds those feeds anew where too many posts have come late into a closed part.
func (f *keptFeed) thin(ctx context.Context, post social.PostID, users []social.UserID) error {
	thick := doc("user", doc("$in", valueList(users)), "upper", doc("$gt", post), "lower", doc("$lte", post),
		fmt.Sprintf("ids.%d", 2*f.size-1), doc("$exists", true))
	parts, err := findAll[closedPart](ctx, f.docs, thick, len(users), options.Find().SetProjection(doc("_id", 0, "user", 1)).SetHint(byPart))
	for i := 0; i < len(parts) && err == nil; i++ {
		err = f.rebuild(ctx, parts[i].User)
	}
	return err
}

// pull takes a post out of the feeds of users.
func (f *keptFeed) pull(ctx context.Context, post social.PostID, users []social.UserID) error {
	pulled := doc("ids", post)
	if f.copies {
		pulled = append(pulled, bson.E{Key: "posts", Value: doc("_id", post)})
	}
	return f.updateParts(ctx, post, users, doc("ids", post), doc("$pull", pulled), doc("$inc", doc("count", -1)))
}

// refresh puts a newer copy in the place of older ones in the feeds of users.
func (f *keptFeed) refresh(ctx context.Context, c postCopy, users []social.UserID) error {
	post := c.id()
	older := doc("posts", doc("$elemMatch", doc("_id", post, "changes", doc("$not", doc("$gte", c.changes())))))
	update := doc("$set", doc("posts.$", c))
	if len(c) > maxCopy {
		update = doc("$pull", doc("posts", doc("_id", post)))
	}
	return f.updateParts(ctx, post, users, older, update, nil)
}

// updateParts changes the parts of users that match and in which the post belongs, and the open ones as openAlso says, too.
func (f *keptFeed) updateParts(ctx context.Context, post social.PostID, users []social.UserID, match, update, openAlso bson.D) error {
	open := append(openOfAll(users), match...)
	closed := append(doc("user", doc("$in", valueList(users)), "upper", doc("$gt", post), "lower", doc("$lte", post)), match...)
	_, err := f.docs.BulkWrite(ctx, []mongo.WriteModel{
		mongo.NewUpdateManyModel().SetFilter(open).SetUpdate(slices.Concat(update, openAlso)).SetHint(doc("_id", 1)),
		mongo.NewUpdateManyModel().SetFilter(closed).SetUpdate(update).SetHint(byPart),
	}, options.BulkWrite().SetOrdered(false))
	return err
}

// refreshStale brings a user's copies up to date that were changed while they were moved.
func (f *keptFeed) refreshStale(ctx context.Context, user social.UserID, copies []postCopy) error {
	known := make(map[social.PostID]int, len(copies))
	for _, c := range copies {
		known[c.id()] = c.changes()
	}
	states, err := f.changesOf(ctx, each(copies, func(c *postCopy) social.PostID { return c.id() }))
	if err != nil {
		return err
	}
	states = slices.DeleteFunc(states, func(d changesDoc) bool { return known[d.ID] == d.Changes })
	if len(states) == 0 {
		return nil
	}
	newer, err := f.copiesOf(ctx, each(states, func(d *changesDoc) social.PostID { return d.ID }))
	for i := 0; i < len(newer) && err == nil; i++ {
		err = f.refresh(ctx, newer[i], []social.UserID{user})
	}
	return err
}

// tidy closes parts where open ones are full, or have posts of an earlier month, before another post comes.
func (f *keptFeed) tidy(ctx context.Context, post social.PostID, users []social.UserID) error {
	due := doc("count", doc("$gte", 2*f.size))
	if f.copies {
		due = doc("$or", bson.A{due, doc("month", doc("$lt", monthOf(post)))})
	}
	filter := slices.Concat(openOfAll(users), doc("ready", true), due)
	full, err := findAll[openPart](ctx, f.docs, filter, len(users), options.Find().SetProjection(doc("_id", 1)).SetHint(doc("_id", 1)))
	for i := 0; i < len(full) && err == nil; i++ {
		err = f.closeParts(ctx, full[i].User, monthOf(post))
	}
	return err
}

// closeParts moves the oldest posts of an open part into closed ones, before a post of that month comes. It builds the feed anew where
// too many posts came while parts were closed over them.
func (f *keptFeed) closeParts(ctx context.Context, user social.UserID, month string) error {
	for {
		docs, err := findAll[openPart](ctx, f.docs, openOf(user), 1, options.Find().SetHint(doc("_id", 1)))
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
		if open.Parts >= f.kept {
			if err := f.trim(ctx, open); err != nil {
				return err
			}
		}
	}
}

// label says anew which the oldest month of an open part is; late posts don't count.
func (f *keptFeed) label(ctx context.Context, open *openPart, inOrder []social.PostID) error {
	if !f.copies || len(inOrder) == 0 || open.Month == monthOf(inOrder[0]) {
		return nil
	}
	_, err := f.docs.UpdateOne(ctx, append(openOf(open.User), doc("gen", open.Gen, "from", open.From)...), doc("$set", doc("month", monthOf(inOrder[0]))))
	return err
}

// sorted are the posts that belong into closed parts, and the others, oldest first.
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

// due is how many of an open part's posts the next closed part takes, before a post of that month comes.
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

// closePart moves the first n posts into a closed part: it is stored first, and readers see it when the open part has gone on. Where somebody
// else has stored it already, and may have died since, theirs counts.
func (f *keptFeed) closePart(ctx context.Context, open *openPart, inOrder []social.PostID, n int) error {
	upper := nextMonth(inOrder[n-1])
	if n < len(inOrder) {
		upper = inOrder[n]
	}
	c := closedPart{
		ID: partKey(open.User, open.Gen, open.From), Version: version, User: open.User, Gen: open.Gen,
		Lower: open.From, Upper: upper, IDs: inOrder[:n],
	}
	if f.copies {
		c.Month = monthOf(inOrder[0])
		c.Posts = slices.DeleteFunc(slices.Clone(open.Posts), func(p postCopy) bool { return !slices.Contains(c.IDs, p.id()) })
	}
	_, err := f.docs.InsertOne(ctx, c)
	if mongo.IsDuplicateKeyError(err) {
		err = f.docs.FindOne(ctx, doc("_id", c.ID, "user", c.User)).Decode(&c)
		if errors.Is(err, mongo.ErrNoDocuments) {
			return nil // the feed is another by now
		}
	}
	if err != nil {
		return err
	}
	if err := f.goOn(ctx, open, &c); err != nil || !f.copies {
		return err
	}
	return f.refreshStale(ctx, open.User, c.Posts)
}

// goOn takes what a closed part has out of the open one.
func (f *keptFeed) goOn(ctx context.Context, open *openPart, c *closedPart) error {
	set := doc(
		"ids", ascending(doc("$setDifference", bson.A{"$ids", idArray(c.IDs)})),
		"from", c.Upper, "parts", doc("$add", bson.A{"$parts", 1}))
	if f.copies {
		set = append(set,
			bson.E{Key: "month", Value: "$$REMOVE"}, // pushes say it anew
			bson.E{Key: "posts", Value: copiesBut(c.IDs)})
	}
	_, err := f.docs.UpdateOne(ctx, append(openOf(open.User), doc("gen", open.Gen, "from", open.From)...),
		pipeline{doc("$set", set), doc("$set", doc("count", doc("$size", "$ids")))})
	return err
}

// ascending sorts ids. What is pushed afterwards is mostly newer, and keeps the order.
func ascending(ids any) bson.D { return doc("$sortArray", doc("input", ids, "sortBy", 1)) }

// copiesBut are a part's copies without those of some posts.
func copiesBut(posts []social.PostID) bson.D {
	others := doc("$not", bson.A{doc("$in", bson.A{"$$this._id", idArray(posts)})})
	return doc("$filter", doc("input", doc("$ifNull", bson.A{"$posts", bson.A{}}), "cond", others))
}

// trim removes the oldest closed parts.
func (f *keptFeed) trim(ctx context.Context, open *openPart) error {
	parts, err := findAll[closedPart](ctx, f.docs, doc("user", open.User, "upper", doc("$gt", zeroKey), "gen", open.Gen), f.kept,
		options.Find().SetSort(doc("upper", -1)).SetLimit(int64(f.kept)).SetHint(byPart).SetProjection(doc("lower", 1)))
	if err != nil || len(parts) < f.kept {
		return err
	}
	floor := parts[f.kept-1].Lower
	_, err = f.docs.UpdateOne(ctx, append(openOf(open.User), bson.E{Key: "gen", Value: open.Gen}), doc("$max", doc("floor", floor), "$set", doc("parts", f.kept)))
	if err != nil {
		return err
	}
	_, err = f.docs.DeleteMany(ctx, doc("user", open.User, "upper", doc("$gt", zeroKey, "$lte", floor), "gen", open.Gen),
		options.DeleteMany().SetHint(byPart))
	return err
}
