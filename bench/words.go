package bench

import (
	"math"
	"math/rand/v2"
	"strings"

	"plaza/demo"
)

// writer writes texts that are as long as people's, and compress as well: runs of words from the
// demo's posts and comments, rarely the same run twice. It is seeded, so that all rivals get the
// same texts.
type writer struct {
	dice  *rand.Rand
	words []string
}

func newWriter(seed uint64) *writer {
	return &writer{
		dice:  rand.New(rand.NewPCG(seed, 1)), //nolint:gosec // made-up texts need no secrecy
		words: strings.Fields(strings.Join(demo.Texts(), " ")),
	}
}

const (
	medianText = 80    // characters
	sigmaText  = 1     // of the logarithm: one text in twenty is longer than 400, one in a hundred longer than 800
	maxText    = 4_000 // characters
)

// text writes one text.
func (w *writer) text() string {
	length := logNormal(w.dice, medianText, sigmaText, maxText)
	var text strings.Builder
	for text.Len() < length || text.Len() == 0 {
		run := 3 + w.dice.IntN(7)
		at := w.dice.IntN(len(w.words) - run)
		for _, word := range w.words[at : at+run] {
			if text.Len() > 0 {
				text.WriteByte(' ')
			}
			text.WriteString(word)
		}
	}
	return text.String()
}

// logNormal returns a random size between 1 and most: usually small, rarely very large.
func logNormal(dice *rand.Rand, median, sigma float64, most int) int {
	return max(1, min(most, int(median*math.Exp(sigma*dice.NormFloat64()))))
}
