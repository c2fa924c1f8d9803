// Package transport serves an executable GraphQL schema over HTTP, over websockets and as
// server-sent events, on one path.
//
// HTTP follows the GraphQL-over-HTTP specification: POST with a JSON body, GET for queries, and the
// answer as application/json or application/graphql-response+json. Package websocket speaks
// graphql-transport-ws, or the older graphql-ws of subscriptions-transport-ws. Package sse speaks
// the protocol of graphql-sse. All of them read requests with package request and pass them to
// package execution. Before it runs an operation, package document parses, limits and validates it,
// and computes its cost. Package connections keeps track of open connections; package codes has the
// errors.
//
// gqlgen executes the operations. Its own transports are not used, because they violate these
// specifications.
package transport
