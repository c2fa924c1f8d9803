// Package serials gives ids inside the transactions that store what has them, so that the order of
// ids is the order of commits (ADR 27).
//
// Such a transaction first updates the document that remembers the newest serial: for posts the one
// document of sequences, for comments their post's, for circles, follows, blocks and mutes those of
// the users in whose lists they are. Two transactions that update the same document are in
// conflict, so one of them runs again behind the other.
//
// The time in an id is the primary's, and never before that of the last one: the clocks of Plaza's
// servers have no part in it.
package serials
