package ads_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"plaza/ads"
)

func TestECPM(t *testing.T) {
	for _, c := range []struct {
		name                             string
		model                            ads.BidModel
		price                            ads.Micros
		impressions, clicks, conversions int64
		want                             ads.Micros
	}{
		{"a CPM is its own eCPM", ads.CPM, 2_345_678, 0, 0, 0, 2_345_678},
		{"a CPM learns nothing", ads.CPM, 2_345_678, 1000, 900, 0, 2_345_678},
		{"a new CPC has the prior's 1 %", ads.CPC, 400_000, 0, 0, 0, 4_000_000},
		{"five hundred impressions without a click halve it", ads.CPC, 400_000, 500, 0, 0, 2_000_000},
		{"4,500 leave a tenth", ads.CPC, 400_000, 4500, 0, 0, 400_000},
		{"the expected clicks leave it where it is", ads.CPC, 400_000, 9000, 90, 0, 4_000_000},
		{"one click in one impression is no 100 %", ads.CPC, 1_000_000, 1, 1, 0, 12_000_000}, // 6/501
		{"evidence outweighs the prior", ads.CPC, 1_000_000, 1_000_000, 20_000, 0, 20_000_000},
		{"three digits: up", ads.CPC, 61_750, 0, 0, 0, 618_000},
		{"three digits: down", ads.CPC, 61_749, 0, 0, 0, 617_000},
		{"three digits: over a power of ten", ads.CPC, 99_950, 0, 0, 0, 1_000_000},
		{"a micro", ads.CPC, 1, 0, 0, 0, 10},
		{"more clicks than impressions", ads.CPC, 1_000_000, 0, 500, 0, 505_000_000}, // 505/1000
		{"counts below zero", ads.CPC, 400_000, -5, -7, 0, 4_000_000},
		{"the largest of everything", ads.CPC, ads.MaxBid, math.MaxInt64, math.MaxInt64, 0, 1000 * ads.MaxBid},
		{"a new CPA has 2 % of the prior's 1 %", ads.CPA, 20_000_000, 0, 0, 0, 4_000_000},
		{"a hundred clicks without a conversion halve it", ads.CPA, 20_000_000, 9_500, 100, 0, 2_100_000},  // 105/10,000 × 2/200
		{"the expected conversions leave it where it is", ads.CPA, 20_000_000, 99_500, 995, 20, 4_020_000}, // 1,000/100,000 × 22/1,095
		{"a conversion needs no click", ads.CPA, 1_000_000, 0, 0, 1, 356_000},                              // 6/501 × 3/101
		{"conversions do not affect a CPC", ads.CPC, 400_000, 500, 0, 0, 2_000_000},
		{"the largest CPA", ads.CPA, ads.MaxBid, math.MaxInt64, math.MaxInt64, math.MaxInt64, 1000 * ads.MaxBid},
		{"the largest CPM", ads.CPM, ads.MaxBid, 0, 0, 0, ads.MaxBid},
	} {
		bid := ads.Bid{Model: c.model, Price: c.price, Currency: "EUR"}
		if got := ads.ECPM(bid, c.impressions, c.clicks, c.conversions); got != c.want {
			t.Errorf("%s: ECPM = %d, want %d", c.name, got, c.want)
		}
	}
}

// FuzzECPM compares ECPM with exact arithmetic.
func FuzzECPM(f *testing.F) {
	f.Add(int64(1), int64(0), int64(0), int64(0), true)
	f.Add(int64(ads.MaxBid), int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MaxInt64), true)
	f.Add(int64(999_499), int64(1234), int64(12), int64(0), false)
	f.Add(int64(999_499), int64(123_456), int64(1234), int64(12), true)
	f.Fuzz(func(t *testing.T, price, impressions, clicks, conversions int64, cpa bool) {
		if price < 1 || price > int64(ads.MaxBid) || impressions < 0 || clicks < 0 || conversions < 0 {
			t.Skip()
		}
		bid := ads.Bid{Model: ads.CPC, Price: ads.Micros(price)}
		if cpa {
			bid.Model = ads.CPA
		}
		got := ads.ECPM(bid, impressions, clicks, conversions)
		clicks = max(clicks, conversions)

		earned := new(big.Int).Mul(big.NewInt(price*1000), new(big.Int).Add(big.NewInt(clicks), big.NewInt(ads.PriorClicks)))
		earned.Quo(earned, new(big.Int).Add(big.NewInt(max(impressions, clicks)), big.NewInt(ads.PriorImpressions)))
		if cpa {
			earned.Mul(earned, new(big.Int).Add(big.NewInt(conversions), big.NewInt(ads.PriorConversions)))
			earned.Quo(earned, new(big.Int).Add(big.NewInt(clicks), big.NewInt(ads.PriorConvertedClicks)))
		}
		// Half a unit in the third digit is at most 1/200 of the amount.
		off := new(big.Int).Sub(big.NewInt(int64(got)), earned)
		if off.Abs(off).Mul(off, big.NewInt(200)).Cmp(earned) > 0 {
			t.Errorf("ECPM(%d, %d, %d) = %d, and exactly %v", price, impressions, clicks, got, earned)
		}
		for digits := int64(got); digits >= 1000; digits /= 10 {
			if digits%10 != 0 {
				t.Fatalf("ECPM(%d, %d, %d) = %d has more than three digits", price, impressions, clicks, got)
			}
		}
	})
}

// rival is a unit with its real click-through rate.
type rival struct {
	ads.Unit
	rate float64
}

// race shows the unit with the higher eCPM a given number of times, and returns how often that was
// the second.
func race(random *rand.Rand, first, second *rival, shown int) (seconds int) {
	for range shown {
		winner := first
		switch a, b := first.ECPM(), second.ECPM(); {
		case b > a, a == b && random.IntN(2) == 0:
			winner = second
			seconds++
		}
		winner.Impressions++
		if random.Float64() < winner.rate {
			winner.Clicks++
		}
	}
	return seconds
}

func cpcUnit(impressions, clicks int64) ads.Unit {
	return ads.Unit{Bid: ads.Bid{Model: ads.CPC, Price: 1_000_000}, Impressions: impressions, Clicks: clicks}
}

// TestNewUnitIsNeitherStarvedNorFavoured lets many new units compete with a well-known one of
// average rate. Without the prior's optimism, with a mean of 0.5 %, the better unit would win only
// one race in three.
func TestNewUnitIsNeitherStarvedNorFavoured(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 11))
	const races, shown = 200, 20_000
	overtaken, wasted := 0, 0
	for range races {
		if race(random, known(), &rival{cpcUnit(0, 0), 0.0098}, shown) > shown*9/10 {
			overtaken++
		}
		wasted += race(random, known(), &rival{cpcUnit(0, 0), 0}, shown)
	}
	if overtaken < races*9/10 {
		t.Errorf("a new unit that is twice as good won %d of %d races, want at least 90 %%", overtaken, races)
	}
	if wasted/races > 600 {
		t.Errorf("a new unit without clicks was shown %d times on average, want at most 600", wasted/races)
	}
}

// known returns a unit of average rate that has been shown often.
func known() *rival { return &rival{cpcUnit(200_000, 980), 0.0049} }
