package migrate

import "time"

// Goal is the step up to which to run a migration.
type Goal string

// The goals of a migration.
const (
	GoalSwitch  Goal = "switch"   // servers read the new layout, and keep both in step
	GoalFinish  Goal = "finish"   // the old layout is removed
	GoalBackOut Goal = "back out" // the new layout is removed
)

// Migration says what to move.
type Migration struct {
	Subject Subject
	// To is the layout to move to. With GoalFinish and GoalBackOut it may be "", which means that
	// of the current migration.
	To   string
	Goal Goal
	// Rate is the most entries per second: posts for comments, users for feeds and the graph. 0:
	// unlimited.
	Rate int
	// Progress is called from time to time with the state of the migration. Optional.
	Progress func(State)
	// Waiting is called from time to time with the processes that have not adopted the next step
	// yet. Optional.
	Waiting func(processes []string)
}

// State is the layout of a subject, and the progress of its migration.
type State struct {
	Subject Subject
	Layout  string // the one that is read
	From    string // "": there is no migration
	To      string
	Phase   string
	Done    int           // how many posts or users the phase has done
	Total   int           // about how many there are
	Fixed   int           // how many copies differed, and were replaced
	Since   time.Time     // when the phase began
	Driver  string        // the process that drives it; "": none
	Silent  time.Duration // how long its heartbeats have been missing, if that is too long for a running process; or 0
}
