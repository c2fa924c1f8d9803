package adserver

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"plaza/ads"
	"plaza/id"
)

// TestUnitsTakeTurnsByTheirShares covers every result of the first draw, so the frequencies are
// exact. Keywords and weights are random: the test holds for every seed.
func TestUnitsTakeTurnsByTheirShares(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 7))
		page := someKeywords(random)
		group, want, total := []*contender{}, map[ads.UnitID]int{}, 0
		for range 1 + random.IntN(4) {
			u := weightedUnit(random)
			share := u.Weight * highestWeight(&u, page)
			want[u.Unit] = share
			total += share
			order, _ := rank(&ads.Zone{Design: ads.ByKeywords, Units: []ads.RunningUnit{u}}, page, true, time.Time{}, random)
			group = append(group, order...)
		}
		got := map[ads.UnitID]int{}
		for ticket := range total {
			next := []int{ticket, 0, 0, 0} // the first draw decides which unit comes first
			order := drawn(group, func(n int) int {
				defer func() { next = next[1:] }()
				return min(next[0], n-1)
			})
			got[order[0].Unit]++
			if len(order) != len(group) {
				t.Fatalf("seed %d: %d of %d units are drawn", seed, len(order), len(group))
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("seed %d: of %d draws, units come first %v times, want %v", seed, total, got, want)
		}
	}
}

// TestScoresFollowTheWeightOfWhatMatches compares rank with the formula, in every design.
func TestScoresFollowTheWeightOfWhatMatches(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 11))
		page := someKeywords(random)
		zone := ads.Zone{}
		for range 1 + random.IntN(6) {
			zone.Units = append(zone.Units, weightedUnit(random))
		}
		for _, zone.Design = range []ads.Design{ads.ByZone, ads.ByFrequency, ads.ByKeywords} {
			order, _ := rank(&zone, page, true, time.Time{}, random)
			for _, c := range order {
				want, boost := float64(c.ECPM), 1
				if zone.Design == ads.ByKeywords {
					matching := 0
					for _, k := range c.Keywords {
						if slices.Contains(page, k) {
							matching++
						}
					}
					boost = highestWeight(c.RunningUnit, page)
					want *= math.Log(1.1+float64(matching)) * float64(boost)
				}
				if math.Abs(c.score-want) > want*1e-12 || c.boost != boost {
					t.Fatalf("seed %d, %s: the score is %v and the weight %d, want %v and %d", seed, zone.Design, c.score, c.boost, want, boost)
				}
			}
		}
	}
}

// weightedUnit returns a unit with a weight and some keywords, some of which have weights.
func weightedUnit(random *rand.Rand) ads.RunningUnit {
	u := ads.RunningUnit{Unit: ads.UnitID{ID: id.New()}, ECPM: ads.Micros(1 + random.IntN(5_000_000)), Weight: 1 + random.IntN(7), Keywords: someKeywords(random)}
	for _, k := range u.Keywords {
		if random.IntN(3) > 0 {
			u.KeywordWeights = append(u.KeywordWeights, ads.KeywordWeight{Keyword: k, Weight: 1 + random.IntN(11)})
		}
	}
	return u
}

// someKeywords returns 0 to 5 of five keywords.
func someKeywords(random *rand.Rand) []string {
	var some []string
	for _, k := range []string{"anvil", "forge", "hammer", "steel", "tongs"} {
		if random.IntN(2) == 0 {
			some = append(some, k)
		}
	}
	return some
}

func highestWeight(u *ads.RunningUnit, page []string) int {
	highest := 1
	for _, w := range u.KeywordWeights {
		if slices.Contains(page, w.Keyword) {
			highest = max(highest, w.Weight)
		}
	}
	return highest
}
