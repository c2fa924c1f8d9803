package bench

import (
	"context"
	"fmt"
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/bench/figures"
	"plaza/bench/measure"
	"plaza/id"
)

// The two ways to store data that belongs to another object.
const (
	embedded   = "embedded"
	referenced = "referenced"
)

// design is a way to store a subject, with its own database.
type design interface {
	load(ctx context.Context) error
	// acts are the operations on the subject, the same in both designs.
	acts() []act
}

type act struct {
	name string
	most int // see [Call]
	do   func(ctx context.Context, n int) error
}

// subject is something that can be embedded or referenced.
type subject struct {
	name, title string
	usual       string // how Plaza stores it
	designs     map[string]func(o *Options, r *Rival) design
	pairs       []readAndWrite // pairs whose costs are compared
}

// readAndWrite are the names of two acts.
type readAndWrite struct{ read, write string }

// Model compares embedding with referencing: authors' names, previews of comments, and poll votes.
// The designs are the documents, indexes and commands that matter for that, and nothing else of
// Plaza.
func Model(ctx context.Context, o Options) (*figures.Report, error) {
	report := &figures.Report{Name: "model", Title: "The data model on MongoDB: embedding against referencing", Command: o.Command, Notes: modelNotes}
	err := o.withArena(ctx, []contender{{name: referenced}, {name: embedded}}, func(arena *Arena, chosen []contender) error {
		report.Machine = arena.machine(ctx)
		subjects := []subject{namesSubject(), previewsSubject(), votesSubject(&o)}
		rivals := make([][]*Rival, len(subjects))
		for i, of := range subjects { // check all of them before anything is loaded
			for _, c := range chosen {
				rival, err := arena.OpenBare(ctx, of.name, c.name)
				if err != nil {
					return err
				}
				rivals[i] = append(rivals[i], rival)
			}
		}
		for i, of := range subjects {
			section, err := of.compare(ctx, &o, arena.Meter, rivals[i])
			if err != nil {
				return fmt.Errorf("%s: %w", of.name, err)
			}
			report.Sections = append(report.Sections, section)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return report, nil
}

const modelNotes = `Each subject is kept in two ways, as documents of Plaza's shape with their indexes, read and written by the Go driver: GraphQL, the domain and its rules are left out, and what is the same in both is
left out. Every write is one transaction together with its event, as in Plaza, so that a second document in it costs little; a job's rewriting of copies is outside. A page is 20 posts by their ids. Texts have the lengths of
people's. *Server* is the CPU time of this process, *mongod* that of the database, for each call: the medians of the rounds, in which both take turns, ± half the distance of the quartiles. What differs by less than a
tenth counts as the same. *Stored* is the whole database, without the log of events, before anything is measured.`

// compare loads the designs of a subject, and measures them by turns.
func (of *subject) compare(ctx context.Context, o *Options, meter *measure.Meter, rivals []*Rival) (*figures.Section, error) {
	section := &figures.Section{Name: "model-" + of.name, Title: of.title, First: of.usual}
	var calls []measure.Call
	for i, r := range rivals {
		o.progress("loading "+of.name, i, len(rivals))
		d := of.designs[r.Name](o, r)
		if err := d.load(ctx); err != nil {
			return nil, fmt.Errorf("loading %s: %w", r.Name, err)
		}
		stored, err := r.Stored(ctx)
		if err != nil {
			return nil, err
		}
		section.Stored = append(section.Stored, figures.StoredBy{Rival: r.Name, Stored: stored})
		for k, a := range d.acts() {
			if len(calls) == k {
				calls = append(calls, measure.Call{Name: a.name, Most: a.most})
			}
			calls[k].Turns = append(calls[k].Turns, measure.Turn{Rival: r.Name, Wire: r.Wire, Do: a.do})
		}
	}
	var err error
	section.Results, err = o.contest(meter, "measuring "+of.name).Run(ctx, calls)
	if err != nil {
		return nil, err
	}
	for _, p := range of.pairs {
		advise(section, p)
	}
	return section, nil
}

// advise adds a remark on the ratio of reads to writes from which embedding pays, if both were
// measured.
func advise(s *figures.Section, p readAndWrite) {
	cost := func(call, rival string) float64 { return measure.Of(s.Results, call, rival).Median(measure.CPUMs) }
	for _, call := range []string{p.read, p.write} {
		for _, rival := range []string{embedded, referenced} {
			if len(measure.Of(s.Results, call, rival).Samples) == 0 {
				return
			}
		}
	}
	saved := difference(cost(p.read, referenced), cost(p.read, embedded))
	extra := difference(cost(p.write, embedded), cost(p.write, referenced))
	s.Remarkf("*%s* against *%s*: %s.", p.read, p.write, verdict(saved, extra))
}

// difference returns by how much one cost is above another, as text; "nothing" if they are about
// the same.
func difference(one, other float64) float64 {
	const same = 0.1
	if math.Abs(one-other) <= same*max(one, other) {
		return 0
	}
	return one - other
}

// verdict returns when embedding pays, as text, if it saves this much CPU time on each read and
// costs this much more on each write, in ms.
func verdict(saved, extra float64) string {
	reading, writing := changed(-saved), changed(extra)
	switch {
	case saved > 0 && extra > 0:
		return fmt.Sprintf("embedding %s a read and %s a write, so it pays above %s reads for each write", reading, writing, figures.Significant(extra/saved))
	case saved < 0 && extra < 0:
		return fmt.Sprintf("embedding %s a read and %s a write, so it pays below %s reads for each write", reading, writing, figures.Significant(extra/saved))
	case saved > 0 || extra < 0:
		return fmt.Sprintf("embedding %s a read and %s a write: it always pays", reading, writing)
	case saved < 0 || extra > 0:
		return fmt.Sprintf("embedding %s a read and %s a write: it never pays", reading, writing)
	}
	return "both designs cost about the same"
}

// changed returns a difference in ms, as text.
func changed(by float64) string {
	switch {
	case by > 0:
		return "costs " + figures.Significant(by) + " ms more on"
	case by < 0:
		return "saves " + figures.Significant(-by) + " ms on"
	}
	return "changes nothing on"
}

// pageSize is how many posts a page has.
const pageSize = 20

// posts returns the collection that all designs have.
func (r *Rival) posts() *mongo.Collection { return r.database.Collection("posts") }

// transact runs a write as Plaza does: in a transaction with an event, which is repeated after a
// conflict.
func (r *Rival) transact(ctx context.Context, write func(ctx context.Context) error) error {
	session, err := r.database.Client().StartSession()
	if err != nil {
		return err
	}
	defer session.EndSession(context.WithoutCancel(ctx))
	_, err = session.WithTransaction(ctx, func(ctx context.Context) (any, error) {
		if err := write(ctx); err != nil {
			return nil, err
		}
		_, err := r.database.Collection(eventLog).InsertOne(ctx, bson.D{{Key: "_id", Value: uuid(id.New())}, {Key: "kind", Value: "changed"}})
		return nil, err
	})
	return err
}

// fill stores n documents.
func (r *Rival) fill(ctx context.Context, collection string, n int, document func(i int) any) error {
	for from := 0; from < n; from += inBatch {
		var some []any
		for i := from; i < min(from+inBatch, n); i++ {
			some = append(some, document(i))
		}
		if _, err := r.database.Collection(collection).InsertMany(ctx, some); err != nil {
			return err
		}
	}
	return nil
}

// index creates an index, on a collection that may not exist yet.
func (r *Rival) index(ctx context.Context, collection string, keys bson.D) error {
	_, err := r.database.Collection(collection).Indexes().CreateOne(ctx, mongo.IndexModel{Keys: keys})
	return err
}

// find reads the documents with the ids; all must exist.
func find[D any](ctx context.Context, c *mongo.Collection, ids []bson.Binary, o ...options.Lister[options.FindOptions]) ([]D, error) {
	o = append(o, options.Find().SetBatchSize(int32(len(ids)+1)))
	cursor, err := c.Find(ctx, bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}}, o...)
	if err != nil {
		return nil, err
	}
	var all []D
	if err := cursor.All(ctx, &all); err != nil {
		return nil, err
	}
	if len(all) != len(ids) {
		return nil, fmt.Errorf("%d of %d documents of %s were found", len(all), len(ids), c.Name())
	}
	return all, nil
}

// changeOne changes the one document that the filter matches.
func changeOne(ctx context.Context, c *mongo.Collection, filter, update bson.D) error {
	result, err := c.UpdateOne(ctx, filter, update)
	if err == nil && result.ModifiedCount != 1 {
		err = fmt.Errorf("%d documents of %s were changed instead of one", result.ModifiedCount, c.Name())
	}
	return err
}

// postID returns the id of the n-th post.
func postID(n int) bson.Binary { return uuid(derived(began, "post", n)) }

// postPage returns the ids of a page's posts, different ones for each call.
func postPage(n, first, posts int) []bson.Binary {
	ids := make([]bson.Binary, min(pageSize, posts))
	for i := range ids {
		ids[i] = postID(first + (n*len(ids)+i)%posts)
	}
	return ids
}

func uuid(i id.ID) bson.Binary { return bson.Binary{Subtype: bson.TypeBinaryUUID, Data: i[:]} }
