package api

import (
	"net/http"
	"net/url"
	"testing"

	"plaza/internal/plazatest"
)

// TestAdsAreNotCached: a choice of ads counts once, so its answer is for one request only, even for
// a GET of a signed-out client, whose other answers caches may keep.
func TestAdsAreNotCached(t *testing.T) {
	t.Parallel()
	plaza := plazatest.Serve(t, plazatest.Engines[0].Open(t))
	for query, want := range map[string]string{
		`{ ads(site: "example.org", zone: "news") { id } }`:                                    "no-store",
		`{ viewer { user { id } } more: ads(site: "example.org", zone: "news") { clickUrl } }`: "no-store",
		`{ viewer { user { id } } }`:                                                           "no-cache",
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, plaza.URL+"/graphql?query="+url.QueryEscape(query), nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("If-None-Match", `"x"`)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if got := response.Header.Get("Cache-Control"); response.StatusCode != http.StatusOK || got != want || (response.Header.Get("ETag") == "") != (want == "no-store") {
			t.Errorf("%s: %d, Cache-Control %q, ETag %q", query, response.StatusCode, got, response.Header.Get("ETag"))
		}
	}
}
