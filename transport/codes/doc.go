// Package codes has the errors that the transports report themselves: the values of an error's
// extensions.code, how such errors are made, and what makes one the answer to an HTTP request.
//
// The schema's own errors have codes of their own, which the presenter of the server's errors gives
// them. Where it uses one of these, the transports act on it.
package codes
