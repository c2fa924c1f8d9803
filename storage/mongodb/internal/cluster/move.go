package cluster

import "time"

// Move is in a setting while the database is moved from one layout to another: which layouts are in
// use, and how far it is. Every change of what servers have to do is a new generation of the
// setting.
type Move struct {
	From  string    `bson:"from"`
	To    string    `bson:"to"`
	Phase Phase     `bson:"phase"`
	At    string    `bson:"at,omitempty"`    // how far the phase is: an id
	Done  int       `bson:"done"`            // how many that was
	Total int       `bson:"total"`           // how many there were when the phase began, about
	Fixed int       `bson:"fixed,omitempty"` // how many copies were made again because they differed
	Since time.Time `bson:"since"`           // when the phase began
}

// Phase is a part of a migration. A setting's value is the layout that is read all the time.
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

// KeepsBoth says whether both layouts are kept in step.
func (m *Move) KeepsBoth() bool {
	switch m.Phase {
	case PhaseCopying, PhaseComparing, PhaseSwitched, PhaseReturning:
		return true
	case PhaseAnnounced, PhaseFinishing, PhaseUndoing:
	}
	return false
}

// Value is the layout that is read in a phase.
func (m *Move) Value(p Phase) string {
	if p == PhaseSwitched || p == PhaseFinishing {
		return m.To
	}
	return m.From
}
