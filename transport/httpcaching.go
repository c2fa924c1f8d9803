package transport

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// allowCaching replaces no-store, and returns whether the client already has these parts, in this
// media type (status 304). The entity tag is weak, because the parts may be sent compressed.
func allowCaching(w http.ResponseWriter, r *http.Request, maxAge time.Duration, media string, parts ...[]byte) (unchanged bool) {
	hash := sha256.New()
	_, _ = hash.Write([]byte(media))
	for _, part := range parts {
		_, _ = hash.Write(part) // this never fails
	}
	etag := `W/"` + hex.EncodeToString(hash.Sum(nil)[:16]) + `"`
	header := w.Header()
	header.Set("ETag", etag)
	header.Add("Vary", "Authorization, Cookie")
	header.Set("Cache-Control", "no-cache") // it may be stored, but each use asks the server
	if maxAge >= time.Second {
		header.Set("Cache-Control", fmt.Sprintf("public, max-age=%d", int(maxAge.Seconds())))
	}
	return matches(r.Header.Values("If-None-Match"), etag)
}

// matches compares an If-None-Match header with a weak tag (RFC 9110, section 13.1.2).
func matches(ifNoneMatch []string, etag string) bool {
	for tag := range strings.SplitSeq(strings.Join(ifNoneMatch, ","), ",") {
		if tag = strings.TrimSpace(tag); tag == "*" || strings.TrimPrefix(tag, "W/") == strings.TrimPrefix(etag, "W/") {
			return true
		}
	}
	return false
}
