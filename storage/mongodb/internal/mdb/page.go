package mdb

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/social"
)

// ListsInBatch is how many lists are read in one command.
const ListsInBatch = 100

// ListQuery describes how to read one page of one list.
type ListQuery struct {
	Filter  bson.D // which documents are in the list
	Key     string // the field that orders it
	Value   func(social.Key) any
	Bounds  bson.D // further conditions on the key
	Desc    bool   // list order
	Project bson.D // nil: whole documents
	Hint    string // the index
	Page    social.Page
}

// backwards reports whether the index is read against the list's order.
func (q ListQuery) backwards() bool { return q.Page.Last }

// Match returns the filter with the page's bounds.
func (q ListQuery) Match() bson.D {
	behind, ahead := "$gt", "$lt"
	if q.Desc {
		behind, ahead = "$lt", "$gt"
	}
	bounds := slices.Clone(q.Bounds)
	if q.Page.After != "" {
		bounds = tighten(bounds, behind, q.Value(q.Page.After))
	}
	if q.Page.Before != "" {
		bounds = tighten(bounds, ahead, q.Value(q.Page.Before))
	}
	if len(bounds) == 0 {
		return q.Filter
	}
	return append(slices.Clone(q.Filter), bson.E{Key: q.Key, Value: bounds})
}

// tighten replaces the bound that has the same operator, and is looser.
func tighten(bounds bson.D, operator string, value any) bson.D {
	for i := range bounds {
		if bounds[i].Key == operator {
			bounds[i].Value = value
			return bounds
		}
	}
	return append(bounds, bson.E{Key: operator, Value: value})
}

// Sort returns the order in which to read the index.
func (q ListQuery) Sort() bson.D {
	if q.Desc != q.backwards() {
		return Doc(q.Key, -1)
	}
	return Doc(q.Key, 1)
}

// stages returns the stages that read the page, and add the list's number to each document.
func (q ListQuery) stages(number int) bson.A {
	stages := bson.A{Doc("$match", q.Match()), Doc("$sort", q.Sort()), Doc("$limit", q.Page.Limit)}
	if q.Project != nil {
		stages = append(stages, Doc("$project", q.Project))
	}
	return append(stages, Doc("$addFields", Doc("list", Doc("$literal", number))))
}

// Tagged is a document with the number of its list. *D must be a [Document].
type Tagged[D any] struct {
	List int
	Doc  D
}

// SetField implements document.
func (t *Tagged[D]) SetField(r *Reader, field []byte, v bsoncore.Value) {
	if string(field) == "list" {
		r.Int(v, &t.List)
	} else if d, ok := any(&t.Doc).(Document); ok {
		d.SetField(r, field, v)
	}
}

// Evolve implements evolving.
func (t *Tagged[D]) Evolve() error {
	if d, ok := any(&t.Doc).(Evolving); ok {
		return d.Evolve()
	}
	return nil
}

// ReadList reads one page with a find command, in list order.
func ReadList[D any](ctx context.Context, c *mongo.Collection, q ListQuery) ([]D, error) {
	find := options.Find().SetSort(q.Sort()).SetLimit(int64(q.Page.Limit)).SetHint(q.Hint)
	if q.Project != nil {
		find.SetProjection(q.Project)
	}
	docs, err := FindAll[D](ctx, c, q.Match(), q.Page.Limit, find)
	if q.backwards() {
		slices.Reverse(docs)
	}
	return docs, err
}

// ReadLists reads one page of each list, with one command for up to ListsInBatch lists.
func ReadLists[D any](ctx context.Context, c *mongo.Collection, queries []ListQuery) ([][]D, error) {
	if len(queries) == 1 {
		docs, err := ReadList[D](ctx, c, queries[0])
		return [][]D{docs}, err
	}
	pages := make([][]D, 0, len(queries))
	for batch := range slices.Chunk(queries, ListsInBatch) {
		some, err := readUnion[D](ctx, c, batch)
		if err != nil {
			return nil, err
		}
		pages = append(pages, some...)
	}
	return pages, nil
}

func readUnion[D any](ctx context.Context, c *mongo.Collection, queries []ListQuery) ([][]D, error) {
	total := 0
	pipelines := make([]bson.A, len(queries))
	for i, q := range queries {
		pipelines[i] = q.stages(i)
		total += q.Page.Limit
	}
	found, err := AggregateAll[Tagged[D]](ctx, c, Union(c, pipelines), total)
	if err != nil {
		return nil, err
	}
	pages := make([][]D, len(queries))
	for _, t := range found {
		pages[t.List] = append(pages[t.List], t.Doc)
	}
	for i, q := range queries {
		if q.backwards() {
			slices.Reverse(pages[i])
		}
	}
	return pages, nil
}

// Pages reads a page of each list, and converts the documents to the contract's type.
func Pages[K comparable, D, T any](ctx context.Context, c *mongo.Collection, lists []social.List[K],
	query func(social.List[K]) ListQuery, read func(*D) T,
) (map[social.List[K]][]T, error) {
	if len(lists) == 0 {
		return nil, nil
	}
	queries := make([]ListQuery, len(lists))
	for i, list := range lists {
		queries[i] = query(list)
		queries[i].Page = narrowed(queries[i].Page, list.Page)
	}
	pages, err := ReadLists[D](ctx, c, queries)
	if err != nil {
		return nil, err
	}
	answer := make(map[social.List[K]][]T, len(lists))
	for i, list := range lists {
		answer[list] = Map(pages[i], read)
	}
	return answer, nil
}

// narrowed returns the requested page, with the query's own bounds where it has any.
func narrowed(own, asked social.Page) social.Page {
	if own.Before != "" && (asked.Before == "" || own.Before < asked.Before) {
		asked.Before = own.Before
	}
	return asked
}

// Cut returns the first entries of a list that is in list order, as many as the page has.
func Cut[T any](list []T, p social.Page) []T {
	if p.Last {
		return list[max(0, len(list)-p.Limit):]
	}
	return list[:min(len(list), p.Limit)]
}

// Join adds the entries that were read next to those of a page. All are in list order.
func Join[T any](list, next []T, p social.Page) []T {
	if p.Last {
		return append(next, list...)
	}
	return append(list, next...)
}

// Behind returns the page that is read next: behind the entries of a list that is not empty.
func Behind[T any](p social.Page, list []T, key func(*T) social.Key) social.Page {
	if p.Last {
		p.Before = key(&list[0])
	} else {
		p.After = key(&list[len(list)-1])
	}
	return p
}
