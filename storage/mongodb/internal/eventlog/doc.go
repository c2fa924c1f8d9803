// Package eventlog keeps the two logs that servers follow: that of events, which social.EventLog
// describes, and that of changes, by which servers forget what they remember of people
// (social.ChangeLog, ADR 40).
//
// Both are written inside the transaction of what happened: events with [Log.Append], and what a
// transaction changes of users, relations and sessions with [Log.Note], or both with
// [Log.AppendWith]. An entry of the log of changes comes last in its transaction, because others
// wait for it.
package eventlog
