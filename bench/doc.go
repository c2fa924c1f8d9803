// Package bench loads databases with seeded data, and measures the cost of operations in each
// layout side by side.
//
// A new comparison is a contest with a call for each operation, each with a turn for each rival
// (package measure); a report renders the results as a table and a picture (package figures).
package bench
