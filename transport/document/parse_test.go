package document

import (
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
)

func TestHalfCharactersAreRefused(t *testing.T) {
	for query, column := range map[string]int{ // of the escape; 0 if it is allowed
		`{ echo(text: "a\ud800b") }`:                                     16,
		`{ echo(text: "\uDFFF") }`:                                       15,
		`{ echo(text: "a\\ud800b") }`:                                    0, // an escaped backslash
		`{ echo(text: """a\ud800b""") }`:                                 0, // block strings do not support these escapes
		`{ echo(text: "\u00e9") } # \ud800`:                              0,
		`{ echo(text: "\ud83d\ude00") }`:                                 0,
		`{ echo(text: "\uDBFF\uDFFF") }`:                                 0,
		`{ echo(text: "\ud83d\ud83d\ude00") }`:                           15, // half a pair before a pair
		`{ echo(text: "\ud83d\ude00\ude00") }`:                           27,
		`{ echo(text: "\ude00\ud83d") }`:                                 15, // in the wrong order
		`{ echo(text: "\ud83d \ude00") }`:                                15,
		`{ echo(text: "\ud83d\\ude00") }`:                                15,
		`{ echo(text: "\ud83d\u00e9") }`:                                 15,
		`{ echo(text: "\ud83d\u{de00}") }`:                               21, // the parser refuses the second half
		`{ echo(text: "\u{1F600}") }`:                                    0,
		`{ echo(text: "plain") }`:                                        0,
		`{ echo(text: "x\\\ud800") }`:                                    18,
		`{ echo(text: "é😀\ud800") }`:                                     17,
		`query Q { a: echo(text: "\ud800") }`:                            26,
		`{ a: echo(text: "é😀é") b: echo(text: "\ud800") }`:               39,
		`{ a: echo(text: "\ud83d\ude00") b: echo(text: "\ud83d\ude0") }`: 54, // the parser's
	} {
		_, err := parse(query, 1_000)
		got := 0
		if err != nil {
			got = err.Locations[0].Column
		}
		if got != column {
			t.Errorf("%s: error in column %d, want %d (%v)", query, got, column, err)
		}
	}
}

func TestPairsAreOneCharacter(t *testing.T) {
	doc, err := parse(`{ echo(text: "a\ud83d\uDE00b\\ud83d") }`, 1_000)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := doc.Operations[0].SelectionSet[0].(*ast.Field).Arguments[0].Value.Raw, `a😀b\ud83d`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestParseErrorsSayWhatIsWrong(t *testing.T) {
	for query, want := range map[string]string{
		`{ viewer {} }`:                "input:1:11: Expected at least one field between { and }",
		`{ viewer() { id } }`:          "input:1:10: Expected at least one argument or variable between ( and )",
		`{ echo(text: "a\qb") }`:       `input:1:16: Invalid character escape sequence: \q.`,
		`{ echo(text: "\u{110000}") }`: `input:1:15: Invalid character escape sequence: \u{110000}.`,
		`{ echo(text: "open) }`:        "input:1:22: Unterminated string.",
		`{ echo(text: 'x') }`:          `input:1:14: Unexpected single quote character ('), did you mean to use a double quote (")?`,
	} {
		if _, err := parse(query, 1_000); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", query, err, want)
		}
	}
}
