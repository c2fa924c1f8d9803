package adserver

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"plaza/ads"
	"plaza/id"
)

// Verdict is how a choice treated a unit.
type Verdict string

// The verdicts.
const (
	Won          Verdict = "WON"
	Lost         Verdict = "LOST"          // other units were better, or one of the same advertiser was chosen before
	NotScheduled Verdict = "NOT_SCHEDULED" // outside its campaign's dates, weekdays or hours
	NoBudget     Verdict = "NO_BUDGET"     // used up, on lease elsewhere, or ahead of the even pace
	AtCap        Verdict = "AT_CAP"        // the person has seen it as often as its caps allow
	NoProfile    Verdict = "NO_PROFILE"    // it has caps, which are not counted here: the zone's design is ZONE, or the person is unknown
)

// contender is a unit that competes in a choice.
type contender struct {
	*ads.RunningUnit
	choice  ads.ChoiceID
	matched []string
	boost   int // the highest weight of a matching keyword; 1 if none matches
	score   float64
	verdict Verdict
	covered bool   // there is money for it, if it is limited: see stakes
	grant   *grant // the balance that pays for it; nil unless it is limited, and was chosen

	// The sort keys: higher worth comes first, then chance decides, and among units that take turns
	// the draw.
	worth float64
	tie   uint64
	turn  int
}

// ranking is the order of the units in a request's zone; it is empty if there is no such zone.
type ranking struct {
	place       ads.ZoneID
	currency    ads.Currency // the zone's
	key         []byte
	profile     ads.ProfileID
	now         time.Time
	order, rest []*contender
}

// ranking reads the zone of a request and ranks its units.
func (s *Service) ranking(ctx context.Context, r Request, read func(context.Context, ads.ZoneID) (*ads.Zone, error)) (*ranking, error) {
	place, keywords, err := r.check()
	if err != nil {
		return nil, err
	}
	key, err := s.signingKey(ctx)
	if err != nil {
		return nil, err
	}
	t := &ranking{place: place, key: key, profile: r.profile(key)}
	zone, err := read(ctx, place)
	if errors.Is(err, ads.ErrNotFound) {
		return t, nil
	}
	if err != nil {
		return nil, present(err)
	}
	t.now, t.currency = s.now(), zone.Currency
	t.order, t.rest = rank(zone, keywords, !t.profile.IsZero(), t.now, s.random)
	return t, nil
}

// rank orders a zone's units: highest score first, ties at random, house ads after all others.
// Units that cannot be chosen are in rest instead.
func rank(zone *ads.Zone, keywords []string, known bool, now time.Time, random *rand.Rand) (order, rest []*contender) {
	all := make([]contender, len(zone.Units))
	order = make([]*contender, 0, len(all))
	for i := range all {
		c := &all[i]
		*c = contender{RunningUnit: &zone.Units[i], boost: 1, score: float64(zone.Units[i].ECPM), verdict: Lost}
		if zone.Design == ads.ByKeywords {
			c.matched = matches(c.Keywords, keywords)
			c.boost = c.WeightOf(c.matched)
			c.score = ads.Score(c.ECPM, len(c.matched), c.boost)
		}
		switch {
		case !c.Schedule.Runs(now):
			c.verdict = NotScheduled
		case len(c.Caps) > 0 && (zone.Design == ads.ByZone || !known):
			c.verdict = NoProfile
		}
		if c.verdict == Lost {
			order = append(order, c)
		} else {
			rest = append(rest, c)
		}
	}
	inOrder(order, random)
	return order, rest
}

// inOrder sorts units, best first. The weighted units of each campaign take turns: as a group they
// rank by the mean of their scores, weighted by share, and a draw by share decides which of them
// comes first.
func inOrder(units []*contender, random *rand.Rand) {
	var turns map[ads.CampaignID][]*contender
	for _, c := range units {
		c.worth, c.tie = c.score, random.Uint64()
		if c.Weight > 0 {
			if turns == nil {
				turns = map[ads.CampaignID][]*contender{}
			}
			turns[c.Campaign] = append(turns[c.Campaign], c)
		}
	}
	for _, first := range units { // iterate in sorted order, not in the map's: only random may decide ties
		group := turns[first.Campaign]
		if first.Weight == 0 || group[0] != first {
			continue
		}
		mean := meanScore(group)
		for turn, c := range drawn(group, random.IntN) {
			c.worth, c.tie, c.turn = mean, first.tie, turn
		}
	}
	slices.SortFunc(units, (*contender).compare)
}

// compare orders contenders: house ads come last.
func (c *contender) compare(other *contender) int {
	if c.House != other.House {
		if c.House {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(other.worth, c.worth), cmp.Compare(c.tie, other.tie), cmp.Compare(c.turn, other.turn))
}

func meanScore(group []*contender) float64 {
	sum, weights := 0.0, 0
	for _, c := range group {
		sum += c.score * float64(c.share())
		weights += c.share()
	}
	return sum / float64(weights)
}

// share returns the unit's part of its campaign's turns, given the keywords of the request.
func (c *contender) share() int { return c.Weight * c.boost }

// drawn draws all units one after the other, each with a probability proportional to its share
// among the remaining ones. below(n) returns a random number from 0 to n-1.
func drawn(group []*contender, below func(n int) int) []*contender {
	left, order := slices.Clone(group), make([]*contender, 0, len(group))
	for len(left) > 0 {
		total := 0
		for _, c := range left {
			total += c.share()
		}
		i, ticket := 0, below(total)
		for ; ticket >= left[i].share(); i++ {
			ticket -= left[i].share()
		}
		order = append(order, left[i])
		left = slices.Delete(left, i, i+1)
	}
	return order
}

// fund puts money aside for contenders, best first, until enough of them are certain to be chosen:
// those without caps, of different advertisers. It drops the rest, which cannot be needed. cover
// puts aside what one contender may cost.
func fund(order []*contender, count int, cover func(*contender) bool) (funded []*contender) {
	sure := map[ads.AdvertiserID]bool{}
	for _, c := range order {
		if len(sure) == count {
			break
		}
		if c.Limited && !cover(c) {
			c.verdict = NoBudget
			continue
		}
		funded = append(funded, c)
		if len(c.Caps) == 0 {
			sure[c.AdvertiserID] = true
		}
	}
	return funded
}

// priceOf returns what choosing a unit is expected to cost, and the purse that pays for it: with a
// CPM, the price of an impression; with a CPC or CPA, the price of a click or conversion times its
// probability.
func priceOf(r *ads.RunningUnit) (purseKey, ads.Micros) {
	if r.Bid.Model == ads.CPM {
		return purseKey{campaign: r.Campaign, kind: ads.Impression}, r.Bid.Cost(ads.Impression)
	}
	key := purseKey{r.Campaign, ads.Click, r.Bid.Price}
	if r.Bid.Model == ads.CPA {
		key.kind = ads.Conversion
	}
	return key, min(max((r.ECPM+ads.Mille-1)/ads.Mille, 1), key.price) // an ECPM is rounded, also upwards
}

// reservation asks for the best of the contenders.
func reservation(profile ads.ProfileID, funded []*contender, count int, now time.Time) ads.Reservation {
	r := ads.Reservation{Profile: profile, Count: count, Now: now.Truncate(time.Millisecond)}
	for _, c := range funded {
		c.choice = ads.ChoiceID{ID: id.At(now)}
		r.Candidates = append(r.Candidates, ads.Candidate{Choice: c.choice, Advertiser: c.AdvertiserID, Caps: c.Caps, Fallback: c.House})
	}
	return r
}

func hasCaps(r *ads.Reservation) bool {
	return slices.ContainsFunc(r.Candidates, func(c ads.Candidate) bool { return len(c.Caps) > 0 })
}

// matchedText joins as many matched keywords as fit into a token.
func matchedText(matched []string) string {
	var text string
	for _, keyword := range matched {
		longer := strings.TrimPrefix(text+","+keyword, ",")
		if len(longer) > maxMatches {
			break
		}
		text = longer
	}
	return text
}

// matches returns the keywords that are in both sorted lists.
func matches(a, b []string) []string {
	var both []string
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch strings.Compare(a[i], b[j]) {
		case -1:
			i++
		case 1:
			j++
		default:
			both = append(both, a[i])
			i++
			j++
		}
	}
	return both
}
