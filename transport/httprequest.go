package transport

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"plaza/transport/codes"
	"plaza/transport/request"
)

// checkMethod accepts GET, and POST with a JSON body.
func checkMethod(w http.ResponseWriter, r *http.Request) *codes.Refusal {
	switch r.Method {
	case http.MethodGet:
		return nil
	case http.MethodPost:
		return checkContentType(r.Header)
	}
	w.Header().Set("Allow", "GET, POST, PUT, DELETE")
	return codes.Refusef(http.StatusMethodNotAllowed, codes.MethodNotAllowed, "only GET and POST are allowed, and PUT and DELETE for event streams")
}

// checkContentType rejects what a form on another site could send (CSRF).
func checkContentType(header http.Header) *codes.Refusal {
	media, params, err := mime.ParseMediaType(header.Get("Content-Type"))
	charset := params["charset"]
	plain := header.Get("Content-Encoding") == "" || strings.EqualFold(header.Get("Content-Encoding"), "identity")
	if err == nil && media == mediaJSON && (charset == "" || strings.EqualFold(charset, "utf-8")) && plain {
		return nil
	}
	return codes.Refusef(http.StatusUnsupportedMediaType, codes.UnsupportedMediaType, "the request body must be %s in UTF-8, uncompressed", mediaJSON)
}

// read reads the request of a GET or POST that [checkMethod] accepts.
func (h *overHTTP) read(w http.ResponseWriter, r *http.Request) (*request.Request, *codes.Refusal) {
	if r.Method == http.MethodGet {
		if limited := h.executor.Read(r.Context(), len(r.URL.RawQuery)); limited != nil {
			return nil, codes.Limited(limited)
		}
		req, err := request.ParseQueryString(r.URL.RawQuery)
		return req, badRequest(err)
	}
	body, refusal := readBody(w, r, h.options)
	if refusal != nil {
		return nil, refusal
	}
	if limited := h.executor.Read(r.Context(), len(body)); limited != nil {
		return nil, codes.Limited(limited)
	}
	req, err := request.Parse(body)
	if err == nil {
		err = req.TakeIdempotencyKey(r.Header)
	}
	return req, badRequest(err)
}

// badRequest presents the errors of reading a request.
func badRequest(err error) *codes.Refusal {
	if err == nil {
		return nil
	}
	return &codes.Refusal{Status: http.StatusBadRequest, Err: request.Present(err)}
}

func readBody(w http.ResponseWriter, r *http.Request, options HTTPOptions) ([]byte, *codes.Refusal) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(options.BodyTimeout)) // recorders in tests have none
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, options.MaxBodyBytes))
	if err == nil {
		// Otherwise the deadline would cancel a longer operation.
		_ = control.SetReadDeadline(time.Time{})
		return body, nil
	}
	w.Header().Set("Connection", "close")
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, codes.Refusef(http.StatusRequestEntityTooLarge, codes.PayloadTooLarge, "the request body exceeds %d bytes", options.MaxBodyBytes)
	}
	return nil, codes.Refusef(http.StatusBadRequest, codes.BadUserInput, "the request body could not be read")
}
