package migrate

import "fmt"

// Reason is why a migration cannot do what was asked, or cannot continue.
type Reason int

// The reasons of an Error.
const (
	UnderWay    Reason = iota // there is a migration to another layout
	PastReturn                // it is too late to back out: the old layout is being removed
	Finishing                 // servers read the new layout, and the old one is being removed
	BackingOut                // it is being backed out of
	NotSwitched               // it cannot finish yet: the new layout is not read
	Differs                   // the layouts still differ after repairs; Detail says where
	DoesNotFit                // something is too large for the new layout; Detail says what
)

// Error means that a migration cannot do what was asked, or cannot continue. The current migration
// stays as it is.
type Error struct {
	Subject  Subject
	From, To string // the layouts of the current migration
	Wanted   string // the layout that was asked for; "" for none
	Reason   Reason
	Detail   string
}

// Error is written for the operator.
func (e *Error) Error() string {
	switch e.Reason {
	case UnderWay:
		return fmt.Sprintf("a migration of %s from %q to %q is under way", e.Subject, e.From, e.To)
	case PastReturn:
		return fmt.Sprintf("%q is being removed, so the way back is closed", e.From)
	case Finishing:
		return fmt.Sprintf("%s: %q is read already, and %q is being removed", e.Subject, e.To, e.From)
	case BackingOut:
		return fmt.Sprintf("the migration of %s to %q is being backed out of", e.Subject, e.To)
	case NotSwitched:
		return fmt.Sprintf("%s: %q is not read yet", e.Subject, e.To)
	default: // Differs, DoesNotFit
		return e.Detail
	}
}

// Subject is what can be moved from one layout to another while servers run.
type Subject string

// The subjects of migrations.
const (
	Comments Subject = "comments"
	Feeds    Subject = "feeds"
	Graph    Subject = "graph"
)
