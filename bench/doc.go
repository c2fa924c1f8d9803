// Package bench loads databases with seeded data, and measures the cost of operations in each
// layout side by side.
//
// Only figures of the same run are comparable: machines drift. So rivals take turns, round by
// round, and each result is the median of its rounds, with their spread. Cost is CPU time, of this
// process and of mongod separately, because waiting depends on the disk; MongoDB commands and bytes
// are counted beside it.
//
// A new comparison is a [Contest] with a [Call] for each operation, each with a [Turn] for each
// rival; a [Report] renders the results as a table and a picture.
package bench
