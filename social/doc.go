// Package social has the nouns of Plaza's domain, their rules, and the contract of their storage
// ([Store]): users, circles, posts, comment threads, walls and news feeds, notifications. The rule
// that decides who sees what is in policy.go, as pure functions, and nowhere else.
//
// Package network, below, has the services that resolvers call; people keeps users in memory for
// it, and passwords computes hashes. The package knows neither GraphQL nor any database driver.
// Storage engines import this package, and none of those below.
package social
