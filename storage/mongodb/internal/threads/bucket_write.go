package threads

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/batch"
	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// place is where a new comment belongs: heads of buckets, without their comments; nil for those
// that do not exist.
type place struct {
	whole, inTime, inTree *bucketDoc
	taken                 bool // its slug is in use
}

func (t inBuckets) Insert(ctx context.Context, comments []*social.Comment) error {
	docs := newDocuments(comments)
	for _, thread := range batch.Runs(docs, postOf) {
		if err := t.insertInto(ctx, thread); err != nil {
			return err
		}
	}
	return t.addAuthors(ctx, docs)
}

// insertInto stores comments on one post.
func (t inBuckets) insertInto(ctx context.Context, thread []Document) error {
	together, err := t.insertTogether(ctx, thread)
	for i := 0; i < len(thread) && err == nil && !together; i++ {
		err = t.insertOne(ctx, &thread[i])
	}
	return err
}

func (t inBuckets) insertOne(ctx context.Context, c *Document) error {
	p, err := t.place(ctx, c)
	if err != nil {
		return err
	}
	if p.whole != nil && !t.whole.admits(p.whole, 1, weight(c)) {
		if !t.paged {
			return social.ErrThreadFull
		}
		if err := t.split(ctx, p.whole, newRun(c.Post, runInTime), newRun(c.Post, runInTree)); err != nil {
			return err
		}
		if p, err = t.place(ctx, c); err != nil {
			return err
		}
	}
	if p, err = t.makeRoom(ctx, p, c); err != nil {
		return err
	}
	if err := t.change(ctx, t.insertion(p, c)); err != nil {
		return err
	}
	if p.taken {
		return social.ErrTaken // last, because other errors matter more; the transaction is given up anyway
	}
	return nil
}

// place finds the buckets that a comment belongs in, and whether its slug is in use.
func (t inBuckets) place(ctx context.Context, c *Document) (place, error) {
	inTime, inTree := newRun(c.Post, runInTime), newRun(c.Post, runInTree)
	branches := bson.A{mdb.Doc("post", c.Post, "main", true, "comments.slug", c.Slug)}
	if t.paged {
		branches = append(branches, inTime.covering(inTime.key(c)), inTree.covering(inTree.key(c)))
	}
	if t.whole.Comments > 0 {
		branches = append(branches, mdb.Doc("post", c.Post, "_id", string(newRun(c.Post, runWhole))))
	}
	taken := mdb.Doc("$in", bson.A{literal(c.Slug), "$comments.slug"})
	project := mdb.Doc("post", 1, "main", 1, "upper", 1, "count", 1, "bytes", 1, "last", 1, "taken", taken)
	found, err := mdb.FindAll[bucketDoc](ctx, t.buckets, mdb.Doc("$or", branches), len(branches), options.Find().SetProjection(project))
	var p place
	for i := range found {
		b := &found[i]
		p.taken = p.taken || b.taken
		switch kind := b.ID[id.TextLen]; {
		case kind == runWhole:
			p.whole = b
		case kind == runInTime && inTime.covers(b, c):
			p.inTime = b
		case kind == runInTree && inTree.covers(b, c):
			p.inTree = b
		}
	}
	return p, err
}

// makeRoom cuts full buckets in two until the comment fits. A comment that belongs at the end of
// one goes into a new one instead.
func (t inBuckets) makeRoom(ctx context.Context, p place, c *Document) (place, error) {
	for {
		cut := false
		for _, b := range []*bucketDoc{p.inTime, p.inTree} {
			if b == nil || b.Count < 2 || t.page.admits(b, 1, weight(c)) || runOf(b).key(c) > b.Last {
				continue
			}
			cut = true
			if err := t.split(ctx, b, runOf(b)); err != nil {
				return p, err
			}
		}
		if !cut {
			return p, nil
		}
		var err error
		if p, err = t.place(ctx, c); err != nil {
			return p, err
		}
	}
}

// insertion counts a comment at its parent, and stores it in all runs.
func (t inBuckets) insertion(p place, c *Document) []mongo.WriteModel {
	whole := p.whole != nil || p.inTime == nil && t.whole.Comments > 0
	var models []mongo.WriteModel
	if !c.Parent.IsZero() {
		parent := &Document{ID: c.Parent, Post: c.Post, TreePath: c.TreePath[:max(0, len(c.TreePath)-id.TextLen)]}
		models = updates(whole, parent, shown(mdb.Doc("_id", c.Parent)), mdb.Doc("$inc", mdb.Doc("comments.$.replies", 1)))
	}
	if whole {
		return append(models, newRun(c.Post, runWhole).push(p.whole, c, t.page)...)
	}
	models = append(models, newRun(c.Post, runInTime).push(p.inTime, c, t.page)...)
	return append(models, newRun(c.Post, runInTree).push(p.inTree, c, t.page)...)
}

func (t inBuckets) Edit(ctx context.Context, post social.PostID, comment social.CommentID, text string, at time.Time) error {
	branch, whole, err := t.branch(ctx, post, comment)
	if err != nil {
		return err
	}
	own := &branch[0]
	if own.Hidden {
		return social.ErrNotFound
	}
	growth := len(text) - len(own.Text)
	update := mdb.Doc("$set", mdb.Doc("comments.$.text", text, "comments.$.editedAt", at), "$inc", mdb.Doc("bytes", growth))
	if t.paged && growth > 0 {
		if whole, err = t.makeRoomForText(ctx, own, whole, growth); err != nil {
			return err
		}
	}
	if !whole || t.paged || growth <= 0 {
		return t.change(ctx, updates(whole, own, mdb.Doc("_id", comment), update))
	}
	room := mdb.Doc("post", post, "_id", string(newRun(post, runWhole)), "comments._id", comment, "bytes", mdb.Doc("$lte", t.whole.Bytes-growth))
	err = mdb.UpdateOne(ctx, t.buckets, room, update)
	if errors.Is(err, social.ErrNotFound) {
		return social.ErrThreadFull // the comment exists: branch has read it
	}
	return err
}

func (t inBuckets) Hide(ctx context.Context, post social.PostID, comment social.CommentID, hide bool) error {
	branch, whole, err := t.branch(ctx, post, comment)
	if err != nil {
		return err
	}
	return t.change(ctx, updates(whole, &branch[0], mdb.Doc("_id", comment), hiding("comments.$.hidden", hide)))
}

// makeRoomForText cuts the buckets in which a comment grows until it fits, and returns whether the
// thread is still in one bucket.
func (t inBuckets) makeRoomForText(ctx context.Context, own *Document, whole bool, growth int) (bool, error) {
	for {
		p, err := t.place(ctx, own)
		if err != nil {
			return whole, err
		}
		if p.whole != nil {
			if t.whole.admits(p.whole, 0, growth) {
				return true, nil
			}
			if err := t.split(ctx, p.whole, newRun(own.Post, runInTime), newRun(own.Post, runInTree)); err != nil {
				return whole, err
			}
			continue
		}
		cut := false
		for _, b := range []*bucketDoc{p.inTime, p.inTree} {
			if b == nil || b.Count < 2 || t.page.admits(b, 0, growth) {
				continue
			}
			cut = true
			if err := t.split(ctx, b, runOf(b)); err != nil {
				return false, err
			}
		}
		if !cut {
			return false, nil
		}
	}
}

// branch reads a live comment and its ancestors, upwards, and returns whether their thread is in
// one bucket. ErrNotFound.
func (t inBuckets) branch(ctx context.Context, post social.PostID, comment social.CommentID) ([]Document, bool, error) {
	read := func(ids []social.CommentID) ([]bucketDoc, error) {
		list := mdb.Values(ids)
		return t.pick(ctx, mdb.Doc("post", post, "main", true, "comments._id", mdb.Doc("$in", list)), "_id", list, byComment)
	}
	buckets, err := read([]social.CommentID{comment})
	own := commentsOf(buckets)
	if err != nil || len(own) == 0 || own[0].Deleted {
		return nil, false, errors.Join(err, social.ErrNotFound)
	}
	whole := buckets[0].ID[id.TextLen] == runWhole
	ancestors := own[0].Comment().AncestorIDs()
	if len(ancestors) == 0 {
		return own, whole, nil
	}
	if buckets, err = read(ancestors); err != nil {
		return nil, false, err
	}
	docs := commentsOf(buckets)
	slices.SortFunc(docs, func(a, b Document) int { return len(b.TreePath) - len(a.TreePath) })
	return append(own, docs...), whole, nil
}

func (t inBuckets) Remove(ctx context.Context, post social.PostID, comment social.CommentID) (social.Removal, error) {
	branch, whole, err := t.branch(ctx, post, comment)
	if err != nil {
		return social.Removal{}, err
	}
	own := &branch[0]
	if err := t.removeAuthor(ctx, own); err != nil {
		return social.Removal{}, err
	}
	if own.Replies > 0 {
		return social.Removal{}, t.change(ctx, updates(whole, own, mdb.Doc("_id", own.ID), mdb.Doc(
			"$set", mdb.Doc("comments.$.deleted", true), "$inc", mdb.Doc("bytes", -len(own.Text)),
			"$unset", mdb.Doc("comments.$.author", 1, "comments.$.text", 1, "comments.$.editedAt", 1, "comments.$.hidden", 1))))
	}
	gone, removal := prune(branch)
	var models []mongo.WriteModel
	for i := range branch[:gone] {
		c := &branch[i]
		models = append(models, updates(whole, c, mdb.Doc("_id", c.ID), mdb.Doc(
			"$pull", mdb.Doc("comments", mdb.Doc("_id", c.ID)), "$inc", mdb.Doc("count", -1, "bytes", -weight(c))))...)
	}
	if gone < len(branch) {
		up := &branch[gone]
		models = append(models, updates(whole, up, mdb.Doc("_id", up.ID), mdb.Doc("$inc", mdb.Doc("comments.$.replies", -1)))...)
	}
	if err := t.change(ctx, models); err != nil || whole {
		return removal, err
	}
	return removal, t.tidy(ctx, post, branch[:gone])
}
