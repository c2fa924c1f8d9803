// Package presenter is the only place that converts errors to what clients see: a user's mistake to
// an entry of a payload's userErrors, and every other error to an error of the response, with a
// code. What clients cannot do anything about is logged here, once.
package presenter
