// Package execution carries out operations for every transport in the same way: it counts requests
// on arrival, authenticates them, has their documents checked, charges what they cost, runs them by
// gqlgen's executor, and presents what goes wrong.
//
// A transport that answers once calls the steps itself ([Executor.Arrive], Authenticate, Prepare,
// Answer), because it reports the failure of each in its own way. One that keeps a connection open
// hands each operation to [Executor.Serve], with a [Sink] that words what the operation has to say.
// Serve also carries out subscriptions, which go on as a [Stream].
package execution
