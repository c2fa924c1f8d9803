package cli

import (
	"errors"
	"fmt"
	"strings"

	"plaza/demo"
	"plaza/storage/mongodb"
	"plaza/storage/sqlite"
)

// withAdvice adds advice to an error of the packages below: the flags, variables and commands that
// help. Those packages do not know them.
func withAdvice(err error) error {
	if advice := adviceOn(err); advice != "" {
		return fmt.Errorf("%w%s", err, advice)
	}
	return err
}

func adviceOn(err error) string {
	if layout, ok := errors.AsType[*mongodb.LayoutError](err); ok {
		return fmt.Sprintf(": start it with --%s=%s (PLAZA_%s=%s), or without that setting; or move the database with \"plaza migrate %s --to %s\" first",
			layout.Subject, layout.Has, strings.ToUpper(string(layout.Subject)), layout.Has, layout.Subject, layout.Wanted)
	}
	if migration, ok := errors.AsType[*mongodb.MigrationError](err); ok {
		return adviceOnMigration(migration)
	}
	if newer, ok := errors.AsType[*sqlite.TooNewError](err); ok {
		return fmt.Sprintf(", or downgrade the file with that version: plaza migrate back --to %d", newer.Knows)
	}
	switch _, missing := errors.AsType[*mongodb.NoDatabaseError](err); {
	case missing:
		return ": name another one with --mongodb-uri or PLAZA_MONGODB_URI"
	case errors.Is(err, mongodb.ErrNotSharded):
		return ": point --mongodb-uri at a mongos (plaza shard --print shows what it would do). Plaza also runs without sharding"
	case errors.Is(err, demo.ErrOccupied):
		return "; choose another data folder or database, or start without --demo (PLAZA_DEMO)"
	}
	return ""
}

func adviceOnMigration(e *mongodb.MigrationError) string {
	command := "plaza migrate " + string(e.Subject)
	switch e.Reason {
	case mongodb.MigrationUnderWay:
		return fmt.Sprintf(": finish it (\"%s --to %s --finish\"), or go back (\"%s --back-out\"), before you move to %q", command, e.To, command, e.Wanted)
	case mongodb.MigrationPastReturn:
		return fmt.Sprintf(": run \"%s --finish\", and then move to %q", command, e.From)
	case mongodb.MigrationFinishing:
		return fmt.Sprintf(": run \"%s --finish\"", command)
	case mongodb.MigrationBackingOut:
		return fmt.Sprintf(": run \"%s --back-out\" first", command)
	case mongodb.MigrationNotSwitched:
		return fmt.Sprintf(": run \"%s --to %s\" first", command, e.To)
	case mongodb.MigrationDiffers:
		return fmt.Sprintf("; look at \"plaza work status\", and try again, or go back with \"%s --back-out\"", command)
	case mongodb.MigrationDoesNotFit:
		return fmt.Sprintf(": go back with \"%s --back-out\", and choose another layout", command)
	}
	return ""
}
