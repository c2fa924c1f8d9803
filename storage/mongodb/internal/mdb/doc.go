// Package mdb is how Plaza talks to MongoDB. It knows documents, lists, transactions and errors,
// and no noun of Plaza: what a user or a post consists of is the business of the packages above.
//
//   - Documents: [Doc] builds one. A type that is read in large numbers reads itself ([Document],
//     [Reader]): a page of news has some 2,000 values, for which the driver's decoder takes about
//     four times as long, and 4 KB for each document. [ReadDocument] also brings a document of an
//     older version up to date ([Evolving]). Writing goes through the driver and the struct tags
//     ([Registry]); pipelines, which are written for each command, through [WritePipeline].
//   - Reads: [FindAll], [FindIn] and [AggregateAll] answer whole lists, [Pages] answers one page of
//     each of many lists, in one command.
//   - Calls: a [DB] gives each read and each transaction a deadline, and runs a transaction again
//     where it meets a conflict or another primary. It asks a [Lease] whether this server may still
//     act. [Locks] and [WriteQueue] keep writers of one process from meeting in the database.
//   - Errors: [Translate] makes the domain's errors of the driver's. No driver error leaves a DB.
package mdb
