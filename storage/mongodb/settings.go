package mongodb

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/storage/mongodb/internal/mdb"
)

// settingDoc is a document of settings: what all servers on a database must agree on.
type settingDoc struct {
	Name       string   `bson:"_id"`
	Version    int      `bson:"v"`
	Value      string   `bson:"value"`                // the layout that is read
	Generation int      `bson:"generation,omitempty"` // grows with each change that servers have to agree on
	Move       *moveDoc `bson:"move,omitempty"`       // the migration that is under way
	Driver     string   `bson:"driver,omitempty"`     // the server that moves it just now
}

// layouts are those that may be in use.
func (d *settingDoc) layouts() []string {
	if d.Move == nil {
		return []string{d.Value}
	}
	return []string{d.Move.From, d.Move.To}
}

// setting is the layout of something. The first server that opens a database decides it.
type setting struct {
	name   string // of what is laid out, of the document, and of the flag
	usual  string // what a new database has, where nothing else is wanted
	oldest string // what databases have that are older than the setting
	data   string // the collection of what is laid out; if it has documents, the database is not new
	known  []string
}

func feedsSetting() setting {
	return newSetting("feeds", "posts", FeedsRead, FeedsRead, feedLayouts)
}

func commentsSetting() setting {
	return newSetting("comments", "posts", CommentsDocuments, CommentsDocuments, commentLayouts)
}

func graphSetting() setting {
	return newSetting("graph", "edges", GraphReverse, GraphReverse, graphLayouts)
}

func newSetting[L any](name, data, usual, oldest string, layouts map[string]L) setting {
	return setting{name: name, data: data, usual: usual, oldest: oldest, known: slices.Sorted(maps.Keys(layouts))}
}

// check says whether there is such a layout; "" stands for whatever the database has.
func (g setting) check(layout string) error {
	if layout == "" || slices.Contains(g.known, layout) {
		return nil
	}
	return fmt.Errorf("there is no layout %q of %s: choose %s", layout, g.name, strings.Join(g.known, " or "))
}

// settle records a layout where the database has none. It refuses a server that is set to another layout than the database has; while the
// database is moved from one to another, both are right.
func (s *Store) settle(ctx context.Context, g setting, wanted string) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	d, err := s.recorded(ctx, g, wanted)
	if err != nil {
		return fmt.Errorf("settings: %w", mdb.Translate(ctx, "settings", err))
	}
	for _, layout := range d.layouts() {
		if g.check(layout) != nil {
			return fmt.Errorf("this database keeps its %s in the layout %q, which this Plaza does not know: run a newer Plaza", g.name, layout)
		}
	}
	if wanted == "" || slices.Contains(d.layouts(), wanted) {
		return nil
	}
	return &LayoutError{Subject: Subject(g.name), Has: d.Value, Wanted: wanted}
}

// recorded reads the setting, and records the first one.
func (s *Store) recorded(ctx context.Context, g setting, wanted string) (*settingDoc, error) {
	first, err := s.firstLayout(ctx, g, wanted)
	if err != nil {
		return nil, err
	}
	var d settingDoc
	err = mdb.Retry(ctx, func() error {
		return mdb.OrRetry(s.settings.FindOneAndUpdate(ctx, mdb.Doc("_id", g.name),
			mdb.Doc("$setOnInsert", mdb.Doc("v", mdb.FirstVersion, "value", first)),
			options.FindOneAndUpdate().SetUpsert(true).SetReturnDocument(options.After)).Decode(&d))
	})
	return &d, err
}

// readSettings reads all settings, by their names.
func (s *Store) readSettings(ctx context.Context) (map[string]*settingDoc, error) {
	names := []string{commentsSetting().name, feedsSetting().name, graphSetting().name}
	docs, err := mdb.FindIn[settingDoc](ctx, s.settings, "_id", names, options.Find().SetHint(mdb.Doc("_id", 1)))
	if err != nil {
		return nil, err
	}
	all := make(map[string]*settingDoc, len(docs))
	for i := range docs {
		all[docs[i].Name] = &docs[i]
	}
	for _, name := range names {
		if all[name] == nil {
			return nil, fmt.Errorf("the setting %q has gone from the database", name)
		}
	}
	return all, nil
}

// firstLayout is what is recorded where nothing is: a database with data in it is older than the setting.
func (s *Store) firstLayout(ctx context.Context, g setting, wanted string) (string, error) {
	has, err := mdb.HasDocuments(ctx, s.settings.Database().Collection(g.data))
	switch {
	case err != nil:
		return "", err
	case has:
		return g.oldest, nil
	}
	return cmp.Or(wanted, g.usual), nil
}
