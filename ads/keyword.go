package ads

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"plaza/fault"
)

const (
	// MaxKeywords is how many keywords a unit has, or a choice is asked for with.
	MaxKeywords = 50
	// MaxKeyword bounds a keyword, in characters.
	MaxKeyword = 50
)

// NormalKeywords are keywords as they are compared: in lower case, with single spaces, sorted, each once. Errors: INVALID,
// BLANK, TOO_LONG, naming the keyword.
func NormalKeywords(field string, keywords []string) ([]string, error) {
	if len(keywords) > MaxKeywords {
		return nil, fault.Errorf(fault.CodeTooLong, field, "At most %d keywords are allowed.", MaxKeywords)
	}
	var normal []string
	for i, keyword := range keywords {
		at := fmt.Sprintf("%s.%d", field, i)
		if err := fault.CheckLine(at, keyword, 1, MaxKeyword); err != nil {
			return nil, err
		}
		if strings.Contains(keyword, ",") {
			return nil, fault.Invalidf(at, "A keyword has no comma.")
		}
		normal = append(normal, strings.Join(strings.Fields(strings.ToLower(keyword)), " "))
	}
	slices.Sort(normal)
	return slices.Compact(normal), nil
}

// matches are the keywords that both sorted lists have.
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

// Score is how much a unit is worth in a zone of the design Keywords:
//
//	score = eCPM × log(1.1 + number of matching keywords)
//
// The logarithm gives the second match less than the first. A unit without a match keeps log(1.1), a tenth of its eCPM. The
// formula is that of the chapter on ad networks in Copeland, MongoDB Applied Design Patterns (2013).
func Score(ecpm Micros, matching int) float64 {
	return float64(ecpm) * math.Log(1.1+float64(matching))
}
