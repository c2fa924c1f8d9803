// Package notifications implements social.Notifications. Only one connection writes, so the order
// of notifications is the order of commits.
package notifications
