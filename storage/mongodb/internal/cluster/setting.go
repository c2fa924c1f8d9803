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

// Setting is a document of "settings": something that all servers of a database must agree on.
type Setting struct {
	Name       string `bson:"_id"`
	Version    int    `bson:"v"`
	Value      string `bson:"value"`                // the layout that is read
	Generation int    `bson:"generation,omitempty"` // increases with each change that servers have to agree on
	Move       *Move  `bson:"move,omitempty"`       // the migration that is under way
	Driver     string `bson:"driver,omitempty"`     // the server that runs the migration now
}

// Layouts returns the layouts that may be in use.
func (d *Setting) Layouts() []string {
	if d.Move == nil {
		return []string{d.Value}
	}
	return []string{d.Move.From, d.Move.To}
}

// Layouts describes the layouts of one subject. The first server that opens a database records one;
// layouts.go of the engine explains how servers use the record.
type Layouts struct {
	Name   string // of the subject, which is also that of the document and of the flag
	Usual  string // the default for a new database
	Oldest string // the layout of databases that are older than the setting
	Data   string // a collection of the subject: if it has documents, the database is not new
	Known  []string
}

// Check returns an error if there is no such layout. "" means the layout that the database has.
func (g Layouts) Check(layout string) error {
	if layout == "" || slices.Contains(g.Known, layout) {
		return nil
	}
	last := len(g.Known) - 1
	return fmt.Errorf("there is no layout %q of %s: choose %s or %s", layout, g.Name, strings.Join(g.Known[:last], ", "), g.Known[last])
}

// Recorded reads the setting, which it creates if missing.
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

// firstLayout returns the layout to record if none is: the oldest one if the database has data,
// because it must be older than the setting.
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
