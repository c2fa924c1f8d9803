package cluster

import "time"

// Move is part of a setting during a migration: the two layouts, and the progress. Whenever it
// changes what servers have to do, the setting gets a new generation.
type Move struct {
	From  string    `bson:"from"`
	To    string    `bson:"to"`
	Phase Phase     `bson:"phase"`
	At    string    `bson:"at,omitempty"`    // the id up to which the phase is done
	Done  int       `bson:"done"`            // how many things that were
	Total int       `bson:"total"`           // about how many there were when the phase began
	Fixed int       `bson:"fixed,omitempty"` // how many copies were made again because they differed
	Since time.Time `bson:"since"`           // when the phase began
}

// Phase is a part of a migration. The setting's value is always the layout that is read.
type Phase string

const (
	PhaseAnnounced Phase = "announced" // From is read and written; servers look at what posts say
	PhaseCopying   Phase = "copying"   // From is read, both are written; what is older is copied
	PhaseComparing Phase = "comparing" // the same; the copies are compared
	PhaseSwitched  Phase = "switched"  // To is read, both are written
	PhaseReturning Phase = "returning" // From is read again, both are written
	PhaseFinishing Phase = "finishing" // To is read and written; From is removed
	PhaseUndoing   Phase = "undoing"   // From is read and written; To is removed
)

// KeepsBoth reports whether servers write both layouts.
func (m *Move) KeepsBoth() bool {
	switch m.Phase {
	case PhaseCopying, PhaseComparing, PhaseSwitched, PhaseReturning:
		return true
	case PhaseAnnounced, PhaseFinishing, PhaseUndoing:
	}
	return false
}

// Value returns the layout that is read in a phase.
func (m *Move) Value(p Phase) string {
	if p == PhaseSwitched || p == PhaseFinishing {
		return m.To
	}
	return m.From
}
