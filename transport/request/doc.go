// Package request reads GraphQL requests: from the JSON of a body or a message, or from a query
// string. It gives each an id, which its answer and the log carry.
//
// What it returns has the right shape and is Unicode text. Whether the document of a request may
// run is up to package document.
package request
