// Package app is a Plaza server: everything between a store and the answers to HTTP requests.
//
// Contract: New wires the services, GraphQL, live updates, metrics and the other HTTP handlers
// around a store of any engine. Serve answers requests until its context ends, and then drains: no
// request that has begun fails, and everything that was counted in memory is stored. Run does both
// for a database that may not answer yet: the server listens in the meantime, and is not ready. The
// package reads no flags and no environment variables, and names no engine; Config has all
// settings.
package app
