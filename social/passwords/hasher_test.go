package passwords

import (
	"bytes"
	"testing"

	"golang.org/x/crypto/argon2"
)

// TestFingerprintsAreAsSlowAsHashes: a fingerprint has the cost of a stored hash, and its salt.
func TestFingerprintsAreAsSlowAsHashes(t *testing.T) {
	t.Parallel()
	cost := Cost{Passes: 2, Memory: 64}
	for _, salt := range []string{"ada 1", "ada 2"} {
		got, err := NewHasher(cost, nil).Fingerprint(t.Context(), Candidate{Password: "secret"}, []byte(salt))
		if want := argon2.IDKey([]byte("secret"), []byte(salt), cost.Passes, cost.Memory, argonThreads, argonKeyLen); err != nil || !bytes.Equal(got[:], want) {
			t.Errorf("with the salt %q: %x (%v), want %x", salt, got, err, want)
		}
	}
}
