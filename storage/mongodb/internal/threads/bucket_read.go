package threads

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// runQuery describes how to read one page of a thread from its buckets.
type runQuery struct {
	post      social.PostID
	kind      byte             // runInTime or runInTree
	from, to  social.Key       // only keys between these; "" for no bound
	including bool             // the key from is included
	desc      bool             // the thread is listed with its greatest key first
	parent    social.CommentID // not zero: only its replies
	shown     bool             // neither tombstones nor hidden comments
	without   []social.UserID  // none of these authors
	limit     int
	last      bool // take the page from the list's end
}

// newRunQuery reads a page of a thread.
func newRunQuery(list social.List[social.Thread]) runQuery {
	t := list.Of
	q := runQuery{post: t.Post, kind: runInTime, parent: t.Parent, limit: list.Limit, last: list.Last}
	q.from, q.to = list.After, list.Before
	if t.Order == social.OrderNewest {
		q.desc, q.from, q.to = true, q.to, q.from
	}
	if t.Order != social.OrderThreaded {
		return q
	}
	q.kind = runInTree
	if t.Under != "" && q.from < t.Under {
		q.from, q.including = t.Under, true
	}
	if t.Under != "" && (q.to == "" || q.to > t.Under+behind) {
		q.to = t.Under + behind
	}
	return q
}

// upwards reports whether buckets are read with the smallest keys first.
func (q runQuery) upwards() bool { return q.desc == q.last }

// bound is the position of a key of the list among the buckets of a run.
func (q runQuery) bound(r run, key social.Key) string {
	if q.kind == runInTree || key == "" {
		return r.at(string(key))
	}
	var raw id.ID
	copy(raw[:], key)
	return r.at(raw.String())
}

// match finds the buckets of a run that may have something of the page: by uppers on the way up, by
// _ids on the way down, and also by the other one if the page has a bound there.
func (q runQuery) match(r run) bson.D {
	lower, upper := mdb.Doc("$gte", string(r), "$lt", r.end()), mdb.Doc("$gt", q.bound(r, q.from), "$lte", r.end())
	if q.to != "" {
		lower = mdb.Doc("$gte", string(r), "$lt", q.bound(r, q.to))
	}
	switch {
	case q.upwards() && q.to == "":
		return mdb.Doc("post", q.post, "upper", upper)
	case !q.upwards() && q.from == "":
		return mdb.Doc("post", q.post, "_id", lower)
	}
	return mdb.Doc("post", q.post, "upper", upper, "_id", lower)
}

// matchWhole finds the bucket of a thread that is stored in one, by the same index.
func (q runQuery) matchWhole() bson.D {
	r := newRun(q.post, runWhole)
	if q.upwards() {
		return mdb.Doc("post", q.post, "upper", r.end())
	}
	return mdb.Doc("post", q.post, "_id", string(r))
}

// branches find the buckets in a layout. Only one of them finds any.
func (q runQuery) branches(t inBuckets) []bson.D {
	if !q.parent.IsZero() {
		return []bson.D{q.whereReplies()}
	}
	var branches []bson.D
	if t.paged {
		branches = append(branches, q.match(newRun(q.post, q.kind)))
	}
	if t.whole.Comments > 0 {
		branches = append(branches, q.matchWhole())
	}
	return branches
}

// whereReplies finds the buckets that have replies to the parent.
func (q runQuery) whereReplies() bson.D {
	r := newRun(q.post, runInTime)
	upper := mdb.Doc("$gt", q.bound(r, q.from), "$lte", newRun(q.post, runWhole).end())
	filter := mdb.Doc("post", q.post, "main", true, "comments.parent", q.parent, "upper", upper)
	if q.to != "" { // the bucket of a whole thread is after the run
		beyond := mdb.Doc("$gte", q.bound(r, q.to), "$lt", r.end())
		filter = append(filter, bson.E{Key: "_id", Value: mdb.Doc("$not", beyond)})
	}
	return filter
}

// sort reads buckets by the index in which their bound is tight.
func (q runQuery) sort() bson.D {
	switch {
	case !q.parent.IsZero() && q.upwards():
		return mdb.Doc("upper", 1)
	case !q.parent.IsZero():
		return mdb.Doc("upper", -1)
	case q.upwards():
		return mdb.Doc("upper", 1)
	}
	return mdb.Doc("_id", -1)
}

func (q runQuery) hint() string {
	switch {
	case !q.parent.IsZero():
		return byReply
	case q.upwards():
		return byUpper
	}
	return byLower
}

// keep are the conditions on single comments.
func (q runQuery) keep() bson.A {
	var all bson.A
	field, value := "$$this._id", mdb.IDKey
	if q.kind == runInTree {
		field, value = "$$this.treePath", textKey
	}
	if q.from != "" && q.including {
		all = append(all, mdb.Doc("$gte", bson.A{field, literal(value(q.from))}))
	} else if q.from != "" {
		all = append(all, mdb.Doc("$gt", bson.A{field, literal(value(q.from))}))
	}
	if q.to != "" {
		all = append(all, mdb.Doc("$lt", bson.A{field, literal(value(q.to))}))
	}
	if !q.parent.IsZero() {
		all = append(all, mdb.Doc("$eq", bson.A{"$$this.parent", literal(q.parent)}))
	}
	if q.shown {
		all = append(all, mdb.Doc("$ne", bson.A{"$$this.deleted", true}), mdb.Doc("$ne", bson.A{"$$this.hidden", true}))
	}
	if len(q.without) > 0 {
		all = append(all, mdb.Doc("$not", bson.A{mdb.Doc("$in", bson.A{"$$this.author", literal(q.without)})}))
	}
	return all
}

// literal prevents a user's text from being evaluated as an expression.
func literal(v any) bson.D { return mdb.Doc("$literal", v) }

// comments selects what the page may need from a bucket with a whole thread, which must be sorted
// for the tree's order.
func (q runQuery) comments() any {
	var from any = "$comments"
	if keep := q.keep(); len(keep) > 0 {
		from = mdb.Doc("$filter", mdb.Doc("input", from, "cond", mdb.Doc("$and", keep)))
	}
	if q.kind == runInTree {
		from = mdb.Doc("$sortArray", mdb.Doc("input", from, "sortBy", mdb.Doc("treePath", 1)))
	}
	if q.upwards() {
		return mdb.Doc("$slice", bson.A{from, q.limit})
	}
	return mdb.Doc("$slice", bson.A{from, -q.limit})
}

// project selects what the page may need from a bucket. Small buckets are read as they are:
// selecting comments costs the database more than sending them all.
func (q runQuery) project(t inBuckets) bson.D {
	if t.paged {
		return nil
	}
	return mdb.Doc("upper", 1, "comments", q.comments())
}

// rawBucket is a bucket whose comments are decoded only where a page needs them.
type rawBucket struct {
	id, upper string
	comments  bsoncore.Array
}

func (b *rawBucket) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.Text(v, &b.id)
	case "upper":
		r.Text(v, &b.upper)
	case "comments":
		r.Check(v.Type == bsoncore.TypeArray, v)
		b.comments = slices.Clone(v.Data) // the driver reuses the memory
	}
}

// pick returns what the page may need from a bucket, in the order of reading.
func (q runQuery) pick(b *rawBucket) ([]Document, error) {
	values, err := b.comments.Values()
	if err != nil {
		return nil, fmt.Errorf("bucket %s is malformed: %w", b.id, err)
	}
	values = slices.DeleteFunc(values, func(v bsoncore.Value) bool { return !q.between(v) })
	sorted := q.kind == runInTime || run(b.id).kind() != runWhole
	if all := q.parent.IsZero() && !q.shown && sorted; all {
		values = firstOf(values, q.limit, q.upwards())
	}
	kept := make([]Document, 0, len(values))
	for _, v := range values {
		var c Document
		if err := mdb.ReadDocument(v.Data, &c); err != nil {
			return nil, err
		}
		if q.wants(&c) {
			c.Post = q.post
			kept = append(kept, c)
		}
	}
	if !sorted {
		slices.SortFunc(kept, func(a, b Document) int { return cmp.Compare(a.TreePath, b.TreePath) })
	}
	kept = firstOf(kept, q.limit, q.upwards())
	if !q.upwards() {
		slices.Reverse(kept)
	}
	return kept, nil
}

// between reports whether a raw comment's key is within the page's bounds.
func (q runQuery) between(v bsoncore.Value) bool {
	var key social.Key
	raw := bsoncore.Document(v.Data)
	if q.kind == runInTree {
		text, _ := raw.Lookup("treePath").StringValueOK()
		key = social.Key(text)
	} else {
		_, bytes, _ := raw.Lookup("_id").BinaryOK()
		key = social.Key(bytes)
	}
	return (key > q.from || q.including && key == q.from) && (q.to == "" || key < q.to)
}

// wants checks the conditions that are not about the key.
func (q runQuery) wants(c *Document) bool {
	return (q.parent.IsZero() || c.Parent == q.parent) && (!q.shown || !c.Deleted && !c.Hidden) && !slices.Contains(q.without, c.Author)
}

// firstOf cuts a sorted list to the n entries that are read first.
func firstOf[T any](list []T, n int, upwards bool) []T {
	if upwards {
		return list[:min(n, len(list))]
	}
	return list[max(0, len(list)-n):]
}

// filter joins all branches.
func (q runQuery) filter(t inBuckets) bson.D {
	branches := q.branches(t)
	if len(branches) == 1 {
		return branches[0]
	}
	return mdb.Doc("$or", branches)
}

// partialRun is a page that is being filled.
type partialRun struct {
	query   runQuery
	buckets int        // to be read next
	read    []Document // in the order of reading
	done    bool
}

func (t inBuckets) begin(q runQuery) *partialRun {
	const scattered = 8 // replies may be anywhere
	if !q.parent.IsZero() {
		return &partialRun{query: q, buckets: scattered}
	}
	// At a bound the first bucket has only a part of the page.
	buckets := 1 + q.limit/max(1, t.page.Comments)
	if q.from != "" || !q.upwards() {
		buckets++
	}
	return &partialRun{query: q, buckets: buckets}
}

// add takes what was read, and records where to continue.
func (p *partialRun) add(buckets []rawBucket) error {
	for i := range buckets {
		comments, err := p.query.pick(&buckets[i])
		if err != nil {
			return err
		}
		p.read = append(p.read, comments...)
	}
	if len(buckets) < p.buckets || len(p.read) >= p.query.limit {
		p.done = true
		return nil
	}
	p.done = !p.query.continueAfter(&buckets[len(buckets)-1])
	p.buckets *= 8
	return nil
}

// continueAfter continues after a bucket, if anything can be there.
func (q *runQuery) continueAfter(b *rawBucket) bool {
	bound := b.id
	if q.upwards() {
		bound = b.upper
	}
	text := bound[id.TextLen+1:]
	if text == "" || text == behind {
		return false
	}
	key := social.Key(text)
	if q.kind == runInTime {
		parsed, err := id.ParseText(text)
		if err != nil {
			return false
		}
		key = social.Key(parsed.Bytes())
	}
	if q.upwards() {
		q.from, q.including = key, true
	} else {
		q.to = key
	}
	return true
}

// page returns what was read, in the list's order.
func (p *partialRun) page() []Document {
	page := p.read[:min(len(p.read), p.query.limit)]
	if p.query.last {
		slices.Reverse(page)
	}
	return page
}

// read reads a page of each list. All lists advance together: usually they take one command, or one
// more if many comments were deleted or are left out.
func (t inBuckets) read(ctx context.Context, queries []runQuery) ([][]Document, error) {
	runs := make([]*partialRun, len(queries))
	for i, q := range queries {
		runs[i] = t.begin(q)
	}
	open := slices.Clone(runs)
	for len(open) > 0 {
		for batch := range slices.Chunk(open, mdb.ListsInBatch) {
			if err := t.advance(ctx, batch); err != nil {
				return nil, err
			}
		}
		open = slices.DeleteFunc(open, func(p *partialRun) bool { return p.done })
	}
	pages := make([][]Document, len(runs))
	for i, p := range runs {
		pages[i] = p.page()
	}
	return pages, nil
}

// advance reads the next buckets of all runs in one command.
func (t inBuckets) advance(ctx context.Context, runs []*partialRun) error {
	if len(runs) == 1 {
		p := runs[0]
		find := options.Find().SetSort(p.query.sort()).SetHint(p.query.hint()).SetLimit(int64(p.buckets))
		if project := p.query.project(t); project != nil {
			find.SetProjection(project)
		}
		buckets, err := mdb.FindAll[rawBucket](ctx, t.buckets, p.query.filter(t), p.buckets, find)
		if err != nil {
			return err
		}
		return p.add(buckets)
	}
	total := 0
	var pipelines []bson.A
	for i, p := range runs {
		total += p.buckets
		for _, branch := range p.query.branches(t) { // one by one: a pipeline inside another takes no hint
			pipelines = append(pipelines, p.stages(t, branch, i))
		}
	}
	found, err := mdb.AggregateAll[mdb.Tagged[rawBucket]](ctx, t.buckets, mdb.Union(t.buckets, pipelines), total)
	if err != nil {
		return err
	}
	buckets := make([][]rawBucket, len(runs))
	for _, f := range found {
		buckets[f.List] = append(buckets[f.List], f.Doc)
	}
	for i, p := range runs {
		if err := p.add(buckets[i]); err != nil {
			return err
		}
	}
	return nil
}

// stages reads the next buckets in an aggregation, each with the list's number.
func (p *partialRun) stages(t inBuckets, branch bson.D, number int) bson.A {
	stages := bson.A{mdb.Doc("$match", branch), mdb.Doc("$sort", p.query.sort()), mdb.Doc("$limit", p.buckets)}
	if project := p.query.project(t); project != nil {
		stages = append(stages, mdb.Doc("$project", project))
	}
	return append(stages, mdb.Doc("$addFields", mdb.Doc("list", literal(number))))
}

func (t inBuckets) Pages(ctx context.Context, lists []social.List[social.Thread]) (map[social.List[social.Thread]][]*social.Comment, error) {
	queries := make([]runQuery, len(lists))
	for i, list := range lists {
		queries[i] = newRunQuery(list)
	}
	pages, err := t.read(ctx, queries)
	if err != nil {
		return nil, err
	}
	answer := make(map[social.List[social.Thread]][]*social.Comment, len(lists))
	for i, list := range lists {
		answer[list] = mdb.Map(pages[i], (*Document).Comment)
	}
	return answer, nil
}

func (t inBuckets) Newest(ctx context.Context, posts []social.PostID, without []social.UserID, n int) ([][]Document, error) {
	queries := make([]runQuery, len(posts))
	for i, post := range posts {
		queries[i] = runQuery{post: post, kind: runInTime, desc: true, shown: true, without: without, limit: n}
	}
	return t.read(ctx, queries)
}

func (t inBuckets) PostOf(ctx context.Context, comment social.CommentID) (social.PostID, error) {
	var d bucketDoc
	only := options.FindOne().SetProjection(mdb.Doc("post", 1)).SetHint(byComment)
	err := mdb.OrNotFound(t.buckets.FindOne(ctx, mdb.Doc("main", true, "comments._id", comment), only).Decode(&d))
	return d.Post, err
}

func (t inBuckets) ByID(ctx context.Context, ids []social.CommentID) ([]Document, error) {
	var all []Document
	for batch := range slices.Chunk(ids, mdb.InBatch) {
		some, err := t.pick(ctx, mdb.Doc("main", true, "comments._id", mdb.Doc("$in", mdb.Values(batch))), "_id", mdb.Values(batch), byComment)
		if err != nil {
			return nil, err
		}
		all = append(all, commentsOf(some)...)
	}
	return all, nil
}

func (t inBuckets) BySlug(ctx context.Context, links []social.Permalink) ([]Document, error) {
	var all []Document
	for batch := range slices.Chunk(links, mdb.ListsInBatch) {
		one := func(l social.Permalink) bson.D { return mdb.Doc("main", true, "post", l.Post, "comments.slug", l.Slug) }
		var filters bson.A
		var slugs []string
		for _, l := range batch {
			filters, slugs = append(filters, one(l)), append(slugs, l.Slug)
		}
		filter := one(batch[0])
		if len(batch) > 1 {
			filter = mdb.Doc("$or", filters)
		}
		some, err := t.pick(ctx, filter, "slug", slugs, byCommentSlug)
		if err != nil {
			return nil, err
		}
		all = append(all, commentsOf(some)...)
	}
	return all, nil
}

// pick reads from the buckets that match those comments whose field has one of the values.
func (t inBuckets) pick(ctx context.Context, filter bson.D, field string, values any, hint string) ([]bucketDoc, error) {
	cond := mdb.Doc("$in", bson.A{"$$this." + field, literal(values)})
	project := mdb.Doc("post", 1, "comments", mdb.Doc("$filter", mdb.Doc("input", "$comments", "cond", cond)))
	return mdb.FindAll[bucketDoc](ctx, t.buckets, filter, mdb.InBatch, options.Find().SetProjection(project).SetHint(hint))
}

// commentsOf returns the comments in buckets, each with its post.
func commentsOf(buckets []bucketDoc) []Document {
	var all []Document
	for _, b := range buckets {
		for _, c := range b.Comments {
			c.Post = b.Post
			all = append(all, c)
		}
	}
	return all
}
