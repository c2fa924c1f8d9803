// Package sse implements GraphQL over server-sent events, in both modes of the protocol of
// graphql-sse. With distinct connections, each operation has its own stream. With a single
// connection, a client reserves a stream, opens it, and starts operations on it with other
// requests. https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md
//
// A [Handler] finds and opens streams. A stream is a long-lived connection (package connections),
// with its writes and its end. A sink sends the messages of one operation on a stream. The caller
// reads requests, and answers those that fail.
package sse
