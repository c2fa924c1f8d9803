package transport

import (
	"mime"
	"slices"
	"strconv"
	"strings"
)

const (
	// mediaJSON is used for */*, for a missing Accept header, and for clients that are older than
	// the specification. Its status only shows whether the request was well formed.
	mediaJSON = "application/json"
	// mediaGraphQL is the media type of the specification. Its status also shows whether a request
	// failed before execution.
	mediaGraphQL = "application/graphql-response+json"
	// mediaEvents is a stream of responses.
	mediaEvents = "text/event-stream"
)

// negotiate selects the media type of the answer from the Accept headers: the one with the highest
// q, or else the first one. ok is false if neither type is acceptable.
func negotiate(accept []string) (media string, ok bool) {
	header := strings.Join(accept, ",")
	if strings.TrimSpace(header) == "" {
		return mediaJSON, true
	}
	ranges := parseAccept(header)
	var best preference
	for _, candidate := range []string{mediaJSON, mediaGraphQL} {
		if p := preferenceFor(candidate, ranges); p.q > best.q || p.q == best.q && p.q > 0 && p.index < best.index {
			media, best = candidate, p
		}
	}
	return media, best.q > 0
}

// prefersEvents reports whether the Accept headers prefer the event stream to the types that
// negotiate can select.
func prefersEvents(accept []string) bool {
	ranges := parseAccept(strings.Join(accept, ","))
	i := slices.IndexFunc(ranges, func(r mediaRange) bool { return r.name == mediaEvents })
	if i < 0 || ranges[i].q == 0 {
		return false
	}
	for _, other := range []string{mediaJSON, mediaGraphQL} {
		if p := preferenceFor(other, ranges); p.q > ranges[i].q || p.q == ranges[i].q && p.index < i {
			return false
		}
	}
	return true
}

// mediaRange is one element of an Accept header, such as application/*;q=0.5.
type mediaRange struct {
	name string
	q    float64
}

// preference is the weight of a media type in an Accept header, and its position there.
type preference struct {
	q     float64
	index int
}

// preferenceFor applies the most specific range that covers media.
func preferenceFor(media string, ranges []mediaRange) preference {
	best, specificity := preference{}, 0
	for i, r := range ranges {
		if s := specificityOf(r.name, media); s > specificity {
			best, specificity = preference{r.q, i}, s
		}
	}
	return best
}

// specificityOf is 0 when the range does not cover media.
func specificityOf(name, media string) int {
	switch name {
	case media:
		return 3
	case "application/*":
		return 2
	case "*/*":
		return 1
	}
	return 0
}

func parseAccept(header string) []mediaRange {
	var ranges []mediaRange
	for element := range strings.SplitSeq(header, ",") {
		name, params, err := mime.ParseMediaType(element)
		if err != nil {
			continue // ignore an unreadable element
		}
		q := 1.0
		if text, ok := params["q"]; ok {
			if q, err = strconv.ParseFloat(text, 64); err != nil || q < 0 || q > 1 {
				q = 0
			}
		}
		ranges = append(ranges, mediaRange{name, q})
	}
	return ranges
}
