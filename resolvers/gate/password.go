package gate

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"

	"plaza/fault"
)

// hashing are the mutations that hash a password.
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
