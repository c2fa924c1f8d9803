package social

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"runtime"
	"strings"

	"golang.org/x/crypto/argon2"
)

// Argon2id with the first of the settings that OWASP's password storage cheat sheet recommends for 19 MiB.
const (
	argonTime    = 2
	argonMemory  = 19 * 1024 // KiB
	argonThreads = 1
	argonSaltLen = 16
	argonKeyLen  = 32
)

// passwordHasher bounds how many hashes are computed at once, because each takes 19 MiB.
type passwordHasher struct{ slots chan struct{} }

func newPasswordHasher() *passwordHasher {
	return &passwordHasher{slots: make(chan struct{}, runtime.GOMAXPROCS(0))}
}

func (h *passwordHasher) key(password string, salt []byte, time, memory uint32, threads uint8) []byte {
	h.slots <- struct{}{}
	defer func() { <-h.slots }()
	return argon2.IDKey([]byte(password), salt, time, memory, threads, argonKeyLen)
}

// hash writes the PHC string format: $argon2id$v=19$m=…,t=…,p=…$salt$key.
func (h *passwordHasher) hash(password string) string {
	salt := make([]byte, argonSaltLen)
	_, _ = rand.Read(salt) // never fails: crypto/rand.Read
	key := h.key(password, salt, argonTime, argonMemory, argonThreads)
	enc := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonTime, argonThreads, enc(salt), enc(key))
}

// matches says whether the password is the hash's. An empty hash matches nothing, and takes as long to say so.
func (h *passwordHasher) matches(password, hash string) bool {
	var version int
	var memory, time uint32
	var threads uint8
	parts := strings.Split(hash, "$")
	if len(parts) != 6 {
		h.key(password, make([]byte, argonSaltLen), argonTime, argonMemory, argonThreads)
		return false
	}
	if _, err := fmt.Sscanf(parts[2]+" "+parts[3], "v=%d m=%d,t=%d,p=%d", &version, &memory, &time, &threads); err != nil {
		return false
	}
	salt, err := base64.RawStdEncoding.DecodeString(parts[4])
	if err != nil {
		return false
	}
	want, err := base64.RawStdEncoding.DecodeString(parts[5])
	if err != nil {
		return false
	}
	return subtle.ConstantTimeCompare(h.key(password, salt, time, memory, threads), want) == 1
}
