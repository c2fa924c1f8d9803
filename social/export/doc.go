// Package export lists all that Plaza has stored about a user, as records that the user may keep.
// docs/export.md describes each type of record.
package export
