// Package api has the black-box tests of the API: golden answers for the whole schema, who sees
// what, bad input, live updates, and what a request costs.
package api
