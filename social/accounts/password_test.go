package accounts

import (
	"strings"
	"testing"

	"plaza/social/passwords"
)

// TestPasswordCostIsRecommended: a service hashes at OWASP's recommended cost by default; a hash is
// checked at the cost that it was made with.
func TestPasswordCostIsRecommended(t *testing.T) {
	t.Parallel()
	usual := New(nil, nil, Options{}).hashes
	cheap := New(nil, nil, Options{Passwords: passwords.Cost{Passes: 1, Memory: 8}}).hashes
	for prefix, h := range map[string]*passwords.Hasher{"$argon2id$v=19$m=19456,t=2,p=1$": usual, "$argon2id$v=19$m=8,t=1,p=1$": cheap} {
		hash, err := h.Hash(t.Context(), passwords.Candidate{Password: "secret"})
		if err != nil || !strings.HasPrefix(hash, prefix) {
			t.Errorf("a hash is %s (%v), want %s…", hash, err, prefix)
		}
		for password, want := range map[string]bool{"secret": true, "Secret": false} {
			if got, err := usual.Matches(t.Context(), passwords.Candidate{Password: password}, hash); got != want || err != nil {
				t.Errorf("%s matches %q: %v (%v)", hash, password, got, err)
			}
		}
	}
}
