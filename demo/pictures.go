package demo

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"time"

	"plaza/social"
)

// PicturesPath is where Pictures is to be served.
const PicturesPath = "/demo/pictures/"

// Pictures load and run nothing, even if they are opened as a page.
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

// Names of pictures, below PicturesPath.
func avatarName(handle string) string { return "avatars/" + handle + ".svg" }
func photoName(name string) string    { return "photos/" + name + ".svg" }
func adPictureName(unit string) string {
	return "ads/" + unit + ".svg"
}

// address is where a server at a public URL serves a picture.
func address(publicURL, name string) string {
	return strings.TrimSuffix(publicURL, "/") + PicturesPath + name
}

// rehung is the address of one of our pictures at the public URL, whatever server it was stored
// for. False: it is no picture of ours.
func rehung(publicURL, stored string) (string, bool) {
	at, err := url.Parse(stored)
	if err != nil {
		return "", false
	}
	_, name, ours := strings.Cut(at.Path, PicturesPath)
	return address(publicURL, name), ours
}

// hung is a content whose photo, if it is one, has its address.
func (s *stage) hung(c social.Content) social.Content {
	if c.Photo == nil {
		return c
	}
	photo := *c.Photo
	photo.URL = address(s.publicURL, photo.URL)
	return social.Content{Photo: &photo}
}
