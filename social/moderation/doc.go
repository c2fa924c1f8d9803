// Package moderation is the service for reports and moderators' decisions. It reads what people see
// from package network, and what moderators see from the store, by the rules of social/policy.go.
package moderation
