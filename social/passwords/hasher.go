package passwords

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"golang.org/x/crypto/argon2"
)

const (
	argonThreads = 1
	argonSaltLen = 16
	argonKeyLen  = 32
)

// Cost is the cost of an Argon2id hash.
type Cost struct {
	Passes uint32
	Memory uint32 // KiB
}

// DefaultCost is the setting that OWASP's password storage cheat sheet recommends for 19 MiB. Only
// tests, whose passwords protect nothing, may use less.
var DefaultCost = Cost{Passes: 2, Memory: 19 * 1024}

// Hasher limits how many hashes are computed in parallel, because each takes 19 MiB and a
// core.
type Hasher struct {
	cost  Cost // of new hashes
	queue queue
}

// NewHasher creates a hasher with a queue of at most limits.Waiting passwords; nil: any number.
func NewHasher(cost Cost, limits *Limits) *Hasher {
	return &Hasher{cost: cmp.Or(cost, DefaultCost), queue: queue{most: limits.waiting(), free: max(1, runtime.GOMAXPROCS(0)/2)}}
}

// Candidate is a password to hash, with its rank in the queue.
type Candidate struct {
	Password string
	Rank     int
}

// Waiting returns how many passwords are waiting to be hashed.
func (h *Hasher) Waiting() int { return h.queue.length() }

// key computes a hash when it is this candidate's turn. Errors: those of queue.enter.
func (h *Hasher) key(ctx context.Context, c Candidate, salt []byte, time, memory uint32, threads uint8) ([]byte, error) {
	if err := h.queue.enter(ctx, c.Rank); err != nil {
		return nil, err
	}
	defer h.queue.leave()
	return argon2.IDKey([]byte(c.Password), salt, time, memory, threads, argonKeyLen), nil
}

// Hash returns the hash in the PHC string format: $argon2id$v=19$m=…,t=…,p=…$salt$key.
func (h *Hasher) Hash(ctx context.Context, c Candidate) (string, error) {
	salt := make([]byte, argonSaltLen)
	_, _ = rand.Read(salt) // never fails: crypto/rand.Read
	key, err := h.key(ctx, c, salt, h.cost.Passes, h.cost.Memory, argonThreads)
	if err != nil {
		return "", err
	}
	enc := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.cost.Memory, h.cost.Passes, argonThreads, enc(salt), enc(key)), nil
}

// Fingerprint returns the same hash for the same text, which may contain a password, and salt.
func (h *Hasher) Fingerprint(ctx context.Context, text Candidate, salt []byte) ([argonKeyLen]byte, error) {
	key, err := h.key(ctx, text, salt, h.cost.Passes, h.cost.Memory, argonThreads)
	if err != nil {
		return [argonKeyLen]byte{}, err
	}
	return [argonKeyLen]byte(key), nil
}

// Matches compares a password with its hash. An empty hash matches nothing, and takes just as long.
func (h *Hasher) Matches(ctx context.Context, c Candidate, hash string) (bool, error) {
	parts := strings.Split(hash, "$")
	if len(parts) != 6 {
		_, err := h.key(ctx, c, make([]byte, argonSaltLen), h.cost.Passes, h.cost.Memory, argonThreads)
		return false, err
	}
	var version int
	var memory, time uint32
	var threads uint8
	if _, err := fmt.Sscanf(parts[2]+" "+parts[3], "v=%d m=%d,t=%d,p=%d", &version, &memory, &time, &threads); err != nil {
		return false, fmt.Errorf("a stored password hash is malformed: %w", err)
	}
	salt, saltErr := base64.RawStdEncoding.DecodeString(parts[4])
	want, wantErr := base64.RawStdEncoding.DecodeString(parts[5])
	if err := errors.Join(saltErr, wantErr); err != nil {
		return false, fmt.Errorf("a stored password hash is malformed: %w", err)
	}
	got, err := h.key(ctx, c, salt, time, memory, threads)
	return err == nil && subtle.ConstantTimeCompare(got, want) == 1, err
}
