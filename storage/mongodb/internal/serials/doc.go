// Package serials assigns ids inside the transactions that store the things with these ids, so that
// the order of ids is the order of commits (ADR 27).
//
// Such a transaction first updates the document with the newest serial: for posts the one document
// of sequences, for comments their post's, and for circles, follows, blocks and mutes those of the
// users in whose lists they are. An access token takes a serial of its user, so that its limit is
// exact. Two transactions that update the same document conflict, so one of them is retried after
// the other.
//
// The time in an id comes from the primary's clock, and is never before that of the previous id. It
// does not depend on the clocks of Plaza's servers.
package serials
