package mongodb

import (
	"context"
	"errors"
	"fmt"

	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/feeds"
	"plaza/storage/mongodb/internal/threads"
)

// inUse are the layouts that calls of one era work with.
type inUse struct {
	threads threads.InUse
	feeds   feeds.InUse
	graph   graphInUse
}

// inUse are the layouts that a call works with.
func (s *Store) inUse(ctx context.Context) *inUse { return &s.member.Era(ctx).InUse }

// use is what settings mean to calls. It refuses layouts that this Plaza does not know.
func (s *Store) use(settings map[string]*cluster.Setting) (inUse, error) {
	comments, fed, graph := settings[commentsSetting().Name], settings[feedsSetting().Name], settings[graphSetting().Name]
	err := errors.Join(checkKnown(s.threadLayouts, comments), checkKnown(s.feeds.Layouts(), fed), checkKnown(s.graphLayouts, graph))
	if err != nil {
		return inUse{}, err
	}
	return inUse{threads.NewInUse(s.threadLayouts, comments), feeds.NewInUse(s.feeds.Layouts(), fed), s.newGraphInUse(graph)}, nil
}

// checkKnown says whether there are all layouts that a setting names.
func checkKnown[L any](known map[string]L, d *cluster.Setting) error {
	for _, layout := range d.Layouts() {
		if _, ok := known[layout]; !ok {
			return fmt.Errorf("this Plaza does not know the layout %q of %s: run a newer one", layout, d.Name)
		}
	}
	return nil
}
