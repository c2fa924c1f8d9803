package cli

import (
	"context"
	"slices"

	"plaza/storage"
	"plaza/storage/mongodb"
)

// usualMergeAbove is the default of --feeds-merge-above, as in its tag.
const usualMergeAbove = 10_000

// idleSettings returns the settings of all commands that have no effect on this database.
func (c *commonFlags) idleSettings(ctx context.Context, st storage.Store) ([]string, error) {
	idle := c.idleLayouts()
	if c.MergeAbove != 0 && c.MergeAbove != usualMergeAbove {
		merging, err := keepsHybrid(ctx, st)
		if err != nil {
			return nil, err
		}
		if !merging {
			idle = append(idle, "--feeds-merge-above (for feeds in the layout hybrid)")
		}
	}
	return idle, nil
}

// idleLayouts returns the layouts that were requested for the embedded database, which has none.
func (c *commonFlags) idleLayouts() (idle []string) {
	if c.MongodbURI != "" {
		return nil
	}
	for _, layout := range []struct{ flag, value string }{{"--comments", c.Comments}, {"--feeds", c.Feeds}, {"--graph", c.Graph}} {
		if layout.value != "" {
			idle = append(idle, layout.flag+" (for MongoDB)")
		}
	}
	return idle
}

// keepsHybrid reports whether feeds are kept in the layout hybrid, or are being moved to or from
// it.
func keepsHybrid(ctx context.Context, st storage.Store) (bool, error) {
	database, ok := st.(*mongodb.Store)
	if !ok {
		return false, nil
	}
	all, err := database.Migrations(ctx)
	return slices.ContainsFunc(all, func(s mongodb.MigrationState) bool {
		return s.Subject == mongodb.MigrateFeeds && slices.Contains([]string{s.Layout, s.From, s.To}, mongodb.FeedsHybrid)
	}), err
}
