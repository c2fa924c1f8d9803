// Package migrate moves data from one layout to another while servers run.
//
// A [Run] takes a setting from phase to phase (cluster.Phase). It enters a phase only when all
// servers have adopted the one before, and have ended the calls that began under older ones. One
// process at a time drives a setting. If it stops or dies, another [Run] continues where it was. A
// [Mover] does the work of each phase. It reports its progress with [Run.Note], and makes its
// changes within [Run.Transaction] or after [Run.Still], so that a process that was overtaken
// changes nothing.
//
// The package does not know specific layouts.
package migrate
