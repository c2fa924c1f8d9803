package app

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"

	"plaza/ads"
	"plaza/fault"
)

// Where the handlers of ads are reached; a token follows.
const (
	clickPath      = "/ads/click/"
	impressionPath = "/ads/impression/"
	conversionPath = "/ads/conversion/"
)

// clickHandler counts clicks and leads on to the landing page of the ad. Its pattern is clickPath and {token}.
//
// It answers 302 to the landing page that the unit had when it was chosen, which is part of the signed token: a database that is slow or away keeps
// nobody from it. A GET counts once
// for each token, and leads on as often as it is repeated; a HEAD, and a GET by which a browser loads a page that nobody has asked for yet,
// lead on and count nothing. A token that is forged or
// edited is answered 404, one that has expired 410, other methods 405, each with a
// sentence in plain text. No answer may be stored by caches.
func clickHandler(service *ads.Service, behindProxy bool, logger *slog.Logger) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		var landing string
		var err error
		switch token := r.PathValue("token"); {
		case r.Method == http.MethodHead, r.Method == http.MethodGet && isPrefetch(r):
			landing, err = service.Landing(r.Context(), token)
		case r.Method == http.MethodGet:
			landing, err = service.RecordClick(r.Context(), token, addressOf(r, behindProxy))
		default:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "A click is a GET.", http.StatusMethodNotAllowed)
			return
		}
		if err != nil {
			refuseClick(w, r, logger, err)
			return
		}
		http.Redirect(w, r, landing, http.StatusFound) // the signed page, which was checked
	}
}

// isPrefetch says whether a browser, and not a person, follows a link (https://html.spec.whatwg.org/multipage/links.html#the-sec-purpose-header,
// and what browsers sent before).
func isPrefetch(r *http.Request) bool {
	for _, header := range []string{"Sec-Purpose", "Purpose", "X-Moz"} {
		if strings.HasPrefix(strings.ToLower(r.Header.Get(header)), "prefetch") {
			return true
		}
	}
	return false
}

// refuseClick says in a sentence why there is nowhere to go.
func refuseClick(w http.ResponseWriter, r *http.Request, logger *slog.Logger, err error) {
	var known *fault.Error
	switch {
	case errors.Is(err, ads.ErrExpired):
		http.Error(w, "This link to an ad has expired.", http.StatusGone)
	case errors.Is(err, fault.ErrUnavailable):
		w.Header().Set("Retry-After", "1")
		http.Error(w, "This does not work just now. Please try again.", http.StatusServiceUnavailable)
	case errors.As(err, &known):
		http.Error(w, "There is no such ad.", http.StatusNotFound)
	case r.Context().Err() != nil: // nobody is there any more
	default:
		logger.ErrorContext(r.Context(), "an ad was not recorded", "error", err)
		http.Error(w, "This does not work just now. Please try again.", http.StatusInternalServerError)
	}
}

// addressOf is where a request came from, without the port; "" where that says nothing about the client: what comes from this
// machine or its own network has most likely come through a proxy, and then all have that address. A proxy that is known of
// adds the client's address to the header as its last entry.
func addressOf(r *http.Request, behindProxy bool) string {
	if behindProxy {
		all := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
		last, err := netip.ParseAddr(strings.TrimSpace(all[len(all)-1]))
		if err != nil {
			return ""
		}
		return last.String()
	}
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || from.Addr().IsLoopback() || from.Addr().IsPrivate() {
		return ""
	}
	return from.Addr().String()
}

// recordingHandler counts impressions or conversions without GraphQL: as the address of a picture, by a beacon, or from a server. Its pattern is
// impressionPath or conversionPath, and {token}.
//
// It answers 204 to a GET or POST, once for each token, and again for each repetition. Refusals are those of clickHandler, and 503 for a
// database that does not answer: it can be sent again. An internal error is logged and answered 500.
func recordingHandler(record func(ctx context.Context, token string) (recorded bool, err error), logger *slog.Logger) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Access-Control-Allow-Origin", "*") // a beacon's answer has nothing to hide
		if r.Method != http.MethodGet && r.Method != http.MethodPost {
			w.Header().Set("Allow", "GET, POST")
			http.Error(w, "This is a GET or a POST.", http.StatusMethodNotAllowed)
			return
		}
		if _, err := record(r.Context(), r.PathValue("token")); err != nil {
			refuseClick(w, r, logger, err)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
}
