package mongodb

import (
	"context"

	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/threads"
)

// The layouts of comment threads, for Options.Comments.
const (
	CommentsDocuments = threads.Documents // a document for each comment
	CommentsEmbedded  = threads.Embedded  // a document for each thread; a thread near the limit of a document is full
	CommentsPages     = threads.Pages     // a document for about 100 comments
	CommentsAdaptive  = threads.Adaptive  // embedded while the thread is small, then pages
)

// commentLayouts make the layouts of comment threads.
var commentLayouts = threads.Layouts()

// renameThreads gives buckets that are still in the collection of an older version to the database's layout.
func (s *Store) renameThreads(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, indexTimeout)
	defer cancel()
	db := s.posts.Database()
	if has, err := threads.HasShared(ctx, db); err != nil || !has {
		return err
	}
	settings, err := s.member.ReadSettings(ctx)
	if err != nil {
		return mdb.Translate(ctx, "rename threads", err)
	}
	return threads.TakeShared(ctx, db, s.threadLayouts[settings[commentsSetting().Name].Value])
}
