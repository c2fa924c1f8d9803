// Package eventlog keeps the two logs that servers follow: the log of events (social.EventLog), and
// the log of changes, which tells servers what to remove from their caches of users and relations
// (social.ChangeLog, ADR 40).
//
// A transaction writes its entries itself: an event with [Log.Append], a change of users, relations
// or sessions with [Log.Note], or both with [Log.AppendWith]. It writes the entry of the log of
// changes last, because concurrent writers wait for it.
package eventlog
