package ads

import (
	"crypto/hmac"
	"crypto/sha256"

	"plaza/id"
)

// Hashed returns the id of someone or something whose text must not be stored in plain form. The
// key is that of the database: see Keys.
func Hashed(key []byte, kind, text string) ProfileID {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(kind + ":" + text))
	return ProfileID{ID: id.ID(h.Sum(nil)[:len(id.ID{})])}
}

// UserProfile returns the profile id of a signed-in user.
func UserProfile(key []byte, user string) ProfileID { return Hashed(key, "user", user) }
