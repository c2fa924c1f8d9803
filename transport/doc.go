// Package transport serves an executable GraphQL schema over HTTP, over websockets and as
// server-sent events, on one path.
//
// HTTP follows the GraphQL-over-HTTP specification: POST with a JSON body, GET for queries, and the
// answer as application/json or application/graphql-response+json. Package websocket speaks
// graphql-transport-ws, or the older graphql-ws of subscriptions-transport-ws. Package sse
// speaks the protocol of graphql-sse. All read requests by
// package request, and leave them to package execution, which has them parsed, held to limits,
// validated and costed (package document) before anything of them runs. Package connections knows
// what stays open; package codes has the errors.
//
// gqlgen executes; its own transports are not used, because they break these documents.
package transport
