// Package web holds the pages that Plaza serves beside its API.
package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

// Large files are stored as NAME.gz.
//
//go:embed graphiql/dist app/dist
var dist embed.FS

// Config is the data that a page requests from the server when it loads.
type Config struct {
	// Demo is an account that the page offers to sign in with; nil if there is none.
	Demo *Demo `json:"demo"`
	// App and GraphiQL are the paths of the pages to link to; "" if they are not served.
	App      string `json:"app,omitempty"`
	GraphiQL string `json:"graphiql,omitempty"`
	// MembersOnly is set if visitors can read nothing.
	MembersOnly bool `json:"membersOnly,omitempty"`
	// Mail is set if mails are sent, so that people can reset a forgotten password.
	Mail bool `json:"mail,omitempty"`
	// Providers are the web origins of the OpenID providers that the app speaks to.
	Providers []string `json:"-"`
}

// Demo is an account with a published password.
type Demo struct {
	Handle   string `json:"handle"`
	Password string `json:"password"`
	// Threads are ids of public posts with continuous new comments, best first; some may be gone.
	Threads []string `json:"threads"`
}

// AppPath and GraphiQLPath are where the pages are. The links of mails lead to the other two.
const (
	AppPath           = "/app/"
	ResetPasswordPath = AppPath + "reset-password"
	ConfirmEmailPath  = AppPath + "confirm-email"
	GraphiQLPath      = "/"
)

// policy returns the Content-Security-Policy of a page that loads everything from this server, and
// sends requests to it and to a few other origins. Not all browsers take 'self' to include
// websockets of the same host.
func policy(rest string, origins ...string) string {
	connect := strings.Join(append([]string{"'self' ws: wss:"}, origins...), " ")
	return "default-src 'none'; script-src 'self'; connect-src " + connect + "; " +
		"base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " + rest
}

// page is one page with its files.
type page struct {
	index  string          // the path of index.html
	routes string          // all unknown paths below are the page's own routes; "" for none
	files  map[string]file // by their paths
	policy string          // the page's Content-Security-Policy
}

// GraphiQL serves the GraphiQL page at / and its files under /graphiql/. It answers 404 to every
// other path.
func GraphiQL(config Config) http.Handler {
	return newPage("graphiql", GraphiQLPath, config,
		// Monaco, the editor in GraphiQL, creates style elements at run time.
		policy("style-src 'self' 'unsafe-inline'; worker-src 'self' blob:; img-src 'self' data:; font-src 'self' data:"))
}

// App serves the web app at /app/, with its files. Every other path below is a page of the app,
// unless it looks like one of its files.
func App(config Config) http.Handler {
	p := newPage("app", AppPath, config,
		// The pictures of users and posts are on other sites.
		policy("style-src 'self'; img-src 'self' data: https: http:", config.Providers...))
	p.routes = AppPath
	return p
}

// The types are not taken from the mime package, whose answers depend on the machine.
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
	content      []byte // gzipped if gzipped is set
	gzipped      bool
	contentType  string
	cacheControl string
	etag         string
}

func newFile(name, cacheControl string, content []byte) file {
	sum := sha256.Sum256(content)
	name, gzipped := strings.CutSuffix(name, ".gz")
	return file{
		content:      content,
		gzipped:      gzipped,
		contentType:  contentTypes[path.Ext(name)],
		cacheControl: cacheControl,
		etag:         `W/"` + hex.EncodeToString(sum[:8]) + `"`, // weak: the same for plain and gzip
	}
}

// ServeHTTP implements http.Handler.
func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f, ok := p.find(r.URL.Path)
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
	h.Set("Content-Security-Policy", p.policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	f.serve(w, r)
}

// find returns the file of a path.
func (p *page) find(path string) (file, bool) {
	if f, ok := p.files[path]; ok {
		return f, true
	}
	route, below := strings.CutPrefix(path, p.routes)
	if p.routes == "" || !below || strings.HasPrefix(route, "assets/") {
		return file{}, false
	}
	return p.files[p.index], true
}

// serve answers with the content, gzipped if it is stored like that and the client accepts it.
func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	content := f.content
	if f.gzipped {
		w.Header().Add("Vary", "Accept-Encoding")
		if acceptsGzip(r.Header) {
			w.Header().Set("Content-Encoding", "gzip")
		} else {
			content = gunzip(content)
		}
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// acceptsGzip reads Accept-Encoding (RFC 9110, section 12.5.3). A client that accepts anything
// ("*") gets the plain content.
func acceptsGzip(h http.Header) bool {
	for coding := range strings.SplitSeq(strings.Join(h.Values("Accept-Encoding"), ","), ",") {
		name, weight, _ := strings.Cut(coding, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			weight = strings.TrimPrefix(strings.TrimSpace(weight), "q=")
			return weight == "" || strings.Trim(weight, "0.") != ""
		}
	}
	return false
}

func gunzip(content []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		panic(err) // the files are in the binary
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		panic(err)
	}
	return plain
}

// newPage reads the files of a page, which are served under its name.
func newPage(name, index string, config Config, policy string) *page {
	p := &page{index: index, files: map[string]file{}, policy: policy}
	root := name + "/dist"
	err := fs.WalkDir(dist, root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := dist.ReadFile(file)
		if err != nil {
			return err
		}
		switch rest := strings.TrimSuffix(strings.TrimPrefix(file, root), ".gz"); {
		case rest == "/index.html":
			p.files[index] = newFile(file, "no-cache", content)
		case strings.HasPrefix(rest, "/assets/"): // their names contain a hash of their content
			p.files["/"+name+rest] = newFile(file, "public, max-age=31536000, immutable", content)
		default:
			p.files["/"+name+rest] = newFile(file, "no-cache", content)
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
	p.files["/"+name+"/config.json"] = newFile("config.json", "no-store", content)
	return p
}
