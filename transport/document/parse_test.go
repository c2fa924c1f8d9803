package document

import "testing"

func TestHalfCharactersAreRefused(t *testing.T) {
	for query, refused := range map[string]bool{
		`{ echo(text: "a\ud800b") }`:          true,
		`{ echo(text: "\uDFFF") }`:            true,
		`{ echo(text: "a\\ud800b") }`:         false, // an escaped backslash
		`{ echo(text: """a\ud800b""") }`:      false, // block strings do not support these escapes
		`{ echo(text: "\u00e9") } # \ud800`:   false,
		`{ echo(text: "\ud83d\ude00") }`:      true, // the parser does not join pairs
		`{ echo(text: "plain") }`:             false,
		`{ echo(text: "x\\\ud800") }`:         true,
		`query Q { a: echo(text: "\ud800") }`: true,
	} {
		_, err := parse(query, 1_000)
		if (err != nil) != refused {
			t.Errorf("%s: got %v, want refused %v", query, err, refused)
		}
	}
}
