// Package websocket implements GraphQL over websockets, in the subprotocols graphql-transport-ws
// and, for older clients, graphql-ws of subscriptions-transport-ws.
//
// A [Handler] opens sockets. Each has a reader (connection.go), which passes messages to the
// protocol (protocol.go). Package connections keeps track of the socket's operations, and package
// execution runs them. A subprotocol only defines the form of messages. An idle socket costs one
// goroutine with a small stack.
package websocket
