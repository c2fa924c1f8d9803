// Package adstore stores the data of ads in an SQLite file: [Store] implements ads.Store.
//
// Its tables' names begin with "ad_". It shares only the file with the rest of the engine, and
// makes no decisions: package ads has the rules for which ads fit, what they cost and which
// recordings are invalid.
//
//   - The catalogue (catalogue.go): advertisers, campaigns, units and zones. A placement has a copy
//     of what orders the units of a zone, so a choice walks an index (zone.go).
//   - Money: ledgers and leases of budgets (budget.go), and refunds (refund.go).
//   - Recordings (recording.go), which are counted once, afterwards (counting.go), and reports
//     (report.go, traffic.go).
//   - Visitors: profiles, for frequency caps (profile.go).
package adstore
