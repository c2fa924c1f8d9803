package mongodb

import "plaza/storage/mongodb/internal/threads"

// The layouts of comment threads, for Options.Comments; see [Layouts].
const (
	CommentsDocuments = threads.Documents // a document for each comment
	CommentsEmbedded  = threads.Embedded  // a document for each thread; a thread is full when the document is near MongoDB's size limit
	CommentsPages     = threads.Pages     // a document for about 100 comments
	CommentsAdaptive  = threads.Adaptive  // embedded while the thread is small, then pages
)

// commentLayouts make the layouts of comment threads.
var commentLayouts = threads.Layouts()
