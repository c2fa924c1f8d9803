// Package adstore stores the data of ads in MongoDB: [Store] implements ads.Store.
//
// It has its own collections, whose names begin with "ad", with their indexes ([Store.Indexes]),
// shard keys ([ShardKeys]) and versions of documents ([Versions]). It shares only the calls of an
// mdb.DB with the rest of the engine, which also passes in the versions of documents to write.
// It makes no decisions: package ads has the rules for which ads fit, what they cost and which
// recordings are invalid.
//
//   - The catalogue: advertisers, campaigns, units and zones. A zone's document has a copy of
//     everything that choosing needs, so a choice is one read (zone.go). A change of a campaign or
//     a unit changes the copies in the same transaction (catalogue.go).
//   - Money: ledgers and leases of budgets (budget.go), what was charged (books.go), and refunds
//     (refund.go).
//   - Recordings (recording.go), which are counted once, afterwards (counting.go), and reports
//     (report.go, traffic.go).
//   - Visitors: profiles, for frequency caps (profile.go).
package adstore
