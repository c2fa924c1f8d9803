// Package connect finds a MongoDB deployment that Plaza can use, and explains why one cannot be
// used.
//
// [Parse] reads the URI. [Check] waits for a primary and refuses a server that has neither
// transactions nor change streams. Where no primary answers, it asks the named servers one by one,
// and says what a person has to change: a replica set that was not initiated, its name, TLS, a
// certificate, a password. Its errors are sentences for people; no type of the driver is in them.
package connect
