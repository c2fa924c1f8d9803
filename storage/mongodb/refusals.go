package mongodb

import "fmt"

// LayoutError means that the database has another layout than Options asks for.
type LayoutError struct {
	Subject     Subject // whose layout
	Has, Wanted string  // layouts
}

// Error is written for the operator.
func (e *LayoutError) Error() string {
	return fmt.Sprintf("this database keeps its %s in the layout %q, and this server is set to %q", e.Subject, e.Has, e.Wanted)
}

// NoDatabaseError means that Options.MustExist is set and no server has opened the database yet.
type NoDatabaseError struct {
	Database string
}

// Error is written for the operator.
func (e *NoDatabaseError) Error() string {
	return fmt.Sprintf("there is no Plaza database %q on that MongoDB", e.Database)
}
