// Package social is Plaza's domain: users, circles, posts, comment threads, walls and news feeds. It holds
// the types, the rules (policy.go has the one that decides who sees what), the services, and the contracts
// that a storage engine fulfils. It knows neither GraphQL nor any database driver.
package social
