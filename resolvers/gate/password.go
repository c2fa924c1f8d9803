package gate

import (
	"context"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"plaza/fault"
)

// hashing are the mutations that take a password, which they hash.
var hashing = []string{"signUp", "signIn", "changePassword", "deactivateAccount", "deleteAccount", "setEmail", "resetPassword"}

// OnePassword rejects operations that would hash several passwords: hashing is expensive, and would
// allow several guesses. Each mutation that hashes one calls it first.
func OnePassword(ctx context.Context) error {
	hashes := 0
	for _, field := range rootFields(graphql.GetOperationContext(ctx)) {
		if slices.Contains(hashing, field.Name) {
			hashes++
		}
	}
	if hashes > 1 {
		return fault.Invalidf("", "An operation may contain only one password.")
	}
	return nil
}

// mayHoldPassword reports whether a document or its variables may contain a password, wherever it
// is: in a fragment, in a field that @skip leaves out, in another operation of the document. It is
// also true for some documents that only contain the name of such a mutation, in a text.
func mayHoldPassword(document string) bool {
	return slices.ContainsFunc(hashing, func(mutation string) bool { return strings.Contains(document, mutation) })
}
