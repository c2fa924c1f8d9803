// Package measure lets rivals take turns with the same operations, and measures what each costs: a
// [Contest] makes calls, each with a [Turn] for every rival, and returns a [Result] for each call
// and rival.
//
// Only figures of the same run are comparable: machines drift. So rivals take turns, round by
// round, and each result is the median of its rounds, with their spread. Cost is CPU time, of this
// process and of mongod separately ([Meter]), because waiting depends on the disk; MongoDB commands
// and bytes are counted beside it ([Wire]).
package measure
