// Package sqldb is how Plaza uses an SQLite file. It handles the file, transactions, statements,
// rows and pages of lists, but no users or posts: the packages above define these.
//
//   - The file ([Open]): one process at a time has it open. It is in WAL mode with
//     synchronous=FULL, so what a call has acknowledged survives a crash and a power failure.
//     [DB.EmptyLog] keeps deleted data from staying in the write-ahead log.
//     [Migrations] make its tables, and take them back to an earlier version ([GoBack]).
//   - Transactions: one connection writes ([DB.Update]); a pool of others reads, each call in one
//     snapshot ([DB.View], [Read], [Pages]). A function that only reads takes a [Reader], one that
//     writes a [Tx]. Large amounts are deleted in parts ([DeleteSome], [DB.DeleteAll]), because
//     writers wait for each other.
//   - Statements: [Define] makes all of them, in package variables, so that every connection
//     prepares them once, and a test can ask SQLite for the plan of each ([Statements]). A
//     [Directed] one walks a list in either direction, over a [Span].
//   - Errors: [DB.View] and [DB.Update] turn SQLite's errors into the domain's, and notice a full
//     disk ([DB.Ping], [DB.WatchRoom]).
package sqldb
