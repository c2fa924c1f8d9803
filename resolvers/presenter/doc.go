// Package presenter is the only place that converts errors to what clients see: a user's mistake to
// an entry of a payload's userErrors, and every other error to an error of the response, with a
// code. Errors that are not the client's fault are logged here, once.
package presenter
