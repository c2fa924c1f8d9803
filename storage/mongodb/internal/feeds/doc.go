// Package feeds keeps news and walls in MongoDB, in one of several layouts.
//
// A [Layout] is one way to keep feeds: not at all (read.go), for users who read them, as their
// readers make them (cache.go) or as lists that posts are pushed to (hybrid.go), or for all users,
// as ids (bucket.go) or copies of posts (month.go). The last two share keptFeed (kept.go). Recent
// posts are merged in memory (package recent). All layouts give the same answers, because feeds are
// only caches of posts and follows. [Layouts] lists them.
//
// [Feeds] is what the rest of the engine uses. It reads the layout of a call's era, and keeps a
// second one in step while a migration moves feeds.
//
// Writes tell the feeds what has changed, in their own transactions. A layout adds jobs for what
// takes longer: they bring new posts to about 500 followers at a time (fanout.go). Until a job is
// done, its post is merged in when a feed is read (pending.go).
//
// [Mover] moves feeds from one layout to another, as package migrate asks.
//
// The package has its own collections, with their indexes and shard keys ([ShardKeys]). It only
// reads posts and the follower graph ([Posts], [Follows]).
package feeds
