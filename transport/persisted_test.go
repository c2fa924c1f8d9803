package transport

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"plaza/transport/codes"
	"plaza/transport/request"
)

// hashID returns the id of a document that consists of its hash.
func hashID(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// apollo returns the extensions of an automatic persisted query.
func apollo(text string) string {
	return `{"persistedQuery":{"version":1,"sha256Hash":"` + strings.TrimPrefix(hashID(text), "sha256:") + `"}}`
}

// TestAutomaticPersistedQuery: a client sends the hash, then the text with it, then the hash again,
// by POST, by GET and on a websocket.
func TestAutomaticPersistedQuery(t *testing.T) {
	s := newTestServer(t, nil)
	const text = `query($n: Int) { number(n: $n) }`
	byHash := `{"variables":{"n":7},"extensions":` + apollo(text) + `}`
	got := s.post(t, byHash)
	if got.status != http.StatusOK || got.code(t) != codes.PersistedQueryNotFound || got.decode(t).Errors[0].Message != "PersistedQueryNotFound" {
		t.Errorf("an unknown hash: %d %s", got.status, got.body)
	}
	if got := s.post(t, byHash, acceptGraphQL); got.status != http.StatusBadRequest {
		t.Errorf("an unknown hash: status %d", got.status)
	}
	const answer = `"data":{"number":7}`
	for _, body := range []string{
		`{"query":` + quote(text) + `,"variables":{"n":7},"extensions":` + apollo(text) + `}`,
		byHash,
		`{"variables":{"n":7},"documentId":"` + hashID(text) + `"}`,
	} {
		if got := s.post(t, body); !strings.Contains(got.body, answer) {
			t.Errorf("%s: %s", body, got.body)
		}
	}
	get := "/graphql?variables=" + url.QueryEscape(`{"n":7}`) + "&extensions=" + url.QueryEscape(apollo(text))
	if got := s.do(t, http.MethodGet, get, ""); !strings.Contains(got.body, answer) {
		t.Errorf("by GET: %s", got.body)
	}
	c := s.open(t)
	c.send(`{"id":"1","type":"subscribe","payload":` + byHash + `}`)
	c.wantPart(`"type":"next"`, answer)
}

// TestOnlyValidDocumentsAreRegistered, and only with their own hash.
func TestOnlyValidDocumentsAreRegistered(t *testing.T) {
	s := newTestServer(t, nil)
	const valid, invalid = `{ viewer }`, `{ nothing }`
	if got := s.post(t, `{"query":`+quote(valid)+`,"extensions":`+apollo(`{ v: viewer }`)+`}`); got.code(t) != codes.BadUserInput {
		t.Errorf("another text's hash: %s", got.body)
	}
	if got := s.post(t, `{"query":`+quote(invalid)+`,"extensions":`+apollo(invalid)+`}`); got.code(t) != codes.ValidationFailed {
		t.Errorf("an invalid document: %s", got.body)
	}
	long := valid + strings.Repeat(" ", 16<<10)
	if got := s.post(t, `{"query":`+quote(long)+`,"extensions":`+apollo(long)+`}`); got.code(t) != "" {
		t.Errorf("a long document: %s", got.body)
	}
	for _, text := range []string{valid, invalid, long} {
		if got := s.post(t, `{"extensions":`+apollo(text)+`}`); got.code(t) != codes.PersistedQueryNotFound {
			t.Errorf("afterwards: %s", got.body)
		}
	}
}

func TestBadDocumentIDs(t *testing.T) {
	s := newTestServer(t, nil)
	hash := strings.TrimPrefix(hashID(`{ viewer }`), "sha256:")
	for _, body := range []string{
		`{"extensions":{"persistedQuery":true}}`,
		`{"extensions":{"persistedQuery":{"sha256Hash":"` + hash + `"}}}`,
		`{"extensions":{"persistedQuery":{"version":2,"sha256Hash":"` + hash + `"}}}`,
		`{"extensions":{"persistedQuery":{"version":"1","sha256Hash":"` + hash + `"}}}`,
		`{"extensions":{"persistedQuery":{"version":1}}}`,
		`{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"` + strings.ToUpper(hash) + `"}}}`,
		`{"extensions":{"persistedQuery":{"version":1,"sha256Hash":7}}}`,
		`{"documentId":7}`,
		`{"documentId":"` + strings.Repeat("x", request.MaxDocumentID+1) + `"}`,
		`{"documentId":"x","extensions":` + apollo(`{ viewer }`) + `}`,
		`{"documentId":""}`,
		`{"extensions":{"persistedQuery":null}}`,
	} {
		if got := s.post(t, body); got.status != http.StatusBadRequest || got.code(t) != codes.BadUserInput {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
}

// TestOnlyTrustedDocuments: documents that are not in the manifest do not run, however they are
// sent.
func TestOnlyTrustedDocuments(t *testing.T) {
	const trusted, other = `query Trusted { viewer }`, `query Other { viewer }`
	s := newTestServer(t, func(o *Options) {
		o.Documents.Trusted, o.Documents.OnlyTrusted = map[string]string{"trusted-1": trusted}, true
	})
	for body, code := range map[string]string{
		`{"documentId":"trusted-1"}`:                                            "",
		`{"documentId":"` + hashID(trusted) + `"}`:                              "",
		`{"extensions":` + apollo(trusted) + `}`:                                "",
		`{"query":` + quote(trusted) + `}`:                                      "",
		`{"query":` + quote(trusted) + `,"documentId":"trusted-1"}`:             "",
		`{"query":` + quote(trusted) + `,"extensions":` + apollo(trusted) + `}`: "",
		`{"query":` + quote(trusted) + `,"documentId":"trusted-2"}`:             codes.BadUserInput,
		`{"query":` + quote(other) + `}`:                                        codes.QueryNotInSafelist,
		`{"query":` + quote(other) + `,"extensions":` + apollo(other) + `}`:     codes.QueryNotInSafelist,
		`{"query":` + quote(other) + `,"documentId":"trusted-1"}`:               codes.QueryNotInSafelist,
		`{"extensions":` + apollo(other) + `}`:                                  codes.PersistedQueryNotFound,
		`{"documentId":"trusted-2"}`:                                            codes.PersistedQueryNotFound,
		`{"query":` + quote(trusted+" ") + `}`:                                  codes.QueryNotInSafelist,
		`{"query":"{ __typename }"}`:                                            codes.QueryNotInSafelist,
	} {
		if got := s.post(t, body); got.code(t) != code {
			t.Errorf("%s: %s, want %q", body, got.body, code)
		}
	}
}

// TestPublicAnswersAreCached: by GET, signed out, without errors, each with a tag that changes with
// the answer.
func TestPublicAnswersAreCached(t *testing.T) {
	s := newTestServer(t, nil)
	target := func(query string) string { return "/graphql?query=" + url.QueryEscape(query) }
	first := s.do(t, http.MethodGet, target(`{ viewer }`), "")
	etag := first.header.Get("ETag")
	if first.status != http.StatusOK || !strings.HasPrefix(etag, `W/"`) || first.header.Get("Cache-Control") != "no-cache" {
		t.Errorf("%d %v", first.status, first.header)
	}
	if vary := strings.Join(first.header.Values("Vary"), ","); vary != "Accept,Authorization, Cookie" {
		t.Errorf("Vary is %q", vary)
	}
	for _, known := range []string{etag, strings.TrimPrefix(etag, "W/"), `"x", ` + etag, "*"} {
		if again := s.do(t, http.MethodGet, target(`{ viewer }`), "", "If-None-Match: "+known); again.status != http.StatusNotModified || again.body != "" {
			t.Errorf("If-None-Match %s: %d %s", known, again.status, again.body)
		}
	}
	if other := s.do(t, http.MethodGet, target(`{ viewer }`), "", "If-None-Match: "+etag, acceptGraphQL); other.status != http.StatusOK {
		t.Errorf("another media type has the same tag: %d", other.status)
	}
	if other := s.do(t, http.MethodGet, target(`{ v: viewer }`), "", "If-None-Match: "+etag); other.status != http.StatusOK {
		t.Errorf("another answer has the same tag: %d", other.status)
	}
	for name, got := range map[string]result{
		"signed in":         s.do(t, http.MethodGet, target(`{ viewer }`), "", "Authorization: Bearer ada", "If-None-Match: *"),
		"POST":              s.query(t, `{ viewer }`, "If-None-Match: *"),
		"a field's error":   s.do(t, http.MethodGet, target(`{ public }`), "", "If-None-Match: *"),
		"a request's error": s.do(t, http.MethodGet, target(`{ nothing }`), "", "If-None-Match: *"),
	} {
		if got.status == http.StatusNotModified || got.header.Get("ETag") != "" || got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v", name, got.status, got.header)
		}
	}
}

// TestAnswersForOnceAreNotCached: this holds whatever else is selected, and however the field is
// selected.
func TestAnswersForOnceAreNotCached(t *testing.T) {
	s := newTestServer(t, func(o *Options) { o.HTTP.PublicMaxAge, o.HTTP.Once = time.Minute, []string{"requestId"} })
	for query, cached := range map[string]bool{
		`{ requestId }`:                            false,
		`{ viewer r: requestId }`:                  false,
		`{ ...F } fragment F on Query{ requestId}`: false,
		`{ ... { requestId @skip(if: false) } }`:   false,
		`{ requestId: viewer }`:                    true,
		`{ viewer requestId @skip(if: true) }`:     true,
	} {
		got := s.do(t, http.MethodGet, "/graphql?query="+url.QueryEscape(query), "", "If-None-Match: *")
		if (got.status == http.StatusNotModified) != cached || (got.header.Get("Cache-Control") == "no-store") == cached || (got.header.Get("ETag") != "") != cached {
			t.Errorf("%s: %d %v", query, got.status, got.header)
		}
	}
}

func TestPublicMaxAge(t *testing.T) {
	s := newTestServer(t, func(o *Options) { o.HTTP.PublicMaxAge = 90*time.Second + 500*time.Millisecond })
	got := s.do(t, http.MethodGet, "/graphql?query={viewer}", "")
	if control := got.header.Get("Cache-Control"); control != "public, max-age=90" {
		t.Errorf("Cache-Control is %q", control)
	}
}
