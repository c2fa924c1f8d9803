package mongodb

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/mdb"
)

func feedsSetting() cluster.Layouts {
	return newSetting("feeds", "posts", FeedsRead, FeedsRead, feedLayouts)
}

func commentsSetting() cluster.Layouts {
	return newSetting("comments", "posts", CommentsDocuments, CommentsDocuments, commentLayouts)
}

func graphSetting() cluster.Layouts {
	return newSetting("graph", "edges", GraphReverse, GraphReverse, graphLayouts)
}

func newSetting[L any](name, data, usual, oldest string, layouts map[string]L) cluster.Layouts {
	return cluster.Layouts{Name: name, Data: data, Usual: usual, Oldest: oldest, Known: slices.Sorted(maps.Keys(layouts))}
}

// settle records a layout where the database has none. It refuses a server that is set to another layout than the database has; while the
// database is moved from one to another, both are right.
func (s *Store) settle(ctx context.Context, g cluster.Layouts, wanted string) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	d, err := s.member.Recorded(ctx, g, wanted)
	if err != nil {
		return fmt.Errorf("settings: %w", mdb.Translate(ctx, "settings", err))
	}
	for _, layout := range d.Layouts() {
		if g.Check(layout) != nil {
			return fmt.Errorf("this database keeps its %s in the layout %q, which this Plaza does not know: run a newer Plaza", g.Name, layout)
		}
	}
	if wanted == "" || slices.Contains(d.Layouts(), wanted) {
		return nil
	}
	return &LayoutError{Subject: Subject(g.Name), Has: d.Value, Wanted: wanted}
}
