// Package graph stores the relations between users in MongoDB: who follows, mutes or blocks which
// others, and who is in which circle. It implements social.Graph and social.Circles.
//
// There is one document of edges for each ordered pair of users ([Document]); circles only have the
// number of their members. Edges are stored on the shards of their owners. The [Layout] determines
// where a user's followers are read. The graph uses the layout of a call's era, and keeps a second
// one in step during a migration ([Mover]).
//
// A transaction that begins or ends follows also updates the users' counts, and calls
// Config.FollowsChanged. The package has its own collections, with their indexes and shard keys
// ([ShardKeys]).
package graph
