// Package people keeps users, relations between users, and sessions in memory.
//
// A [Reader] reads them: a [Cache] from memory, or [Uncached] from the store each time. A cache
// asks the store at each read what has changed (see [social.ChangeLog]), so it returns nothing
// older than the store would, whichever server made the change.
package people
