// Package graph keeps what people are to each other in MongoDB: who follows, mutes and blocks which
// others, and who is in which circle, as social.Graph and social.Circles say.
//
// There is one document of edges for each ordered pair of users ([Document]); circles only count
// their members. Edges lie with their owners. Where a user's followers are read from depends on the
// [Layout]; the graph reads that of a call's era, and keeps a second one in step while a migration
// moves it ([Mover]).
//
// The package counts follows at their users, and says who begins or ends follows, in the
// transactions of that. It has its own collections, with their indexes and shard keys
// ([ShardKeys]).
package graph
