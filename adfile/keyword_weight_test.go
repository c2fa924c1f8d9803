package adfile_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"plaza/adfile"
	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/ads/adsmodel"
)

// weighted gives the ad "house" a keyword with a slash and the given weights, in line 34.
func weighted(weights string) string {
	return strings.Replace(good, "headline: Read on,", "headline: Read on, keywords: [a/b, c], keywordWeights: "+weights+",", 1)
}

// weightedCSV returns a file with an ad in line 2 that has the given weights.
func weightedCSV(weights string) string {
	return "type,key,campaign,headline,landing_url,bid_model,bid,currency,keywords,keyword_weights\n" +
		"ad,house,ours,Read on,https://example.org/,CPM,1,EUR,a/b|c," + weights + "\n"
}

func TestKeywordWeightsAreRead(t *testing.T) {
	t.Parallel()
	want := []ads.KeywordWeight{{Keyword: "a/b", Weight: 7}, {Keyword: "c", Weight: 1}}
	f, err := adfile.Parse([]byte(weighted("[{keyword: c, weight: 1}, {keyword: A/b, weight: 7}]")))
	if err != nil || !slices.Equal(f.Units[1].KeywordWeights, want) {
		t.Errorf("YAML: %+v, %v", f, err)
	}
	f, err = adfile.ParseCSV([]byte(weightedCSV("c / 1| A/b /7")))
	if err != nil || !slices.Equal(f.Units[0].KeywordWeights, want) {
		t.Errorf("CSV: %+v, %v", f, err)
	}
}

func TestNewWeightChangesTheAd(t *testing.T) {
	t.Parallel()
	service := adserver.New(adsmodel.New(), adserver.Options{})
	for i, want := range []adfile.Summary{{Added: 7}, {Changed: 1, Unchanged: 6}, {Unchanged: 7}} {
		got, err := load(t, service, weighted(fmt.Sprintf("[{keyword: c, weight: %d}]", min(i+1, 2))))
		if err != nil || got != want {
			t.Errorf("step %d: %+v, %v; want %+v", i, got, err, want)
		}
	}
}

func TestMistakesInWeightsNameLineAndField(t *testing.T) {
	t.Parallel()
	for weights, field := range map[string]string{
		"[{keyword: d, weight: 1}]":                             "units.1.keywordWeights.0.keyword",
		"[{keyword: c, weight: 1}, {keyword: C, weight: 2}]":    "units.1.keywordWeights.1.keyword",
		"[{keyword: c, weight: 0}]":                             "units.1.keywordWeights.0.weight",
		"[{keyword: c}]":                                        "units.1.keywordWeights.0.weight",
		"[{keyword: c, weight: 1001}]":                          "units.1.keywordWeights.0.weight",
		"[{keyword: a/b, weight: 1}, {keyword: c, weight: -1}]": "units.1.keywordWeights.1.weight",
	} {
		_, err := adfile.Parse([]byte(weighted(weights)))
		if mistake, ok := errors.AsType[*adfile.Error](err); !ok || mistake.Field != field || mistake.Line == 0 {
			t.Errorf("%s: %#v, want %s", weights, err, field)
		}
	}
	for _, weights := range []string{"d/1", "c/1|C/2", "c/0", "c/1001", "c/-1", "c", "c/", "/1", "a/b", "c/many"} {
		_, err := adfile.ParseCSV([]byte(weightedCSV(weights)))
		if mistake, ok := errors.AsType[*adfile.Error](err); !ok || mistake.Field != "keyword_weights" || mistake.Line != 2 {
			t.Errorf("%s: %#v", weights, err)
		}
	}
}
