package accounts

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"plaza/fault"
	"plaza/social"
)

// TestReservedHandles: case, underscores and digits that read like letters do not make a reserved
// handle available.
func TestReservedHandles(t *testing.T) {
	t.Parallel()
	words := make([]string, 0, len(reservedHandles))
	for word := range reservedHandles {
		words = append(words, word)
	}
	slices.Sort(words)
	digitFor := map[rune]rune{'o': '0', 'i': '1', 'l': '1', 'e': '3', 'a': '4', 't': '7'}
	rapid.Check(t, func(t *rapid.T) {
		var written strings.Builder
		for _, letter := range rapid.SampledFrom(words).Draw(t, "word") {
			if rapid.Bool().Draw(t, "upper case") {
				letter = unicode.ToUpper(letter)
			}
			if digit := digitFor[unicode.ToLower(letter)]; digit != 0 && rapid.Bool().Draw(t, "digit") {
				letter = digit
			}
			written.WriteString(rapid.SampledFrom([]string{"", "_", "__"}).Draw(t, "before"))
			written.WriteRune(letter)
		}
		err := checkReserved(written.String())
		if f, ok := errors.AsType[*fault.Error](err); !ok || f.Code != fault.CodeReserved || f.Field != "handle" {
			t.Fatalf("%s: %v", written.String(), err)
		}
	})
	for _, free := range []string{"ada", "administer", "root1", "_", "1", "apl", "mai", "b0b", "1234", "user5", "node5"} {
		if err := checkReserved(free); err != nil {
			t.Errorf("%s: %v", free, err)
		}
	}
}

// TestReservedHandlesAreBare: an entry in another form would reserve nothing.
func TestReservedHandlesAreBare(t *testing.T) {
	t.Parallel()
	for word := range reservedHandles {
		if normal, ok := social.NormalHandle(word); !ok || normal != word || bareHandle(word) != word {
			t.Errorf("%q can't match a handle", word)
		}
	}
}
