// Package front is where a server meets its clients: the listener, from its first request to its
// last. When it closes, no request is lost and no connection is reset (ADR 30).
package front
