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
