package app

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"plaza/ads/adserver"
	"plaza/fault"
)

// The paths of the handlers for ads. A token follows each.
const (
	clickPath      = "/ads/click/"
	impressionPath = "/ads/impression/"
	conversionPath = "/ads/conversion/"
)

// clickHandler counts clicks and redirects to the ad's landing page. Its pattern is clickPath and
// {token}.
//
// It answers 302 to the landing page that the unit had when it was chosen. That page is part of the
// signed token, so redirects work even if the database is slow or down. A GET counts once for each
// token, and redirects however often it is repeated. A HEAD, and a GET by which a browser loads a
// page before the person clicks, redirect and count nothing. A forged or edited token is answered
// 404, an expired one 410, other methods 405, each with a sentence in plain text. Caches may not
// store any answer.
func clickHandler(service *adserver.Service, from *proxies, logger *slog.Logger) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		var landing string
		var err error
		switch token := r.PathValue("token"); {
		case r.Method == http.MethodHead, r.Method == http.MethodGet && isPrefetch(r):
			landing, err = service.Landing(r.Context(), token)
		case r.Method == http.MethodGet:
			landing, err = service.RecordClick(r.Context(), token, from.addressOf(r))
		default:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "Use GET.", http.StatusMethodNotAllowed)
			return
		}
		if err != nil {
			refuseClick(w, r, logger, err)
			return
		}
		w.Header().Del("Referrer-Policy")              // the landing page may see which site it was reached from
		http.Redirect(w, r, landing, http.StatusFound) // the page in the token, whose signature was checked
	}
}

// isPrefetch reports whether a browser follows a link without a click
// (https://html.spec.whatwg.org/multipage/links.html#the-sec-purpose-header, and the headers of
// older browsers).
func isPrefetch(r *http.Request) bool {
	for _, header := range []string{"Sec-Purpose", "Purpose", "X-Moz"} {
		if strings.HasPrefix(strings.ToLower(r.Header.Get(header)), "prefetch") {
			return true
		}
	}
	return false
}

// refuseClick explains in a sentence why there is no landing page.
func refuseClick(w http.ResponseWriter, r *http.Request, logger *slog.Logger, err error) {
	var known *fault.Error
	switch {
	case errors.Is(err, adserver.ErrExpired):
		http.Error(w, "This link to an ad has expired.", http.StatusGone)
	case errors.Is(err, fault.ErrUnavailable):
		w.Header().Set("Retry-After", "1")
		http.Error(w, "Plaza is not available right now. Please try again.", http.StatusServiceUnavailable)
	case errors.As(err, &known):
		http.Error(w, "There is no such ad.", http.StatusNotFound)
	case r.Context().Err() != nil: // the client has disconnected
	default:
		logger.ErrorContext(r.Context(), "an ad was not recorded", "error", err)
		http.Error(w, "Plaza is not available right now. Please try again.", http.StatusInternalServerError)
	}
}

// addressOf returns the address of a request's client, or "" if it does not identify the client.
func (p *proxies) addressOf(r *http.Request) string {
	address, named := p.clientOf(r)
	if !named {
		return ""
	}
	return address.String()
}

// recordingHandler counts impressions or conversions without GraphQL: as the address of a picture,
// by a beacon, or from a server. Its pattern is impressionPath or conversionPath, and {token}.
//
// It answers 204 to a GET or POST, counts each token once, and answers repetitions in the same way.
// It refuses the same requests as clickHandler, and answers 503 if the database does not respond:
// the client can send the request again. An internal error is logged and answered 500.
func recordingHandler(record func(ctx context.Context, token string) (recorded bool, err error), logger *slog.Logger) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Access-Control-Allow-Origin", "*") // the answer to a beacon is empty
		if r.Method != http.MethodGet && r.Method != http.MethodPost {
			w.Header().Set("Allow", "GET, POST")
			http.Error(w, "Use GET or POST.", http.StatusMethodNotAllowed)
			return
		}
		if _, err := record(r.Context(), r.PathValue("token")); err != nil {
			refuseClick(w, r, logger, err)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
}
