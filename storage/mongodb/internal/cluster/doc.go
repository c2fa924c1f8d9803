// Package cluster coordinates all servers that use one database: which servers there are, what they
// have recorded for each other, and until when each of them may act.
//
//   - A server is a [Member]. It joins before it reads its settings, and leaves when its last call
//     has ended. Its heartbeats renew a lease. Without a lease it neither writes nor answers, so
//     the others only have to wait for servers that send heartbeats (member.go). [Member.DB] runs
//     all calls of the server within that lease.
//   - The settings record the layouts of the database, and the progress of a migration to another
//     layout ([Setting], [Move]). The recorded versions are those in which servers write documents
//     ([Versions], [Edition]). A call uses both as they were when it began: its [Era]. A change
//     proceeds to its next step only when the calls of older eras have ended on all servers. The
//     caller decides what the settings mean to calls (Config.Use, [Era.InUse]).
//   - A server that stops sending heartbeats does not keep locks: the others end its transactions
//     (silence.go). [Member.IsGone] reports whether it can do nothing more.
//   - A server takes a turn for work that only one server at a time may do ([Member.TakeTurn]).
//
// The types of the documents in the collections "servers" and "settings" have the description of
// each field. The package does not know specific layouts, users or posts.
package cluster
