package ads

import (
	"fmt"
	"slices"
	"strings"

	"plaza/fault"
)

// KeywordWeight sets how much one keyword of a unit counts in a zone of the design ByKeywords.
type KeywordWeight struct {
	Keyword string
	Weight  int // 1 to MaxWeight; a keyword without a weight counts as 1
}

// NormalKeywordWeights returns the weights of a unit's keywords as they are stored: with normal
// keywords, sorted. keywords must be normal, too. Each entry names one of them in any form that
// NormalKeywords accepts, and each keyword has one entry at most. Errors name the part:
// "keywordWeights.0.weight".
func NormalKeywordWeights(field string, keywords []string, given []KeywordWeight) ([]KeywordWeight, error) {
	if len(given) > MaxKeywords {
		return nil, fault.Errorf(fault.CodeTooLong, field, "At most %d keywords have a weight.", MaxKeywords)
	}
	var normal []KeywordWeight
	var wrong []error
	for i, w := range given {
		at := fmt.Sprintf("%s.%d", field, i)
		keyword, err := normalKeyword(at+".keyword", w.Keyword)
		switch {
		case err != nil:
		case !slices.Contains(keywords, keyword):
			err = fault.Invalidf(at+".keyword", "The ad does not have this keyword.")
		case slices.ContainsFunc(normal, func(other KeywordWeight) bool { return other.Keyword == keyword }):
			err = fault.Invalidf(at+".keyword", "This keyword already has a weight.")
		}
		wrong = append(wrong, err, checkKeywordWeight(at+".weight", w.Weight))
		normal = append(normal, KeywordWeight{keyword, w.Weight})
	}
	slices.SortFunc(normal, KeywordWeight.compare)
	return normal, fault.All(wrong...)
}

func checkKeywordWeight(field string, weight int) error {
	if weight < 1 || weight > MaxWeight {
		return fault.Invalidf(field, "The weight of a keyword must be 1 to %d.", MaxWeight)
	}
	return nil
}

func (w KeywordWeight) compare(other KeywordWeight) int {
	return strings.Compare(w.Keyword, other.Keyword)
}
