package evolution

import "time"

// Migration configures Documents.Migrate.
type Migration struct {
	Batch    int  // how many documents to read and write at a time; default: 500
	Rate     int  // the most documents per second; 0: unlimited
	DryRun   bool // read everything, write nothing
	Progress func(Progress)
	// Waiting is called repeatedly with the name of the process that ran a migration before, while
	// that process may be alive. Optional.
	Waiting func(process string)
}

// Progress is the progress of one collection.
type Progress struct {
	Collection string
	Done       int // documents that were read, including those of an earlier run that was stopped
	Total      int // about how many there are
	Upgraded   int // in this run
}

// State is the progress of the migration of documents.
type State struct {
	UnderWay    bool
	Collections []Progress // those that were begun, while a migration runs; Upgraded is 0
	Driver      string     // the process that runs it, or did until a moment ago; "": none
	Finished    time.Time  // when the last one was completed; zero: never
	Newest      bool       // the last one that was completed reached the versions that servers write now
}

// Counts is how many documents of a collection have each version.
type Counts struct {
	Collection string
	Newest     int         // the version that servers write now
	Counts     map[int]int // by version
}
