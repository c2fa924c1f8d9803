// Package gate decides whether an operation may run, before any of its fields is resolved: it
// authenticates each request, and refuses operations that the session may not run (members,
// scopes), that were carried out before (idempotency keys), or that hash more than one password.
package gate
