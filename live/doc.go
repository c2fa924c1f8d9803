// Package live follows the event log, and notifies the subscribers of this server of what they may
// see.
//
// The [Hub] knows all subscriptions; a subscription knows only its surroundings: the domain, the
// reader of the past, and how to leave. Updates are made once for all subscribers of an event.
package live
