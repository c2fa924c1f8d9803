package gate

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"plaza/graph/generated"
)

// noPasswords are the inputs of mutations that take an idempotency key whose names sound like a
// secret, although a fast hash of them is enough: ids, and tokens that cannot be guessed.
var noPasswords = []string{"revokeAccessToken.accessTokenId", "recordAdImpression.token", "recordAdConversion.token"}

var secret = regexp.MustCompile(`(?i)password|token|secret`)

// TestMutationsThatTakePasswords compares the list of the mutations that hash a password with the
// schema.
func TestMutationsThatTakePasswords(t *testing.T) {
	t.Parallel()
	schema := generated.NewExecutableSchema(generated.Config{}).Schema()
	secrets := 0
	for _, mutation := range schema.Mutation.Fields {
		for _, argument := range mutation.Arguments {
			for _, input := range secretsOf(schema, argument) {
				secrets++
				takesNoKey := slices.Contains(SignedOut, mutation.Name) && !strings.Contains(strings.ToLower(input), "password")
				if !takesNoKey && !slices.Contains(hashing, mutation.Name) && !slices.Contains(noPasswords, mutation.Name+"."+input) {
					t.Errorf("%s takes the secret %s, and is not in hashing", mutation.Name, input)
				}
			}
		}
	}
	if secrets < 12 {
		t.Errorf("%d secrets were found", secrets)
	}
}

// secretsOf returns the names of the inputs in an argument that sound like a secret.
func secretsOf(schema *ast.Schema, argument *ast.ArgumentDefinition) []string {
	var found []string
	seen := map[string]bool{}
	var search func(name, kind string)
	search = func(name, kind string) {
		if secret.MatchString(name) {
			found = append(found, name)
		}
		if !seen[kind] {
			seen[kind] = true
			for _, field := range schema.Types[kind].Fields {
				search(field.Name, field.Type.Name())
			}
		}
	}
	search(argument.Name, argument.Type.Name())
	return found
}

func TestPasswordsAreFoundAnywhere(t *testing.T) {
	t.Parallel()
	for document, want := range map[string]bool{
		`mutation($in: SetEmailInput!) { setEmail(input: $in) { viewer { id } } }`:                            true,
		`mutation { ...f } fragment f on Mutation { x: deleteAccount(input: {password: "x"}) { __typename }}`: true,
		`mutation a { signOut { __typename } } mutation b { signIn(input: {}) { token } }`:                    true,
		`mutation { signOut { __typename } }`:                                                                 false,
		`mutation($text: String!) { createPost(input: {content: {status: {text: $text}}}) { post { id } } }`:  false,
	} {
		if got := mayHoldPassword(document); got != want {
			t.Errorf("%s: %v", document, got)
		}
	}
}
