package mongodb

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/social"
)

// listsInBatch is how many lists are read in one command.
const listsInBatch = 100

// listQuery says how to read one page of one list.
type listQuery struct {
	filter  bson.D // which documents are in the list
	key     string // the field that orders it
	value   func(social.Key) any
	bounds  bson.D // further conditions on the key
	desc    bool   // list order
	project bson.D // nil: whole documents
	hint    string // the index
	page    social.Page
}

// backwards says whether the index is read against the list's order.
func (q listQuery) backwards() bool { return q.page.Last }

// match is the filter with the page's bounds.
func (q listQuery) match() bson.D {
	behind, ahead := "$gt", "$lt"
	if q.desc {
		behind, ahead = "$lt", "$gt"
	}
	bounds := slices.Clone(q.bounds)
	if q.page.After != "" {
		bounds = tighten(bounds, behind, q.value(q.page.After))
	}
	if q.page.Before != "" {
		bounds = tighten(bounds, ahead, q.value(q.page.Before))
	}
	if len(bounds) == 0 {
		return q.filter
	}
	return append(slices.Clone(q.filter), bson.E{Key: q.key, Value: bounds})
}

// tighten sets a bound instead of the one with the same operator, which is looser.
func tighten(bounds bson.D, operator string, value any) bson.D {
	for i := range bounds {
		if bounds[i].Key == operator {
			bounds[i].Value = value
			return bounds
		}
	}
	return append(bounds, bson.E{Key: operator, Value: value})
}

func (q listQuery) sort() bson.D {
	if q.desc != q.backwards() {
		return doc(q.key, -1)
	}
	return doc(q.key, 1)
}

// stages reads the page in an aggregation, each document with the list's number.
func (q listQuery) stages(number int) bson.A {
	stages := bson.A{doc("$match", q.match()), doc("$sort", q.sort()), doc("$limit", q.page.Limit)}
	if q.project != nil {
		stages = append(stages, doc("$project", q.project))
	}
	return append(stages, doc("$addFields", doc("list", doc("$literal", number))))
}

// tagged is a document with the number of its list. D must read itself.
type tagged[D any] struct {
	list int
	doc  D
}

func (t *tagged[D]) set(r *reading, field []byte, v bsoncore.Value) {
	if string(field) == "list" {
		r.int(v, &t.list)
	} else if d, ok := any(&t.doc).(document); ok {
		d.set(r, field, v)
	}
}

// readList reads one page by a plain find, in list order.
func readList[D any](ctx context.Context, c *mongo.Collection, q listQuery) ([]D, error) {
	find := options.Find().SetSort(q.sort()).SetLimit(int64(q.page.Limit)).SetHint(q.hint)
	if q.project != nil {
		find.SetProjection(q.project)
	}
	docs, err := findAll[D](ctx, c, q.match(), q.page.Limit, find)
	if q.backwards() {
		slices.Reverse(docs)
	}
	return docs, err
}

// readLists reads one page of each list, all in one command for up to listsInBatch of them.
func readLists[D any](ctx context.Context, c *mongo.Collection, queries []listQuery) ([][]D, error) {
	if len(queries) == 1 {
		docs, err := readList[D](ctx, c, queries[0])
		return [][]D{docs}, err
	}
	pages := make([][]D, 0, len(queries))
	for batch := range slices.Chunk(queries, listsInBatch) {
		some, err := readUnion[D](ctx, c, batch)
		if err != nil {
			return nil, err
		}
		pages = append(pages, some...)
	}
	return pages, nil
}

func readUnion[D any](ctx context.Context, c *mongo.Collection, queries []listQuery) ([][]D, error) {
	total := 0
	pipelines := make([]bson.A, len(queries))
	for i, q := range queries {
		pipelines[i] = q.stages(i)
		total += q.page.Limit
	}
	found, err := aggregateAll[tagged[D]](ctx, c, union(c, pipelines), total)
	if err != nil {
		return nil, err
	}
	pages := make([][]D, len(queries))
	for _, t := range found {
		pages[t.list] = append(pages[t.list], t.doc)
	}
	for i, q := range queries {
		if q.backwards() {
			slices.Reverse(pages[i])
		}
	}
	return pages, nil
}

// union runs pipelines over one collection after each other.
func union(c *mongo.Collection, pipelines []bson.A) bson.A {
	all := slices.Clone(pipelines[0])
	for _, p := range pipelines[1:] {
		all = append(all, doc("$unionWith", doc("coll", c.Name(), "pipeline", p)))
	}
	return all
}

func aggregateAll[D any](ctx context.Context, c *mongo.Collection, pipeline bson.A, expect int, opts ...options.Lister[options.AggregateOptions]) ([]D, error) {
	opts = append(opts, options.Aggregate().SetBatchSize(int32(expect+1)))
	stages, err := written(pipeline)
	if err != nil {
		return nil, err
	}
	return readCurrentSnapshot(ctx, func() ([]D, error) {
		cursor, err := c.Aggregate(ctx, stages, opts...)
		if err != nil {
			return nil, err
		}
		return readAll[D](ctx, cursor, expect)
	})
}

// pagesOf reads a page of each list, and makes what the contract names of the documents.
func pagesOf[K comparable, D, T any](ctx context.Context, c *mongo.Collection, lists []social.List[K],
	query func(social.List[K]) listQuery, read func(*D) T,
) (map[social.List[K]][]T, error) {
	if len(lists) == 0 {
		return nil, nil
	}
	queries := make([]listQuery, len(lists))
	for i, list := range lists {
		queries[i] = query(list)
		queries[i].page = narrowed(queries[i].page, list.Page)
	}
	pages, err := readLists[D](ctx, c, queries)
	if err != nil {
		return nil, err
	}
	answer := make(map[social.List[K]][]T, len(lists))
	for i, list := range lists {
		answer[list] = each(pages[i], read)
	}
	return answer, nil
}

// narrowed is the asked page, with the query's own bound where it has one.
func narrowed(own, asked social.Page) social.Page {
	if own.Before != "" && (asked.Before == "" || own.Before < asked.Before) {
		asked.Before = own.Before
	}
	return asked
}

// each converts all documents.
func each[D, T any](docs []D, read func(*D) T) []T {
	if docs == nil {
		return nil
	}
	all := make([]T, len(docs))
	for i := range docs {
		all[i] = read(&docs[i])
	}
	return all
}
