package mongodb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// settingDoc is a document of settings: what all servers on a database must agree on.
type settingDoc struct {
	Name    string `bson:"_id"`
	Version int    `bson:"v"`
	Value   string `bson:"value"`
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
	return newSetting("feeds", "posts", defaultFeeds, FeedsRead, feedLayouts)
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

// settle returns the layout that the database has. A server that is set to another one is refused.
func (s *Store) settle(ctx context.Context, g setting, wanted string) (string, error) {
	recorded, err := s.recorded(ctx, g, wanted)
	if err != nil {
		return "", fmt.Errorf("settings: %w", err)
	}
	if g.check(recorded) != nil {
		return "", fmt.Errorf("this database keeps its %s in the layout %q, which this Plaza does not know: run a newer Plaza", g.name, recorded)
	}
	if wanted != "" && wanted != recorded {
		return "", fmt.Errorf("this database keeps its %s in the layout %q, and this server is set to %q: "+
			"start it with --%s=%s (PLAZA_%s=%s), or without that setting",
			g.name, recorded, wanted, g.name, recorded, strings.ToUpper(g.name), recorded)
	}
	return recorded, nil
}

func (s *Store) recorded(ctx context.Context, g setting, wanted string) (layout string, err error) {
	err = s.read(ctx, "settings", func(ctx context.Context) error {
		first, err := s.firstLayout(ctx, g, wanted)
		if err != nil {
			return err
		}
		var d settingDoc
		err = retry(ctx, func() error {
			return upserted(s.settings.FindOneAndUpdate(ctx, doc("_id", g.name),
				doc("$setOnInsert", doc("v", version, "value", first)),
				options.FindOneAndUpdate().SetUpsert(true).SetReturnDocument(options.After)).Decode(&d))
		})
		layout = d.Value
		return err
	})
	return layout, err
}

// firstLayout is what is recorded where nothing is: a database with data in it is older than the setting.
func (s *Store) firstLayout(ctx context.Context, g setting, wanted string) (string, error) {
	data := s.settings.Database().Collection(g.data)
	err := data.FindOne(ctx, doc(), options.FindOne().SetProjection(doc("_id", 1)).SetHint(doc("_id", 1))).Err()
	switch {
	case err == nil:
		return g.oldest, nil
	case !errors.Is(err, mongo.ErrNoDocuments):
		return "", err
	}
	return cmp.Or(wanted, g.usual), nil
}
