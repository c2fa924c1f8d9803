// Package sse is GraphQL over server-sent events, as the protocol of graphql-sse describes it, in
// both modes. With distinct connections each operation has a stream of its own; with a single
// connection a client reserves a stream, opens it, and starts operations on it by other requests.
// https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md
//
// A [Handler] finds and opens streams. A stream is one of the connections of package connections,
// with its writes and its end; a sink is what one operation has to say on it. Reading requests and
// answering those that fail is left to the caller.
package sse
