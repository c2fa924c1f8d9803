// Package mdb is how Plaza talks to MongoDB. It handles documents, lists, transactions and errors,
// but no users or posts: the packages above define these.
//
//   - Documents: [Doc] builds one. A type that is read in large numbers has its own decoder
//     ([Document], [Reader]): a page of news has some 2,000 values, for which the driver's decoder
//     takes about four times as long, and allocates 4 KB for each document. [ReadDocument] also
//     upgrades a document of an older version ([Evolving]). The driver encodes documents by their
//     struct tags ([Registry]). writePipeline encodes pipelines, which are built for each
//     command.
//   - Reads: [FindAll], [FindIn] and [AggregateAll] return whole lists. [Pages] returns one page of
//     each of many lists with one command.
//   - Calls: a [DB] gives each read and each transaction a deadline, and retries a transaction
//     after a conflict or a change of primary. It asks a [Lease] whether this server may still act.
//     [Locks] and [WriteQueue] keep writers of one process from meeting in the database, and
//     [SharedWrites] lets them share transactions.
//   - Errors: [Translate] turns the driver's errors into the domain's. A DB returns no errors of
//     the driver.
package mdb
