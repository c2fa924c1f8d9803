// Package web holds the pages that Plaza serves beside its API.
package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/klauspost/compress/gzhttp"
)

//go:embed graphiql/dist
var dist embed.FS

// Config is what the GraphiQL page asks the server for when it loads.
type Config struct {
	// Demo is an account that the page offers to sign in with, nil when there is none.
	Demo *Demo `json:"demo"`
}

// Demo is an account that everybody may know the password of.
type Demo struct {
	Handle   string `json:"handle"`
	Password string `json:"password"`
	// Threads are ids of public posts that are talked about all the time, best first; some may be gone.
	Threads []string `json:"threads"`
}

// Everything comes from this server. Monaco, the editor in GraphiQL, makes style elements as it runs.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; " +
	"worker-src 'self' blob:; connect-src 'self' ws: wss:; img-src 'self' data:; font-src 'self' data:; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// Not from the mime package, whose answers depend on the machine.
var contentTypes = map[string]string{
	".css":  "text/css; charset=utf-8",
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".json": "application/json",
	".md":   "text/markdown; charset=utf-8",
	".svg":  "image/svg+xml",
	".ttf":  "font/ttf",
}

// file is one file of the page, ready to be served.
type file struct {
	content      []byte
	contentType  string
	cacheControl string
	etag         string
}

func newFile(name, cacheControl string, content []byte) file {
	sum := sha256.Sum256(content)
	return file{
		content:      content,
		contentType:  contentTypes[path.Ext(name)],
		cacheControl: cacheControl,
		etag:         `W/"` + hex.EncodeToString(sum[:8]) + `"`, // weak: the same for plain and gzip
	}
}

// GraphiQL serves the GraphiQL page at / and what it needs under /graphiql/. It answers 404 to every other path.
func GraphiQL(config Config) http.Handler {
	files := graphiqlFiles(config)
	serve := func(w http.ResponseWriter, r *http.Request) {
		f, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}
		h := w.Header()
		h.Set("Content-Type", f.contentType)
		h.Set("Cache-Control", f.cacheControl)
		h.Set("ETag", f.etag)
		h.Set("Content-Security-Policy", contentSecurityPolicy)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.content))
	}
	return gzhttp.GzipHandler(http.HandlerFunc(serve))
}

// graphiqlFiles maps URL paths to files.
func graphiqlFiles(config Config) map[string]file {
	const root = "graphiql/dist"
	files := map[string]file{}
	err := fs.WalkDir(dist, root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := dist.ReadFile(name)
		if err != nil {
			return err
		}
		switch rest := strings.TrimPrefix(name, root); {
		case rest == "/index.html":
			files["/"] = newFile(name, "no-cache", content)
		case strings.HasPrefix(rest, "/assets/"): // their names hold a hash of their content
			files["/graphiql"+rest] = newFile(name, "public, max-age=31536000, immutable", content)
		default:
			files["/graphiql"+rest] = newFile(name, "no-cache", content)
		}
		return nil
	})
	if err != nil {
		panic(err) // the files are in the binary
	}
	content, err := json.Marshal(config)
	if err != nil {
		panic(err) // strings marshal
	}
	files["/graphiql/config.json"] = newFile("config.json", "no-store", content)
	return files
}
