// Package front is where a server meets its clients: the listener, from its first request to its
// last. It neither loses a request nor resets a connection when it closes (ADR 30).
package front
