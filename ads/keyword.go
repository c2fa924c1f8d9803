package ads

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"plaza/fault"
)

const (
	// MaxKeywords is the most keywords that a unit can have, or that a request can name.
	MaxKeywords = 50
	// MaxKeyword bounds a keyword, in characters.
	MaxKeyword = 50
)

// NormalKeywords returns keywords in the form in which they are compared: in lower case, with
// single spaces, sorted, without repeats. Errors: INVALID, BLANK, TOO_LONG, naming the keyword.
func NormalKeywords(field string, keywords []string) ([]string, error) {
	if len(keywords) > MaxKeywords {
		return nil, fault.Errorf(fault.CodeTooLong, field, "At most %d keywords are allowed.", MaxKeywords)
	}
	var normal []string
	for i, keyword := range keywords {
		at := fmt.Sprintf("%s.%d", field, i)
		read, err := normalKeyword(at, keyword)
		if err != nil {
			return nil, err
		}
		normal = append(normal, read)
	}
	slices.Sort(normal)
	return slices.Compact(normal), nil
}

func normalKeyword(field, keyword string) (string, error) {
	if err := fault.CheckLine(field, keyword, 1, MaxKeyword); err != nil {
		return "", err
	}
	if strings.Contains(keyword, ",") {
		return "", fault.Invalidf(field, "A keyword must not contain a comma.")
	}
	return strings.Join(strings.Fields(strings.ToLower(keyword)), " "), nil
}

// Score is how much a unit is worth in a zone of the design ByKeywords:
//
//	score = eCPM × log(1.1 + number of matching keywords) × highest weight of a matching keyword
//
// Because of the logarithm, a second match adds less than the first. A unit without a match keeps
// log(1.1), a tenth of its eCPM. That part of the formula is from the chapter on ad networks in
// Copeland, MongoDB Applied Design Patterns (2013). The weight is 1 to MaxWeight; it is 1 without a
// match, and for keywords that have no KeywordWeight.
func Score(ecpm Micros, matching, weight int) float64 {
	return float64(ecpm) * math.Log(1.1+float64(matching)) * float64(weight)
}
