package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/storage/mongodb/internal/mdb"
)

// Setting is a document of settings: what all servers on a database must agree on.
type Setting struct {
	Name       string `bson:"_id"`
	Version    int    `bson:"v"`
	Value      string `bson:"value"`                // the layout that is read
	Generation int    `bson:"generation,omitempty"` // grows with each change that servers have to agree on
	Move       *Move  `bson:"move,omitempty"`       // the migration that is under way
	Driver     string `bson:"driver,omitempty"`     // the server that moves it just now
}

// Layouts are those that may be in use.
func (d *Setting) Layouts() []string {
	if d.Move == nil {
		return []string{d.Value}
	}
	return []string{d.Move.From, d.Move.To}
}

// Layouts is what can be recorded as the layout of something. The first server that opens a
// database records one; the engine's layouts.go says how the record is used.
type Layouts struct {
	Name   string // of what is laid out, of the document, and of the flag
	Usual  string // what a new database has, where nothing else is wanted
	Oldest string // what databases have that are older than the setting
	Data   string // the collection of what is laid out; if it has documents, the database is not new
	Known  []string
}

// Check says whether there is such a layout; "" stands for whatever the database has.
func (g Layouts) Check(layout string) error {
	if layout == "" || slices.Contains(g.Known, layout) {
		return nil
	}
	return fmt.Errorf("there is no layout %q of %s: choose %s", layout, g.Name, strings.Join(g.Known, " or "))
}

// Recorded reads the setting, and records the first one.
func (r *roster) Recorded(ctx context.Context, g Layouts, wanted string) (*Setting, error) {
	first, err := r.firstLayout(ctx, g, wanted)
	if err != nil {
		return nil, err
	}
	var d Setting
	err = mdb.Retry(ctx, func() error {
		return mdb.OrRetry(r.settings.FindOneAndUpdate(ctx, mdb.Doc("_id", g.Name),
			mdb.Doc("$setOnInsert", mdb.Doc("v", mdb.FirstVersion, "value", first)),
			options.FindOneAndUpdate().SetUpsert(true).SetReturnDocument(options.After)).Decode(&d))
	})
	return &d, err
}

// ReadSettings reads all settings, by their names.
func (r *roster) ReadSettings(ctx context.Context) (map[string]*Setting, error) {
	docs, err := mdb.FindIn[Setting](ctx, r.settings, "_id", r.names, options.Find().SetHint(mdb.Doc("_id", 1)))
	if err != nil {
		return nil, err
	}
	all := make(map[string]*Setting, len(docs))
	for i := range docs {
		all[docs[i].Name] = &docs[i]
	}
	for _, name := range r.names {
		if all[name] == nil {
			return nil, fmt.Errorf("the setting %q has gone from the database", name)
		}
	}
	return all, nil
}

// firstLayout is what is recorded where nothing is: a database with data in it is older than the
// setting.
func (r *roster) firstLayout(ctx context.Context, g Layouts, wanted string) (string, error) {
	has, err := mdb.HasDocuments(ctx, r.settings.Database().Collection(g.Data))
	switch {
	case err != nil:
		return "", err
	case has:
		return g.Oldest, nil
	}
	return cmp.Or(wanted, g.Usual), nil
}
