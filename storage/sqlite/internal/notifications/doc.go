// Package notifications stores what users are notified of, as social.Notifications says. Only one
// connection writes, so the order of notifications is the order of commits.
package notifications
