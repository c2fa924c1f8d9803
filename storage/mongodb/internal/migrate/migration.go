package migrate

import "time"

// Goal is how far a migration is to go.
type Goal string

// The goals of a migration.
const (
	GoalSwitch  Goal = "switch"   // the new layout is read, and both are kept in step
	GoalFinish  Goal = "finish"   // the old layout is gone
	GoalBackOut Goal = "back out" // the new layout is gone
)

// Migration says what to move.
type Migration struct {
	Subject Subject
	// To is the layout to move to. With GoalFinish and GoalBackOut it may be "": whatever is under
	// way.
	To   string
	Goal Goal
	// Rate is how many posts (of comments), or users (of feeds and the graph), are gone through in
	// a second at most. 0: unlimited.
	Rate int
	// Progress is called now and then with the state of the migration. Optional.
	Progress func(State)
	// Waiting is called now and then with the processes that have not adopted the next step yet.
	// Optional.
	Waiting func(processes []string)
}

// State is the layout of a subject, and the progress of its migration.
type State struct {
	Subject Subject
	Layout  string // that is read
	From    string // "": no migration is under way
	To      string
	Phase   string
	Done    int           // how many posts, or users, the phase is through
	Total   int           // of about this number
	Fixed   int           // how many copies differed, and were replaced
	Since   time.Time     // when the phase began
	Driver  string        // the process that drives it; "": none
	Silent  time.Duration // how long its heartbeats have been missing, if that is too long for a running process; or 0
}
