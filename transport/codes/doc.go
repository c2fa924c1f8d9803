// Package codes defines the errors that the transports report themselves: their codes
// (extensions.code), how to make them, and how they become answers to HTTP requests.
//
// The errors of the schema have other codes, which the server's error presenter sets. If the
// presenter sets one of the codes here, the transports act on it.
package codes
