// Package cache keeps in memory what a storage engine has, and forgets what changes.
//
// A [Cache] asks the engine before each use what has changed ([social.ChangeLog]), so it returns
// nothing older than the engine would, whichever server made the change.
package cache
