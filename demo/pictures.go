package demo

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"
)

// Pictures load and run nothing, even if a browser opens them as pages.
const picturePolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

// Pictures serves the avatars and photos of the community at PicturesPath: SVG that is drawn here,
// for pages of any origin. It answers 404 to names that the community does not use.
func Pictures() http.Handler {
	drawn := map[string]picture{}
	for name, drawing := range drawings() {
		drawn[PicturesPath+name] = newPicture(drawing)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, ok := drawn[r.URL.Path]
		switch {
		case !ok:
			http.NotFound(w, r)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		default:
			p.serve(w, r)
		}
	})
}

// picture is one that is ready to be served.
type picture struct{ svg, etag string }

func newPicture(svg string) picture {
	sum := sha256.Sum256([]byte(svg))
	return picture{svg, `"` + hex.EncodeToString(sum[:8]) + `"`}
}

func (p picture) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "image/svg+xml")
	h.Set("Cache-Control", "public, max-age=3600")
	h.Set("ETag", p.etag)
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("Content-Security-Policy", picturePolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(p.svg))
}
