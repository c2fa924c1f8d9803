package ads

import "math/bits"

// The prior of the click-through rate, see ECPM.
const (
	PriorClicks      = 5
	PriorImpressions = 1000
)

// significant is how much of a learnt ECPM counts: three decimal digits.
const significant = 1000

// ECPM is the effective cost per mille: what a thousand impressions are expected to earn, in micros of the
// bid's currency. It is never negative and never overflows, for prices up to MaxBid and any counts.
//
// For a CPM bid it is the price itself. For a CPC bid it is
//
//	eCPM = CPC × CTR × 1000,  CTR = (PriorClicks + clicks) / (PriorImpressions + impressions)
//
// rounded to three significant decimal digits.
//
// The click-through rate is the posterior mean of a binomial rate under a Beta prior (Gelman and others, Bayesian
// Data Analysis, third edition, section 2.4), here Beta(5, 995): as though the unit had already been clicked 5 times in
// 1,000 impressions. Its mean, 0.5 %, is that of a common display ad (0.46 % in WordStream's Google Ads
// industry benchmarks). So a unit that was never shown competes as an average one: not at nothing, where it
// would starve, nor at one lucky click in one impression, where it would be favoured. Its weight makes bad luck
// rare (an average unit gets through its first 1,000 impressions without any click in 0.995¹⁰⁰⁰ = 0.7 % of cases), and
// ends as evidence comes in: after 1,000 impressions prior and evidence weigh the same, and a unit that nobody
// clicks sinks to half, after 9,000 to a tenth.
//
// The rounding is far below the error of the estimate. It lets units tie that cannot be told apart, so that they take
// turns, and it spares a zone's order a write for most impressions.
//
// Where more clicks than impressions were recorded (an impression's record may get lost), each click counts as an
// impression too. Counts below zero count as zero.
func ECPM(bid Bid, impressions, clicks int64) Micros {
	if bid.Model == CPM {
		return bid.Price
	}
	seenClicks := uint64(max(clicks, 0))
	seenImpressions := max(uint64(max(impressions, 0)), seenClicks)

	// price × 1000 ≤ 10¹⁸ and the rate is at most 1, so the product needs 128 bits and the quotient fits in 63.
	perThousandClicks := uint64(bid.Price) * 1000
	high, low := bits.Mul64(perThousandClicks, PriorClicks+seenClicks)
	earned, _ := bits.Div64(high, low, PriorImpressions+seenImpressions)
	return Micros(roundTo(earned, significant))
}

// roundTo keeps the leading decimal digits of n that are below limit, rounding half up.
func roundTo(n, limit uint64) uint64 {
	unit := uint64(1)
	for n/unit >= limit {
		unit *= 10
	}
	return (n + unit/2) / unit * unit
}
