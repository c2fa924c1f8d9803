package mongodb

import "fmt"

// LayoutError says that a database has another layout than Options asks for.
type LayoutError struct {
	Subject     Subject // whose layout
	Has, Wanted string  // layouts
}

// Error is for people.
func (e *LayoutError) Error() string {
	return fmt.Sprintf("this database keeps its %s in the layout %q, and this server is set to %q", e.Subject, e.Has, e.Wanted)
}

// NoDatabaseError says that no server has opened the database yet, where Options.MustExist asks for
// one that is there.
type NoDatabaseError struct {
	Database string
}

// Error is for people.
func (e *NoDatabaseError) Error() string {
	return fmt.Sprintf("there is no Plaza database %q on that MongoDB", e.Database)
}

// MigrationReason is why a migration cannot go where it is asked to, or go on.
type MigrationReason int

// The reasons of a MigrationError.
const (
	MigrationUnderWay    MigrationReason = iota // one to another layout is
	MigrationPastReturn                         // it is too late to back out: the old layout is being removed
	MigrationFinishing                          // it is switched, and the old layout is being removed
	MigrationBackingOut                         // it is being backed out of
	MigrationNotSwitched                        // it cannot finish yet: the new layout is not read
	MigrationDiffers                            // the layouts do not become the same; Detail says where
	MigrationDoesNotFit                         // something is too large for the new layout; Detail says what
)

// MigrationError says that a migration cannot do what it is asked to, or go on. The one under way
// stays as it is.
type MigrationError struct {
	Subject  Subject
	From, To string // the layouts of the migration that is under way
	Wanted   string // the layout that was asked for; "" for none
	Reason   MigrationReason
	Detail   string
}

// Error is for people.
func (e *MigrationError) Error() string {
	switch e.Reason {
	case MigrationUnderWay:
		return fmt.Sprintf("a migration of %s from %q to %q is under way", e.Subject, e.From, e.To)
	case MigrationPastReturn:
		return fmt.Sprintf("%q is being removed, so the way back is closed", e.From)
	case MigrationFinishing:
		return fmt.Sprintf("%s: %q is read already, and %q is being removed", e.Subject, e.To, e.From)
	case MigrationBackingOut:
		return fmt.Sprintf("the migration of %s to %q is being backed out of", e.Subject, e.To)
	case MigrationNotSwitched:
		return fmt.Sprintf("%s: %q is not read yet", e.Subject, e.To)
	default: // MigrationDiffers, MigrationDoesNotFit
		return e.Detail
	}
}

// Subject is what can be moved from one layout to another while servers run.
type Subject string

// The subjects of migrations.
const (
	MigrateComments Subject = "comments"
	MigrateFeeds    Subject = "feeds"
	MigrateGraph    Subject = "graph"
)
