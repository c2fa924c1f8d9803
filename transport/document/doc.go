// Package document decides which operations may run. It finds the document of a request (in the
// request, among those that clients have registered, or in the operator's manifest), parses it,
// holds it to [Limits], validates it, coerces the variables, and computes the cost: everything that
// can be said of an operation before anything of it runs, and nothing about who asks.
//
// Its errors are ready to be sent.
package document
