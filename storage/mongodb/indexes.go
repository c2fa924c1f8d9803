package mongodb

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"golang.org/x/sync/errgroup"

	"plaza/storage/mongodb/internal/indexes"
	"plaza/storage/mongodb/internal/mdb"
)

// indexTimeout bounds the time to build missing indexes, on collections that may be large.
const indexTimeout = 10 * time.Minute

// indexParallel is how many collections are checked concurrently. Each takes a connection.
const indexParallel = 2

// ownIndexes are the declared indexes of the collections of this package, except those on _id.
// Posts and comments store their id a second time, as seq: for a range over _id, the query planner
// may wrongly choose the index on _id itself.
//
// Never change the definition of an index without a new name: servers of two versions may use one
// database, and they name indexes in their hints. testdata/indexes.json records all definitions
// that have ever existed.
func (s *Store) ownIndexes() map[*mongo.Collection][]mongo.IndexModel {
	marksIndexes := []mongo.IndexModel{mdb.Index(byUserID, mdb.Doc("user", 1, "_id", 1))}
	return map[*mongo.Collection][]mongo.IndexModel{
		s.posts: {
			mdb.Index(byWall, mdb.Doc("wallOwner", 1, "seq", -1)),
			mdb.Index(byAuthor, mdb.Doc("author", 1, "seq", -1)),
			mdb.IndexHaving("inbox", byInbox, mdb.Doc("inbox", 1, "seq", -1)),
			mdb.IndexHaving("inbox", byAddressed, mdb.Doc("seq", -1)),
		},
		s.versions:    {mdb.UniqueIndex(byPostNumber, mdb.Doc("post", 1, "number", 1))},
		s.reactions:   marksIndexes, // _id is post and user
		s.votes:       marksIndexes,
		s.threadMutes: marksIndexes,
		s.openPolls:   {mdb.Index(byClosing, mdb.Doc("closesAt", 1))},
		s.settings:    nil, // _id is the name
		s.sequences:   nil, // the same
	}
}

// allIndexes are the indexes of both domains and of the layouts.
func (s *Store) allIndexes() map[*mongo.Collection][]mongo.IndexModel {
	all := s.ownIndexes()
	maps.Copy(all, s.log.Indexes())
	maps.Copy(all, s.users.Indexes())
	maps.Copy(all, s.graph.Indexes())
	maps.Copy(all, s.profiles.Indexes())
	maps.Copy(all, s.jobs.Indexes())
	maps.Copy(all, s.feeds.Indexes())
	maps.Copy(all, s.member.Indexes())
	maps.Copy(all, s.member.Now().InUse.threads.Indexes())
	maps.Copy(all, s.ads.Indexes())
	maps.Copy(all, s.notifications.Indexes())
	maps.Copy(all, s.moderation.Indexes())
	maps.Copy(all, s.keys.Indexes())
	for c, models := range s.member.Now().InUse.graph.Indexes() {
		all[c] = append(all[c], models...)
	}
	for c, models := range s.member.Now().InUse.feeds.Indexes() {
		all[c] = append(all[c], models...)
	}
	return all
}

// createIndexes creates missing collections and indexes, and replaces indexes that have changed.
func (s *Store) createIndexes(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, indexTimeout)
	defer cancel()
	// A command for each collection that has no indexes would fail where the collection exists.
	exist, err := s.settings.Database().ListCollectionNames(ctx, mdb.Doc())
	if err != nil {
		return mdb.Translate(ctx, "collections", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(indexParallel)
	for c, models := range s.allIndexes() {
		if len(models) == 0 && slices.Contains(exist, c.Name()) {
			continue
		}
		group.Go(func() error {
			if err := s.indexes.BringUpToDate(ctx, c, models); err != nil {
				return mdb.Translate(ctx, fmt.Sprintf("indexes of %s.%s", c.Database().Name(), c.Name()), err)
			}
			return nil
		})
	}
	return group.Wait()
}

// retiredIndexes are the names of the indexes that only servers of earlier releases use. A release
// that adds one here also raises the version of a collection: only then does finishing the upgrade
// prove that the last server of the previous release has stopped. Names stay here for databases that
// are upgraded later.
func (s *Store) retiredIndexes() map[*mongo.Collection][]string {
	return map[*mongo.Collection][]string{
		s.graph.Edges(): {"circles_other", "other"}, s.reactions: {"user"}, s.votes: {"user"}, s.threadMutes: {"user"},
	}
}

// dropRetired drops these indexes, after an upgrade of all documents: by then, no server of an
// earlier release can run.
func (s *Store) dropRetired(ctx context.Context) error {
	return s.db.Read(ctx, "drop indexes that only earlier versions use", func(ctx context.Context) error {
		for c, names := range s.retiredIndexes() {
			dropped, err := indexes.Drop(ctx, c, names...)
			if len(dropped) > 0 {
				s.logger.InfoContext(ctx, "dropped indexes that only earlier versions used", "collection", c.Name(), "indexes", dropped)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
