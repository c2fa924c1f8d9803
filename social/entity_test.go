package social

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"
)

// describeEntities lists entities with the text in their ranges.
func describeEntities(text string) string {
	units := utf16.Encode([]rune(text))
	var all []string
	for _, e := range Entities(text) {
		all = append(all, fmt.Sprintf("%s=@%s#%s", string(utf16.Decode(units[e.Start:e.End])), e.Handle, e.Tag))
	}
	return strings.Join(all, " ")
}

func TestEntities(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                   "",
		"no entities: a@b.org, C#, 5 # 6, @": "",
		"@ada":                               "@ada=@ada#",
		"Hi @Ada_1! (@ben) @cem.":            "@Ada_1=@ada_1# @ben=@ben# @cem=@cem#",
		"@ada's and @ben-like":               "@ada=@ada# @ben=@ben#",
		"@adaé @ada…":                        "@ada=@ada#",
		"@" + strings.Repeat("a", 31):        "",
		"@ada@example.org @ada@ x":           "@ada=@ada#",
		"@@ada #@ada @#tag":                  "",
		"https://x.org/@ada?#frag/#part":     "#frag=@#frag",
		"😀@ada 😀 #tag":                       "@ada=@ada# #tag=@#tag",
		"#1 #2026 #1st #a_b #_":              "#1st=@#1st #a_b=@#a_b",
		"#Straße #ΟΔΟΣ #日本語タグ #हिन्दी": "#Straße=@#strasse #ΟΔΟΣ=@#οδοσ #日本語タグ=@#日本語タグ #हिन्दी=@#हिन्दी",
		"＃ｔａｇ ＠ada":                    "＃ｔａｇ=@#tag ＠ada=@ada#",
		"#کتاب\u200cها":                "#کتاب\u200cها=@#کتاب\u200cها",
		"#cafe\u0301 #caf\u00e9":       "#cafe\u0301=@#caf\u00e9 #caf\u00e9=@#caf\u00e9",
		"&#39; a#b #a#b":               "#a=@#a",
		"#" + strings.Repeat("x", 101): "",
	} {
		if got := describeEntities(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func TestEntitiesAreLimited(t *testing.T) {
	t.Parallel()
	found := Entities(strings.Repeat("@ada #tag ", 1000))
	if len(found) != MaxMentions+MaxTags {
		t.Errorf("found %d entities", len(found))
	}
}

// FuzzEntities checks that ranges are in order, are inside the text, and begin with a sigil.
func FuzzEntities(f *testing.F) {
	for _, seed := range []string{"@ada #tag", "😀#😀a @b@c ＃あ", "\xff@a\xff#b", "#\u0301a", "@\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		units, end := utf16.Encode([]rune(text)), 0
		for _, e := range Entities(text) {
			if e.Start < end || e.End <= e.Start+1 || e.End > len(units) {
				t.Fatalf("%q: the range %d to %d after %d", text, e.Start, e.End, end)
			}
			end = e.End
			if (e.Handle == "") == (e.Tag == "") || !isSigil(rune(units[e.Start])) {
				t.Fatalf("%q: %+v", text, e)
			}
		}
	})
}
