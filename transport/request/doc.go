// Package request reads GraphQL requests: from the JSON of a body or a message, or from a query
// string. It gives each request an id, which the answer and the log contain.
//
// The requests that it returns are well formed and valid Unicode. Package document decides whether
// the document of a request may run.
package request
