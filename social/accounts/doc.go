// Package accounts authenticates people: it signs them up and in, and keeps their sessions,
// passwords, access tokens, identities at other sites, and rights.
//
// A [Service] makes these changes and stores each with its event. It needs a [social.Store], and
// reads users, sessions and identities through a [people.Reader], which may remember them. It does
// not decide what a user sees: that is in policy.go of package social.
package accounts
