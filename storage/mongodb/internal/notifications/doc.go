// Package notifications stores what users are notified of, as social.Notifications says. The
// notifier's one document is changed by every transaction that adds acts, so there is one at a
// time, and the order of notifications is the order of commits.
package notifications
