// Package gate decides whether an operation may run, before any of its fields is resolved: it knows
// the session of each request, and refuses operations for which it is not enough (members, scopes),
// that were carried out before (idempotency keys), or that hash more than one password.
package gate
