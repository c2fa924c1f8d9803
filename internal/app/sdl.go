package app

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"plaza/resolvers"
)

// sdlPath is the path at which code generators find the schema.
const sdlPath = "/schema.graphql"

// sdlHandler serves the schema in GraphQL's schema definition language.
func sdlHandler() http.Handler {
	sum := sha256.Sum256([]byte(resolvers.SDL()))
	etag := `W/"` + hex.EncodeToString(sum[:8]) + `"` // weak: the same for plain and gzip
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "text/plain; charset=utf-8") // browsers show this type
		h.Set("Cache-Control", "no-cache")
		h.Set("ETag", etag)
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(resolvers.SDL()))
	})
}
