package mongodb

import "time"

// moveDoc is in a setting while the database is moved from one layout to another: which layouts are in use, and how far it is.
// Every change of what servers have to do is a new generation of the setting.
type moveDoc struct {
	From  string    `bson:"from"`
	To    string    `bson:"to"`
	Phase phase     `bson:"phase"`
	At    string    `bson:"at,omitempty"`    // how far the phase is: an id
	Done  int       `bson:"done"`            // how many that was
	Total int       `bson:"total"`           // how many there were when the phase began, about
	Fixed int       `bson:"fixed,omitempty"` // how many copies were made again because they differed
	Since time.Time `bson:"since"`           // when the phase began
}

// phase is a part of a migration. A setting's value is the layout that is read all the time.
type phase string

const (
	phaseAnnounced phase = "announced" // From is read and written; servers look at what posts say
	phaseCopying   phase = "copying"   // From is read, both are written; what is older is copied
	phaseComparing phase = "comparing" // the same; the copies are compared
	phaseSwitched  phase = "switched"  // To is read, both are written
	phaseReturning phase = "returning" // From is read again, both are written
	phaseFinishing phase = "finishing" // To is read and written; From is removed
	phaseUndoing   phase = "undoing"   // From is read and written; To is removed
)

// keepsBoth says whether both layouts are kept in step.
func (m *moveDoc) keepsBoth() bool {
	switch m.Phase {
	case phaseCopying, phaseComparing, phaseSwitched, phaseReturning:
		return true
	case phaseAnnounced, phaseFinishing, phaseUndoing:
	}
	return false
}

// value is the layout that is read in a phase.
func (m *moveDoc) value(p phase) string {
	if p == phaseSwitched || p == phaseFinishing {
		return m.To
	}
	return m.From
}
