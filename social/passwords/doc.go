// Package passwords computes and compares the hashes of passwords, and limits how often clients may
// try.
//
// A [Hasher] computes only a few hashes concurrently, because each takes a core and 19 MiB of
// memory. The other candidates wait in a queue. [Limits] count the attempts of each client, and
// give each attempt its rank in that queue: a client that tries many passwords waits behind those
// that try one. The package knows neither users nor sessions.
package passwords
