// Package websocket carries GraphQL over websockets, in the subprotocols graphql-transport-ws and,
// for older clients, graphql-ws of subscriptions-transport-ws.
//
// A [Handler] opens sockets. Each has a reader (connection.go), which hands message after message
// to the protocol (protocol.go); operations.go knows what runs on the socket, and package execution
// runs it. A subprotocol only words what is said. An idle socket costs one goroutine with a small
// stack.
package websocket
