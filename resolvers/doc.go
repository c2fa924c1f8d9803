// Package resolvers resolves the schema's fields: each parses its arguments, calls the domain, and
// wraps the result.
//
// root.go maps the schema's objects to the types that resolve them, and is the only file that knows
// all of them.
// Objects refer to each other in the schema, and not here: what several of them need is in
// object.go (looking an object up by its id), list.go (lists and their cursors), connection.go
// (pages of them) and change.go (how a mutation changes an object, and reads it again). Ads are
// resolved in advertising, operations are refused in gate, and errors are presented in presenter.
package resolvers
