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
	"plaza/storage/mongodb/internal/mdb"
)

// bucketThreads keeps comments in buckets. A thread is one bucket with everything, while it is within the limit of that; or it
// is paged: buckets of a limited size, once by time and once as a tree. Which of the two a thread is, its buckets say.
type bucketThreads struct {
	buckets *mongo.Collection
	authors *mongo.Collection // who wrote what: see authorDoc
	whole   bucketLimit       // of threads in one bucket; zero: none is
	paged   bool              // threads above that limit are paged, else they are full
	page    bucketLimit       // of the buckets of a paged thread
}

// bucketLimit is how large a bucket may be; bytes are as weight has them.
type bucketLimit struct{ comments, bytes int }

// admits says whether a bucket may grow by so much.
func (l bucketLimit) admits(b *bucketDoc, comments, bytes int) bool {
	return b.Count+comments <= l.comments && b.Bytes+bytes <= l.bytes
}

func (t bucketThreads) indexes() map[*mongo.Collection][]mongo.IndexModel {
	return map[*mongo.Collection][]mongo.IndexModel{t.buckets: bucketIndexes(), t.authors: authorIndexes()}
}

// place is where a new comment goes: heads of buckets, without their comments; nil for those that are not there.
type place struct {
	whole, inTime, inTree *bucketDoc
	taken                 bool // its slug is in use
}

func (t bucketThreads) insert(ctx context.Context, comments []*social.Comment) error {
	docs := newCommentDocs(comments)
	together, err := t.insertTogether(ctx, docs)
	for i := 0; i < len(docs) && err == nil && !together; i++ {
		err = t.insertOne(ctx, &docs[i])
	}
	if err != nil {
		return err
	}
	return t.addAuthors(ctx, docs)
}

func (t bucketThreads) insertOne(ctx context.Context, c *commentDoc) error {
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
		return social.ErrTaken // after what is worse: the transaction is given up anyway
	}
	return nil
}

// place finds the buckets that a comment belongs in, and whether its slug is in use.
func (t bucketThreads) place(ctx context.Context, c *commentDoc) (place, error) {
	inTime, inTree := newRun(c.Post, runInTime), newRun(c.Post, runInTree)
	branches := bson.A{mdb.Doc("post", c.Post, "main", true, "comments.slug", c.Slug)}
	if t.paged {
		branches = append(branches, inTime.covering(inTime.key(c)), inTree.covering(inTree.key(c)))
	}
	if t.whole.comments > 0 {
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

func (r run) covers(b *bucketDoc, c *commentDoc) bool {
	at := r.at(r.key(c))
	return b.ID <= at && at < b.Upper
}

// makeRoom cuts in two what is full, where the comment belongs in the middle of it, until it fits.
func (t bucketThreads) makeRoom(ctx context.Context, p place, c *commentDoc) (place, error) {
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

func runOf(b *bucketDoc) run { return run(b.ID[:id.TextLen+1]) }

// split puts a bucket's comments into others: halves of it, or the runs of a paged thread.
func (t bucketThreads) split(ctx context.Context, head *bucketDoc, into ...run) error {
	var old bucketDoc
	own := mdb.Doc("post", head.Post, "_id", head.ID)
	if err := mdb.OrNotFound(t.buckets.FindOne(ctx, own).Decode(&old)); err != nil {
		return err
	}
	comments := commentsOf([]bucketDoc{old})
	models := []mongo.WriteModel{mongo.NewDeleteOneModel().SetFilter(own)}
	for _, r := range into {
		lower, upper, chunks := old.ID, old.Upper, halves
		if r != runOf(&old) {
			lower, upper, chunks = string(r), r.end(), t.page.chunks
		}
		for _, b := range r.buckets(lower, upper, comments, chunks) {
			models = append(models, mongo.NewInsertOneModel().SetDocument(b))
		}
	}
	_, err := t.buckets.BulkWrite(ctx, models)
	return err
}

// insertion counts a comment at its parent, and stores it in all runs.
func (t bucketThreads) insertion(p place, c *commentDoc) []mongo.WriteModel {
	whole := p.whole != nil || p.inTime == nil && t.whole.comments > 0
	var models []mongo.WriteModel
	if !c.Parent.IsZero() {
		parent := &commentDoc{ID: c.Parent, Post: c.Post, TreePath: c.TreePath[:max(0, len(c.TreePath)-id.TextLen)]}
		models = updates(whole, parent, live(mdb.Doc("_id", c.Parent)), mdb.Doc("$inc", mdb.Doc("comments.$.replies", 1)))
	}
	if whole {
		return append(models, newRun(c.Post, runWhole).push(p.whole, c, t.page)...)
	}
	models = append(models, newRun(c.Post, runInTime).push(p.inTime, c, t.page)...)
	return append(models, newRun(c.Post, runInTree).push(p.inTree, c, t.page)...)
}

// push stores a comment in its bucket, in a new one behind that if it is full, or in the run's first.
func (r run) push(b *bucketDoc, c *commentDoc, limit bucketLimit) []mongo.WriteModel {
	key := r.key(c)
	switch {
	case b == nil:
		return []mongo.WriteModel{mongo.NewInsertOneModel().SetDocument(r.bucket(string(r), r.end(), []commentDoc{*c}))}
	case r.kind() != runWhole && key > b.Last && !limit.admits(b, 1, weight(c)):
		next := r.bucket(r.at(key), b.Upper, []commentDoc{*c})
		return []mongo.WriteModel{
			mongo.NewUpdateOneModel().SetFilter(mdb.Doc("post", c.Post, "_id", b.ID)).SetUpdate(mdb.Doc("$set", mdb.Doc("upper", next.ID))),
			mongo.NewInsertOneModel().SetDocument(next),
		}
	}
	own := *c
	own.Post = social.PostID{}
	push := mdb.Doc("$each", bson.A{own})
	if key < b.Last {
		push = append(push, bson.E{Key: "$sort", Value: r.order()})
	}
	return []mongo.WriteModel{mongo.NewUpdateOneModel().SetFilter(mdb.Doc("post", c.Post, "_id", b.ID)).SetUpdate(mdb.Doc(
		"$push", mdb.Doc("comments", push), "$inc", mdb.Doc("count", 1, "bytes", weight(c)), "$max", mdb.Doc("last", key)))}
}

func (r run) order() bson.D {
	if r.kind() == runInTree {
		return mdb.Doc("treePath", 1)
	}
	return mdb.Doc("_id", 1)
}

// updates changes one comment wherever it lies. match says which elements of the buckets are meant; in the update they are
// "comments.$".
func updates(whole bool, c *commentDoc, match, update bson.D) []mongo.WriteModel {
	filters := []bson.D{mdb.Doc("post", c.Post, "_id", string(newRun(c.Post, runWhole)))}
	hint := any(mdb.Doc("_id", 1))
	if !whole {
		hint = byUpper
		filters = filters[:0]
		for _, kind := range []byte{runInTime, runInTree} {
			r := newRun(c.Post, kind)
			filters = append(filters, r.covering(r.key(c)))
		}
	}
	models := make([]mongo.WriteModel, len(filters))
	for i, filter := range filters {
		filter = append(filter, bson.E{Key: "comments", Value: mdb.Doc("$elemMatch", match)})
		models[i] = mongo.NewUpdateOneModel().SetFilter(filter).SetUpdate(update).SetHint(hint)
	}
	return models
}

// change writes, updates first, and sees to it that each of them met something. ErrNotFound: one did not.
func (t bucketThreads) change(ctx context.Context, models []mongo.WriteModel) error {
	var updates, others []mongo.WriteModel // one command each
	for _, m := range models {
		if _, ok := m.(*mongo.UpdateOneModel); ok {
			updates = append(updates, m)
		} else {
			others = append(others, m)
		}
	}
	result, err := t.buckets.BulkWrite(ctx, append(updates, others...))
	if err == nil && result.MatchedCount != int64(len(updates)) {
		return social.ErrNotFound
	}
	return err
}

func (t bucketThreads) edit(ctx context.Context, post social.PostID, comment social.CommentID, text string, at time.Time) error {
	branch, whole, err := t.branch(ctx, post, comment)
	if err != nil {
		return err
	}
	own := &branch[0]
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
	room := mdb.Doc("post", post, "_id", string(newRun(post, runWhole)), "comments._id", comment, "bytes", mdb.Doc("$lte", t.whole.bytes-growth))
	err = mdb.UpdateOne(ctx, t.buckets, room, update)
	if errors.Is(err, social.ErrNotFound) {
		return social.ErrThreadFull // the comment is there: it was read just now
	}
	return err
}

// makeRoomForText cuts the buckets in which a comment grows until it fits, and says whether the thread is still in one bucket.
func (t bucketThreads) makeRoomForText(ctx context.Context, own *commentDoc, whole bool, growth int) (bool, error) {
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

// branch reads a live comment and its ancestors, upwards, and says whether their thread is in one bucket.
func (t bucketThreads) branch(ctx context.Context, post social.PostID, comment social.CommentID) ([]commentDoc, bool, error) {
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
	ancestors := own[0].comment().AncestorIDs()
	if len(ancestors) == 0 {
		return own, whole, nil
	}
	if buckets, err = read(ancestors); err != nil {
		return nil, false, err
	}
	docs := commentsOf(buckets)
	slices.SortFunc(docs, func(a, b commentDoc) int { return len(b.TreePath) - len(a.TreePath) })
	return append(own, docs...), whole, nil
}

func (t bucketThreads) remove(ctx context.Context, post social.PostID, comment social.CommentID) error {
	branch, whole, err := t.branch(ctx, post, comment)
	if err != nil {
		return err
	}
	own := &branch[0]
	if err := t.removeAuthor(ctx, own); err != nil {
		return err
	}
	if own.Replies > 0 {
		return t.change(ctx, updates(whole, own, mdb.Doc("_id", own.ID), mdb.Doc(
			"$set", mdb.Doc("comments.$.deleted", true), "$inc", mdb.Doc("bytes", -len(own.Text)),
			"$unset", mdb.Doc("comments.$.author", 1, "comments.$.text", 1, "comments.$.editedAt", 1))))
	}
	gone := 1
	for gone < len(branch) && branch[gone].Deleted && branch[gone].Replies == 1 {
		gone++
	}
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
		return err
	}
	return t.tidy(ctx, post, branch[:gone])
}

func (t bucketThreads) removeThread(ctx context.Context, post social.PostID) error {
	if err := t.removeAuthors(ctx, post); err != nil {
		return err
	}
	_, err := t.buckets.DeleteMany(ctx, bucketsOf(post), options.DeleteMany().SetHint(mdb.Doc("_id", 1)))
	return err
}

// bucketsOf matches all buckets of a post: their _ids begin with its id's text.
func bucketsOf(post social.PostID) bson.D {
	return mdb.Doc("post", post, "_id", mdb.Doc("$gt", post.ID.String(), "$lt", post.ID.String()+behind))
}

// removePart removes entries of authors first, and then buckets, a hundred comments in each.
func (t bucketThreads) removePart(ctx context.Context, post social.PostID, most int) (bool, error) {
	authors, err := mdb.FindAll[authorDoc](ctx, t.authors, mdb.Doc("post", post), most, options.Find().SetLimit(int64(most)).SetHint(byPost))
	if err != nil {
		return false, err
	}
	if len(authors) > 0 {
		ids := mdb.Map(authors, func(d *authorDoc) social.CommentID { return d.ID })
		_, err := t.authors.DeleteMany(ctx, mdb.Doc("post", post, "_id", mdb.Doc("$in", mdb.Values(ids))), options.DeleteMany().SetHint(mdb.Doc("_id", 1)))
		return true, err
	}
	some := max(1, most/pageLimit.comments)
	heads, err := mdb.FindAll[bucketHead](ctx, t.buckets, bucketsOf(post), some,
		options.Find().SetLimit(int64(some)).SetHint(mdb.Doc("_id", 1)).SetProjection(mdb.Doc("_id", 1)))
	if err != nil || len(heads) == 0 {
		return false, err
	}
	ids := mdb.Map(heads, func(d *bucketHead) string { return d.ID })
	_, err = t.buckets.DeleteMany(ctx, mdb.Doc("post", post, "_id", mdb.Doc("$in", ids)))
	return true, err
}

// bucketHead is a bucket's name.
type bucketHead struct {
	ID string `bson:"_id"`
}

func (t bucketThreads) thread(ctx context.Context, post social.PostID) ([]commentDoc, error) {
	inTime := newRun(post, runInTime)
	filters := []bson.D{mdb.Doc("_id", mdb.Doc("$gte", string(inTime), "$lt", inTime.end()))}
	if t.whole.comments > 0 {
		filters = append(filters, mdb.Doc("_id", string(newRun(post, runWhole))))
	}
	var comments []commentDoc
	for _, filter := range filters { // one of them finds nothing
		buckets, err := mdb.FindAll[bucketDoc](ctx, t.buckets, filter, mdb.InBatch, options.Find().SetSort(mdb.Doc("_id", 1)).SetHint(mdb.Doc("_id", 1)))
		if err != nil {
			return nil, err
		}
		comments = append(comments, commentsOf(buckets)...)
	}
	return comments, nil
}

func (t bucketThreads) parts(post social.PostID, comments []commentDoc) ([]threadPart, error) {
	buckets, err := t.bucketsOf(post, comments, t.page)
	parts := partsOf(t.buckets, buckets, longThread/max(1, t.page.comments))
	return append(parts, partsOf(t.authors, authorsOf(comments), longThread)...), err
}

// bucketsOf cuts a thread into its buckets, those in the order of the tree up to a limit of their own. ErrThreadFull: it would need
// more than one, and may not have them.
func (t bucketThreads) bucketsOf(post social.PostID, comments []commentDoc, inTreeOrder bucketLimit) ([]bucketDoc, error) {
	if len(comments) == 0 {
		return nil, nil
	}
	comments = slices.Clone(comments)
	bytes := 0
	for i := range comments {
		comments[i].Seq, comments[i].Post = social.CommentID{}, post
		bytes += weight(&comments[i])
	}
	whole, inTime, inTree := newRun(post, runWhole), newRun(post, runInTime), newRun(post, runInTree)
	switch {
	case len(comments) <= t.whole.comments && bytes <= t.whole.bytes:
		return whole.buckets(string(whole), whole.end(), comments, t.whole.chunks), nil
	case !t.paged:
		return nil, social.ErrThreadFull
	}
	all := inTime.buckets(string(inTime), inTime.end(), comments, t.page.chunks)
	return append(all, inTree.buckets(string(inTree), inTree.end(), comments, inTreeOrder.chunks)...), nil
}
