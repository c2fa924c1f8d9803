// Package eventlog keeps the two logs of an SQLite file: the log of events (social.EventLog), which
// it stores, and the log of changes, which tells servers what to remove from their caches of users
// and relations (social.ChangeLog). It keeps the latter in memory, because only one process at a
// time has the file open.
//
// Every write of the social domain is a transaction of [Log.Update]: its [Tx] takes events and
// changes, and the log tells its followers about them after the commit. [Log.Prune] removes old
// events, and [Forget] those of a deleted user.
package eventlog
