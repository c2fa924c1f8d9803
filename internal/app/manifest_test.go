package app

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestManifests(t *testing.T) {
	t.Parallel()
	want := map[string]string{"1": `query Me { viewer { user { id } } }`, "2": `{ __typename }`}
	for _, manifest := range []string{
		`{"1":"query Me { viewer { user { id } } }","2":"{ __typename }"}`,
		`{"format":"apollo-persisted-query-manifest","version":1,"operations":[
			{"id":"1","name":"Me","type":"query","body":"query Me { viewer { user { id } } }"},{"id":"2","body":"{ __typename }"}]}`,
	} {
		got, err := ReadManifest(strings.NewReader(manifest))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", manifest, err, diff)
		}
	}
	for manifest, mistake := range map[string]string{
		``:                                "a manifest is a JSON object",
		`[]`:                              "a manifest is a JSON object",
		`{"1":{"body":"{ __typename }"}}`: "a manifest is a JSON object",
		`{"1":"{ __typename }","2":"{ nothing }"}`: `the document "2" cannot run here: input:1:3: Cannot query field "nothing"`,
		`{"x":"{"}`: `the document "x" cannot run here`,
		`{}`:        "no documents",
		`null`:      "no documents",
		`{"format":"apollo-persisted-query-manifest","version":1}`:                                                                                      "no documents",
		`{"format":"apollo-persisted-query-manifest","operations":[{"id":"a","body":"{ __typename }"},{"id":"a","body":"{ viewer { user { id } } }"}]}`: `two documents have the id "a"`,
		`{"":"{ __typename }"}`:                                 `the document "" cannot run here: an id has 1 to 256 bytes`,
		`{"` + strings.Repeat("x", 257) + `":"{ __typename }"}`: "an id has 1 to 256 bytes",
		`{"sha256:00":"{ __typename }"}`:                        "its id is not its hash",
		`{"empty":""}`:                                          `the document "empty" cannot run here`,
	} {
		if _, err := ReadManifest(strings.NewReader(manifest)); err == nil || !strings.Contains(err.Error(), mistake) {
			t.Errorf("%s: %v", manifest, err)
		}
	}
}
