// Package adstore keeps the data of ads in MongoDB: [Store] is an ads.Store.
//
// It has its own collections, all of whose names begin with "ad", with their indexes ([Store.Indexes]), shard keys ([ShardKeys]) and versions of
// documents ([Versions]). It shares with the rest of the engine only the calls of an mdb.DB, and is told in which version to write documents.
// It decides nothing: which ads fit, what they cost and what is invalid are rules of package ads.
//
//   - The catalogue: advertisers, campaigns, units and zones. A zone's document has a copy of all that choosing needs, so a choice is one read
//     (zone.go); a change of a campaign or a unit changes the copies in the same transaction (catalogue.go).
//   - Money: ledgers and leases of budgets (budget.go), what was charged (books.go), and refunds (refund.go).
//   - What happened: recordings (recording.go), which are counted once, afterwards (counting.go), and reports (report.go, traffic.go).
//   - Visitors: profiles, for frequency caps (profile.go).
package adstore
