package ads

import "math/bits"

// The priors of the click-through rate and of the conversion rate, see ECPM.
const (
	PriorClicks      = 5
	PriorImpressions = 500

	PriorConversions     = 2
	PriorConvertedClicks = 100
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
// and for a CPA bid it is
//
//	eCPM = CPA × CTR × CVR × 1000,  CVR = (PriorConversions + conversions) / (PriorConvertedClicks + clicks)
//
// rounded to three significant decimal digits.
//
// The click-through rate is the posterior mean of a binomial rate under a Beta prior (Gelman and others, Bayesian
// Data Analysis, third edition, section 2.4), here Beta(5, 495): as though the unit had already been clicked 5 times in
// 500 impressions. So one lucky click in one impression does not make a unit worth a hundred others.
//
// The prior's mean, 1 %, is about twice the rate of a common display ad (0.46 % in WordStream's Google Ads
// industry benchmarks). That is on purpose. The choice takes the highest eCPM, so a unit that falls behind is not
// shown any more, and an estimate that is wrong by bad luck is never put right. Starting above the average has each
// unit shown until its own evidence speaks (optimistic initial values: Sutton and Barto, Reinforcement Learning,
// second edition, section 2.6): a new unit is not starved. Nor is it favoured for ever: after 500 impressions prior and
// evidence weigh the same, so a unit that nobody clicks is down to the average then, and to a tenth of where it
// started after 4,500. What remains is a new unit's bad luck: in simulation one in fifty of those that are twice as
// good as the best known unit is given up too early (TestANewUnitIsNeitherStarvedNorFavoured).
//
// The conversion rate has a prior of the same kind, Beta(2, 98). Its mean, 2 %, is again above that of a common display ad (0.77 % in the same
// benchmarks). The two rates are independent under their priors and given their counts, so the mean of their product is the product of
// their means. Conversions come days after their clicks: a unit's rate is too low until those of its first clicks have come, and rises with each.
//
// The rounding is far below the error of the estimate. It lets units tie that cannot be told apart, so that they take
// turns, and it spares a zone's order a write for most impressions.
//
// Where more clicks than impressions were recorded (an impression's record may get lost), each click counts as an
// impression too, and each conversion as a click. Counts below zero count as zero.
func ECPM(bid Bid, impressions, clicks, conversions int64) Micros {
	if bid.Model == CPM {
		return bid.Price
	}
	seenConversions := uint64(max(conversions, 0))
	seenClicks := max(uint64(max(clicks, 0)), seenConversions)
	seenImpressions := max(uint64(max(impressions, 0)), seenClicks)
	earned := times(uint64(bid.Price)*1000, PriorClicks+seenClicks, PriorImpressions+seenImpressions)
	if bid.Model == CPA {
		earned = times(earned, PriorConversions+seenConversions, PriorConvertedClicks+seenClicks)
	}
	return Micros(roundTo(earned, significant))
}

// times multiplies an amount of at most 10¹⁸ by a rate of at most 1: the product needs 128 bits, and the quotient fits in 63.
func times(amount, part, whole uint64) uint64 {
	high, low := bits.Mul64(amount, part)
	quotient, _ := bits.Div64(high, low, whole)
	return quotient
}

// roundTo keeps the leading decimal digits of n that are below limit, rounding half up.
func roundTo(n, limit uint64) uint64 {
	unit := uint64(1)
	for n/unit >= limit {
		unit *= 10
	}
	return (n + unit/2) / unit * unit
}
