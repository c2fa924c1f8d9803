// Package feeds keeps news and walls in MongoDB, in one of several layouts.
//
// A [Layout] is one way to keep feeds: not at all (read.go), as lists of ids for active users
// (hybrid.go), or, for all users, as ids (bucket.go) or copies of posts (month.go). The last two
// share keptFeed (kept.go). All layouts give the same answers, because feeds are caches: the truth
// is in posts and follows. [Layouts] lists them.
//
// [Feeds] is what the rest of the engine uses. It reads the layout of a call's era, and keeps a
// second one in step while a migration moves feeds.
//
// Writes tell the feeds what has changed, in their own transactions. What takes longer a layout
// leaves to jobs, which bring new posts to followers, about 500 at a time (fanout.go). Until a job
// is done, its post is merged in when a feed is read (pending.go).
//
// [Mover] moves feeds from one layout to another, as package migrate asks.
//
// The package has its own collections, with their indexes and shard keys ([ShardKeys]). Posts and
// the follower graph it only reads, as [Posts] and [Follows] say.
package feeds
