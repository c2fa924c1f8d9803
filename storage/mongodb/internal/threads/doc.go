// Package threads stores comment threads in MongoDB, in one of several layouts.
//
// A [Layout] is one way to store the comments of all posts: a document for each comment
// (documents.go), or buckets of comments (buckets.go). All layouts give the same answers. [Layouts]
// lists them.
//
// [Threads] is what the rest of the engine uses. It finds the layouts in which a thread is stored:
// usually one, and two while a migration moves threads. It also keeps what a post's document has of
// its thread: the number of comments, copies of the newest ones, and where the thread is stored
// (homes.go).
//
// Writes run in a transaction of the caller, and begin with the post's document. So two changes of
// one thread always conflict, and one of them runs again after the other. The caller numbers the
// comments, and stores the events.
//
// [Mover] moves threads from one layout to another, as package migrate asks.
//
// The package has its own collections, with their indexes and shard keys ([ShardKeys]). It writes
// to the collection of posts, which it is given, and only to the fields of threads there.
package threads
