package cli

import (
	"context"
	"log/slog"
	"slices"
	"strings"

	"plaza/storage"
	"plaza/storage/mongodb"
)

// The defaults of flags, as their tags have them.
const (
	usualMergeAbove   = 10_000
	usualNewsAdsEvery = 8
)

// warnOfIdle logs settings without effect. They are not errors, because environments are shared.
func (c *serveCommand) warnOfIdle(ctx context.Context, cli *commandLine, st storage.Store) error {
	idle, err := c.idleSettings(ctx, cli, st)
	if len(idle) > 0 {
		slog.WarnContext(ctx, "some settings have no effect", "settings", strings.Join(idle, ", "))
	}
	return err
}

// idleSettings are settings that have no effect on this database, or without another setting.
func (c *serveCommand) idleSettings(ctx context.Context, cli *commandLine, st storage.Store) ([]string, error) {
	idle := cli.idleLayouts()
	if cli.MergeAbove != 0 && cli.MergeAbove != usualMergeAbove {
		merging, err := keepsHybrid(ctx, st)
		if err != nil {
			return nil, err
		}
		if !merging {
			idle = append(idle, "--feeds-merge-above (for feeds in the layout hybrid)")
		}
	}
	if c.NewsAds == (zoneFlag{}) && c.NewsAdsEvery != 0 && c.NewsAdsEvery != usualNewsAdsEvery {
		idle = append(idle, "--news-ads-every (needs --news-ads)")
	}
	return idle, nil
}

// idleLayouts are the layouts that were requested of the embedded database, which has none.
func (c *commandLine) idleLayouts() (idle []string) {
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

// keepsHybrid says whether feeds are kept in the layout hybrid, or are being moved to or from it.
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
