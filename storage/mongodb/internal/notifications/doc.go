// Package notifications implements social.Notifications. Every transaction that adds acts changes
// the notifier's one document, so these transactions run one at a time, and the order of
// notifications is the order of commits.
package notifications
