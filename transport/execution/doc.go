// Package execution carries out operations in the same way for all transports: it counts requests
// on arrival, authenticates them, checks their documents, charges their cost, runs them with
// gqlgen's executor, and presents errors.
//
// A transport with a single answer calls the steps itself ([Executor.Arrive], Authenticate,
// Prepare, Answer), because it reports failures of each step differently. A transport that keeps a
// connection open passes each operation to [Executor.Serve], with a [Sink] that encodes and sends
// the operation's messages. Serve also carries out subscriptions, which continue as a [Stream].
package execution
