package app

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/klauspost/compress/gzhttp"
)

// guarded gives each response the headers that prevent browsers from treating it as a page: nothing
// in it runs or is framed, and its type is not guessed. The pages of package web set their own
// policies.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		next.ServeHTTP(w, r)
	})
}

// closingConnections ends each kept-alive connection with its next answer once the server is
// ending. Closing a connection without an answer would race with the next request.
func closingConnections(ending *atomic.Bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ending.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// compressed answers with gzip even if a client also offers zstd, because some clients offer zstd
// and cannot read it. Streams of events are not compressed.
func compressed(next http.Handler) http.Handler {
	isCompressed := func(contentType string) bool { // events must not wait for each other
		return gzhttp.DefaultContentTypeFilter(contentType) && !strings.HasPrefix(contentType, "text/event-stream")
	}
	wrap, err := gzhttp.NewWrapper(gzhttp.PreferZstd(false), gzhttp.ContentTypeFilter(isCompressed))
	if err != nil {
		panic(err) // the options are constants
	}
	return wrap(next)
}

// getOnly answers every other method with 405.
func getOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.Header().Set("Allow", "GET")
			http.Error(w, "Use GET.", http.StatusMethodNotAllowed)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func writeStatus(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = fmt.Fprintln(w, text)
}
