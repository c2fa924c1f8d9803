package evolution

import "time"

// Migration says how to bring all documents to the newest versions.
type Migration struct {
	Batch    int  // documents that are read and written at a time; default: 500
	Rate     int  // documents a second at most; 0: unlimited
	DryRun   bool // read everything, write nothing
	Progress func(Progress)
	// Waiting is called with the process that did it before, as long as that may still run.
	// Optional.
	Waiting func(process string)
}

// Progress says how far a collection is.
type Progress struct {
	Collection string
	Done       int // documents that were looked at, or lie before the place where an earlier run was stopped
	Total      int // about how many there are
	Upgraded   int // in this run
}

// State says how far the migration of documents is.
type State struct {
	UnderWay    bool
	Collections []Progress // that were begun, while it is under way; Upgraded is 0
	Driver      string     // the process that is at it, or was until a moment ago; "": none
	Finished    time.Time  // when the last one ended; zero: none has
	Newest      bool       // the last one that ended brought documents to the versions that servers write now
}

// Counts says how many documents of a collection have each version.
type Counts struct {
	Collection string
	Newest     int         // that servers write now
	Counts     map[int]int // by version
}
