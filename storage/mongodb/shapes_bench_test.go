package mongodb_test

import (
	"encoding/hex"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/bench/measure"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// BenchmarkShapes stores edges and posts as Plaza does, with field names of one or two letters, and
// with ids as hexadecimal text, each with the same indexes. It reports bytes for each document, and
// what it costs to read 50 of them by _id. docs/data-model.md has the results.
func BenchmarkShapes(b *testing.B) {
	w := newTownAlone(b, nil, mongodb.Options{})
	users := w.people(400)
	for i, u := range users {
		w.follow(u, append(users[i+1:min(i+51, len(users)):len(users)], users[:max(0, i+51-len(users))]...))
	}
	for i := range 2000 {
		author := users[i%len(users)].User.ID
		p := w.post(status(author, author, public))
		for k := range 3 {
			w.comment(p, nil, users[(i*7+k)%len(users)].User.ID)
		}
	}
	for _, name := range []string{"edges", "posts"} {
		var docs []bson.D
		cursor, err := mongotest.Connect(b, w.uri).Collection(name).Find(w.ctx, bson.D{})
		w.ok(err)
		w.ok(cursor.All(w.ctx, &docs))
		for _, s := range []struct {
			name string
			shape
		}{{"as stored", asStored{}}, {"short names", shortNames{}}, {"text ids", textIDs{}}} {
			b.Run(name+", "+s.name, func(b *testing.B) { benchmarkShape(b, w, name, docs, s.shape) })
		}
	}
}

func benchmarkShape(b *testing.B, w *town, name string, docs []bson.D, s shape) {
	b.Helper()
	db := mongotest.Connect(b, w.uri)
	like, c := db.Collection(name), db.Collection(strings.ReplaceAll(b.Name(), "/", "_"))
	w.ok(c.Drop(w.ctx))
	shaped := make([]bson.D, len(docs))
	for i, d := range docs {
		shaped[i] = reshape(s, d).(bson.D)
	}
	w.ok(copyOptions(w, like, c))
	w.ok(copyIndexes(w, s, like, c))
	meter := w.meter()
	var writing, reading spent
	w.measure(&writing, meter, func() {
		_, err := c.InsertMany(w.ctx, shaped)
		w.ok(err)
	})
	w.measure(&reading, meter, func() {
		for b.Loop() {
			ids := make(bson.A, 50)
			for i := range ids {
				ids[i] = shaped[rand.N(len(shaped))][0].Value
			}
			cursor, err := c.Find(w.ctx, bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}})
			w.ok(err)
			for cursor.Next(w.ctx) {
			}
			w.ok(cursor.Err())
		}
	})
	stored, err := measure.StoredIn(w.ctx, db, c.Name())
	w.ok(err)
	n := float64(len(docs))
	b.ReportMetric(float64(stored.Data)/n, "bson-B/doc")
	b.ReportMetric(float64(stored.Disk)/n, "disk-B/doc")
	b.ReportMetric(float64(stored.Indexes)/n, "indexes-B/doc")
	b.ReportMetric(float64(writing.mongod.Microseconds())/n, "mongod-µs/insert")
	b.ReportMetric(float64(reading.mongod.Microseconds())/float64(b.N), "mongod-µs/read")
}

// shape is a way to write the same document.
type shape interface {
	name(field string) string
	id(data []byte) any
}

type asStored struct{}

func (asStored) name(field string) string { return field }
func (asStored) id(data []byte) any       { return bson.Binary{Data: data} }

// shortNames numbers the fields in the order in which they appear: a, b, …, a1, b1, ….
type shortNames map[string]string

func (s shortNames) name(field string) string {
	if field == "_id" || strings.HasPrefix(field, "$") || strings.HasPrefix(field, "circle_") { // the last is an id
		return field
	}
	if s[field] == "" {
		s[field] = string(rune('a' + len(s)%26))
		if n := len(s) / 26; n > 0 {
			s[field] += strconv.Itoa(n)
		}
	}
	return s[field]
}

func (shortNames) id(data []byte) any { return bson.Binary{Data: data} }

// textIDs writes binary values as text.
type textIDs struct{ asStored }

func (textIDs) id(data []byte) any { return hex.EncodeToString(data) }

// reshape returns a value in another shape.
func reshape(s shape, value any) any {
	switch v := value.(type) {
	case bson.D:
		d := make(bson.D, len(v))
		for i, e := range v {
			d[i] = bson.E{Key: s.name(e.Key), Value: reshape(s, e.Value)}
		}
		return d
	case bson.A:
		a := make(bson.A, len(v))
		for i := range v {
			a[i] = reshape(s, v[i])
		}
		return a
	case bson.Binary:
		return s.id(v.Data)
	}
	return value
}

// copyOptions creates a collection with the options of another one.
func copyOptions(w *town, from, to *mongo.Collection) error {
	specs, err := from.Database().ListCollectionSpecifications(w.ctx, bson.D{{Key: "name", Value: from.Name()}})
	if err != nil {
		return err
	}
	var options bson.D
	if err := bson.Unmarshal(specs[0].Options, &options); err != nil {
		return err
	}
	return to.Database().RunCommand(w.ctx, append(bson.D{{Key: "create", Value: to.Name()}}, options...)).Err()
}

// copyIndexes creates the indexes of one collection on another, whose documents have another shape.
func copyIndexes(w *town, s shape, from, to *mongo.Collection) error {
	cursor, err := from.Indexes().List(w.ctx)
	if err != nil {
		return err
	}
	var all []bson.D
	if err := cursor.All(w.ctx, &all); err != nil {
		return err
	}
	var indexes bson.A
	for _, index := range all {
		var own bson.D
		for _, e := range index {
			switch e.Key {
			case "key", "partialFilterExpression":
				own = append(own, bson.E{Key: e.Key, Value: renamePaths(s, e.Value.(bson.D))})
			case "v", "ns":
			default:
				own = append(own, e)
			}
		}
		indexes = append(indexes, own)
	}
	return to.Database().RunCommand(w.ctx, bson.D{{Key: "createIndexes", Value: to.Name()}, {Key: "indexes", Value: indexes}}).Err()
}

// renamePaths renames the fields in paths, such as "joined.$**".
func renamePaths(s shape, d bson.D) bson.D {
	renamed := make(bson.D, len(d))
	for i, e := range d {
		parts := strings.Split(e.Key, ".")
		for k := range parts {
			parts[k] = s.name(parts[k])
		}
		renamed[i] = bson.E{Key: strings.Join(parts, "."), Value: e.Value}
	}
	return renamed
}
