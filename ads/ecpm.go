package ads

import "math/bits"

// The priors of the click-through rate and of the conversion rate, see ECPM.
const (
	PriorClicks      = 5
	PriorImpressions = 500

	PriorConversions     = 2
	PriorConvertedClicks = 100
)

// significant limits the precision of a learnt ECPM to three decimal digits.
const significant = 1000

// ECPM is the effective cost per mille: what a thousand impressions are expected to earn, in micros
// of the bid's currency. It is never negative and never overflows, for prices up to MaxBid and any
// counts.
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
// The click-through rate is the posterior mean of a binomial rate under a Beta prior (Gelman and
// others, Bayesian Data Analysis, third edition, section 2.4), here Beta(5, 495): as though the
// unit had already been clicked 5 times in 500 impressions. So one lucky click in one impression
// does not make a unit worth a hundred others.
//
// The prior's mean, 1 %, is about twice the rate of a common display ad (0.46 % in WordStream's
// Google Ads industry benchmarks). That is intentional. Service.Choose takes the highest eCPM, so a
// unit that falls behind is not shown any more, and an estimate that is too low by bad luck is
// never corrected. A start above the average keeps each unit shown until its own evidence counts
// (optimistic initial values: Sutton and Barto, Reinforcement Learning, second edition, section
// 2.6), so a new unit is not starved. It is not favoured forever either: after 500 impressions,
// prior and evidence weigh the same, so a unit without clicks has dropped to the average by then,
// and to a tenth of its first value after 4,500. A new unit can still have bad luck: in simulation,
// one in fifty of the units that are twice as good as the best known one is given up too early
// (TestNewUnitIsNeitherStarvedNorFavoured).
//
// The conversion rate has a prior of the same kind, Beta(2, 98). Its mean, 2 %, is again above that
// of a common display ad (0.77 % in the same benchmarks). The two rates are independent under their
// priors and given their counts, so the mean of their product is the product of their means.
// Conversions arrive days after their clicks: a new unit's rate is too low until the conversions of
// its first clicks have arrived, and rises with each.
//
// The error of the estimate is far larger than the rounding. Rounding lets units tie whose
// difference means nothing, so that they take turns, and it avoids a write to a zone's order for
// most impressions.
//
// If more clicks than impressions were recorded (an impression's record may get lost), each click
// counts as an impression too. In the same way, each conversion counts as a click. Negative counts
// count as zero.
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

// times multiplies an amount of at most 10¹⁸ by a rate of at most 1. The product needs 128 bits,
// and the quotient fits into 63.
func times(amount, part, whole uint64) uint64 {
	high, low := bits.Mul64(amount, part)
	quotient, _ := bits.Div64(high, low, whole)
	return quotient
}

// roundTo rounds n, half up, to the leading decimal digits that make a number below limit.
func roundTo(n, limit uint64) uint64 {
	unit := uint64(1)
	for n/unit >= limit {
		unit *= 10
	}
	return (n + unit/2) / unit * unit
}
