// Package cluster is the agreement of all servers on one database: who is there, what they have
// recorded for each other, and until when each may act.
//
//   - A server is a [Member]. It joins before it reads its settings, and leaves when its last call
//     has ended. Its heartbeats renew a lease; without a lease it neither writes nor answers, so
//     the others have to wait only for servers whose heartbeats come (member.go). [Member.DB] runs
//     all calls of the server within that lease.
//   - The settings say how the database keeps things, and how far it is moved from one layout to
//     another ([Setting], [Move]). The versions say in which versions documents are written
//     ([Versions], [Edition]). A server works by both as they were when a call began: an [Era]. A
//     change goes on to its next step only when the calls of older eras have ended on all servers.
//     What the settings mean to calls is up to the caller (Config.Use), which gets it back as
//     [Era.InUse].
//   - A server that falls silent keeps nothing locked: the others end its transactions
//     (silence.go). [Member.IsGone] says when it can do nothing more.
//   - What only one server at a time may do has a turn ([Member.TakeTurn]).
//
// Each document of the collections "servers" and "settings" is described next to its type. The
// package knows no layout and no noun of Plaza.
package cluster
