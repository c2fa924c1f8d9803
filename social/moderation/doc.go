// Package moderation is the service of reports and of those who decide about them. It reads what
// people see from package network, and what moderators see from the store, by the rules of
// social/policy.go.
package moderation
