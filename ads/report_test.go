package ads_test

import (
	"math"
	"strings"
	"testing"

	"plaza/ads"
)

func TestECPMOfAReportIsExact(t *testing.T) {
	for _, c := range []struct {
		spend       ads.Micros
		impressions int64
		want        ads.Micros
	}{
		{323, 5, 64_600}, // 64,599 with floating point
		{1, 3, 333},
		{0, 5, 0},
		{5, 0, 0},
		{math.MaxInt64, 1_000, math.MaxInt64},
		{math.MaxInt64, 1, math.MaxInt64},
		{9_007_199_254_740_993, 1_000, 9_007_199_254_740_993}, // 2⁵³+1
	} {
		row := ads.ReportRow{Currency: "EUR", Spend: c.spend, Impressions: c.impressions}
		if got := row.ECPM(); got != c.want {
			t.Errorf("%d for %d impressions: %d, want %d", c.spend, c.impressions, got, c.want)
		}
	}
	csv := ads.CSV(ads.PerUnit, []ads.ReportRow{{Key: "ad_1", Currency: "EUR", Spend: 323, Impressions: 5, Clicks: 1}})
	if !strings.Contains(csv, ",0.064600,") {
		t.Errorf("the CSV has another eCPM: %s", csv)
	}
}
