package mongodb

import (
	"context"
	"errors"
	"fmt"
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

// feedsSetting is the name of the setting that says how feeds are stored.
const feedsSetting = "feeds"

// checkLayout says whether there is such a layout; "" stands for whatever the database has.
func checkLayout(layout string) error {
	if _, known := feedLayouts[layout]; known || layout == "" {
		return nil
	}
	return fmt.Errorf("there is no feed layout %q: choose %s", layout, strings.Join(layoutNames(), " or "))
}

// settleLayout returns the layout that the database has; the first server that opens the database decides it.
// A server that is set to another one is refused.
func (s *Store) settleLayout(ctx context.Context, wanted string) (string, error) {
	recorded, err := s.recordedLayout(ctx, wanted)
	if err != nil {
		return "", fmt.Errorf("settings: %w", err)
	}
	if _, known := feedLayouts[recorded]; !known {
		return "", fmt.Errorf("this database keeps its feeds in the layout %q, which this Plaza does not know: run a newer Plaza", recorded)
	}
	if wanted != "" && wanted != recorded {
		return "", fmt.Errorf("this database keeps its feeds in the layout %q, and this server is set to %q: "+
			"start it with --feeds=%s (PLAZA_FEEDS=%s), or without that setting", recorded, wanted, recorded, recorded)
	}
	return recorded, nil
}

func (s *Store) recordedLayout(ctx context.Context, wanted string) (layout string, err error) {
	err = s.read(ctx, "settings", func(ctx context.Context) error {
		first, err := s.firstLayout(ctx, wanted)
		if err != nil {
			return err
		}
		var d settingDoc
		err = retry(ctx, func() error {
			return upserted(s.settings.FindOneAndUpdate(ctx, doc("_id", feedsSetting),
				doc("$setOnInsert", doc("v", version, "value", first)),
				options.FindOneAndUpdate().SetUpsert(true).SetReturnDocument(options.After)).Decode(&d))
		})
		layout = d.Value
		return err
	})
	return layout, err
}

// firstLayout is what is recorded where nothing is: a database with posts in it is older than the setting, and read.
func (s *Store) firstLayout(ctx context.Context, wanted string) (string, error) {
	err := s.posts.FindOne(ctx, doc(), options.FindOne().SetProjection(doc("_id", 1)).SetHint(doc("_id", 1))).Err()
	switch {
	case err == nil:
		return FeedsRead, nil
	case !errors.Is(err, mongo.ErrNoDocuments):
		return "", err
	case wanted == "":
		return defaultFeeds, nil
	}
	return wanted, nil
}
