// Package connect finds a MongoDB deployment that Plaza can use, and explains why one cannot be
// used.
//
// [Parse] reads the URI. [Check] waits for a primary and refuses a server that has neither
// transactions nor change streams. If no primary answers, it asks each server of the URI, and
// returns an error that says what to change: a replica set that was not initiated, its name, TLS, a
// certificate, a password. Errors are sentences for the operator, and contain no types of the
// driver.
package connect
