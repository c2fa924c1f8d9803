// Package live follows the event log, and sends updates to the subscribers of this server who may
// see them.
//
// The [Hub] knows all subscriptions. A subscription depends only on the domain, on the reader of
// the past, and on a function that removes it from the hub. Updates are made once for all
// subscribers of an event.
package live
