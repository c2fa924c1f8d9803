// Package document decides which operations may run. It finds the document of a request (in the
// request, among those that clients have registered, or in the operator's manifest), parses it,
// checks its [Limits], validates it, coerces the variables, and computes the cost. It does
// everything that is possible before an operation runs, and does not depend on the user.
//
// Its errors are ready to be sent.
package document
