package social

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Entity is a mention or a tag in a text.
type Entity struct {
	Start, End int    // its range in UTF-16 code units, as in JavaScript and Java; End is exclusive
	Handle     string // of a mention: lower case; "" for a tag
	Tag        string // of a tag: without the #, folded (see foldTag)
}

// MaxMentions and MaxTags limit the mentions and tags of a text; further ones are plain text.
const (
	MaxMentions = 20
	MaxTags     = 30
)

// maxTagLen is in runes.
const maxTagLen = 100

// Entities finds the mentions (@handle) and tags (#topic) in a text, in order.
//
// A tag is a hashtag identifier of Unicode Standard Annex #31 (UAX31-R8), with letters, marks,
// digits and underscores, and at least one letter: "#1" is none. A mention is an @ and a whole
// handle: not the start of a longer word, and not a name on another server (@ada@example.org).
// Neither begins inside a word, so that e-mail addresses and most parts of URLs are plain text.
func Entities(text string) []Entity {
	var found []Entity
	scan := entityScanner{text: text, before: ' '}
	mentions, tags := 0, 0
	for scan.rest() != "" {
		e, is := scan.next()
		switch {
		case !is:
		case e.Handle != "" && mentions < MaxMentions:
			mentions++
			found = append(found, e)
		case e.Tag != "" && tags < MaxTags:
			tags++
			found = append(found, e)
		}
	}
	return found
}

// Mentioned lists the handles that a text mentions, without duplicates.
func Mentioned(text string) []string {
	var handles []string
	for _, e := range Entities(text) {
		if e.Handle != "" && !slices.Contains(handles, e.Handle) {
			handles = append(handles, e.Handle)
		}
	}
	return handles
}

// entityScanner reads a text rune by rune, and entity by entity.
type entityScanner struct {
	text   string
	at     int  // in bytes
	units  int  // the same place, in UTF-16 code units
	before rune // the rune in front of it
}

func (s *entityScanner) rest() string { return s.text[s.at:] }

// skip moves past the next n bytes; n is at least 1.
func (s *entityScanner) skip(n int) {
	for _, r := range s.text[s.at : s.at+n] {
		s.units += utf16.RuneLen(r)
		s.before = r
	}
	s.at += n
}

// next reads an entity, or one rune if no entity begins here.
func (s *entityScanner) next() (e Entity, is bool) {
	r, size := utf8.DecodeRuneInString(s.rest())
	before := s.before
	e.Start = s.units
	s.skip(size)
	if !isSigil(r) || continuesWord(before) || isSigil(before) || strings.ContainsRune("/.&", before) {
		return e, false
	}
	word := wordAtStart(s.rest())
	if isAt(r) {
		var isHandle bool
		e.Handle, isHandle = NormalHandle(word)
		is = isHandle && !namesServer(s.rest()[len(word):])
	} else {
		e.Tag = foldTag(word)
		is = strings.ContainsFunc(word, unicode.IsLetter) && utf8.RuneCountInString(word) <= maxTagLen
	}
	s.skip(len(word))
	e.End = s.units
	return e, is
}

// foldTag makes the spellings of a tag equal: case, and compatible characters (Unicode's
// NFKC_Casefold, except that it keeps ignorable characters).
func foldTag(word string) string {
	return norm.NFKC.String(cases.Fold().String(norm.NFKC.String(word)))
}

// The full-width forms come from East Asian keyboards.
func isAt(r rune) bool { return r == '@' || r == '＠' }

func isHash(r rune) bool { return r == '#' || r == '＃' || r == '﹟' }

func isSigil(r rune) bool { return isAt(r) || isHash(r) }

// continuesWord reports whether a rune may be inside a word: it is close to XID_Continue.
func continuesWord(r rune) bool {
	return r == '_' || unicode.In(r, unicode.L, unicode.M, unicode.N) || r == zeroWidthNonJoiner || r == zeroWidthJoiner
}

// Persian and Indic words contain these.
const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

func wordAtStart(text string) string {
	if end := strings.IndexFunc(text, func(r rune) bool { return !continuesWord(r) }); end >= 0 {
		return text[:end]
	}
	return text
}

// namesServer reports whether what follows a handle makes it a name on another server.
func namesServer(rest string) bool {
	r, size := utf8.DecodeRuneInString(rest)
	return isAt(r) && wordAtStart(rest[size:]) != ""
}
