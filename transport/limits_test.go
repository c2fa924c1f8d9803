package transport

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"plaza/internal/testtime"
	"plaza/transport/codes"
	"plaza/transport/document"
	"plaza/transport/internal/testapi"
)

func repeat(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func TestLimitsAreExact(t *testing.T) {
	s := newTestServer(t, func(o *Options) {
		o.Documents.Limits = document.Limits{MaxTokens: 200, MaxDepth: 5, MaxAliases: 6, MaxFields: 40, MaxDirectives: 7, MaxCost: 1000}
	})
	cases := []struct{ limit, fits, exceeds string }{
		{"", "{" + strings.Repeat("viewer ", 40) + "}", ""},
		{"tokens", "", "{viewer}" + strings.Repeat("#\n", 200)},
		{"depth", "{posts{author{news{nodes{id}}}}}", "{posts{author{news{nodes{author{id}}}}}}"},
		{"depth", "{posts{...A}} fragment A on Post{author{...B}} fragment B on User{news{nodes{id}}}", "{posts{...A}} fragment A on Post{author{...B}} fragment B on User{news{nodes{author{id}}}}"},
		{"aliases", "{" + repeat(6, "a%d:viewer ") + "}", "{" + repeat(7, "a%d:viewer ") + "}"},
		{"aliases", "{...A ...A} fragment A on Query{" + repeat(3, "a%d:viewer ") + "}", "{...A ...A} fragment A on Query{" + repeat(4, "a%d:viewer ") + "}"},
		{"aliases", "{viewer ... on Query{" + repeat(6, "a%d:viewer ") + "}}", "{viewer ... on Query{" + repeat(7, "a%d:viewer ") + "}}"},
		{"fields", "{" + strings.Repeat("viewer ", 40) + "}", "{" + strings.Repeat("viewer ", 41) + "}"},
		{"fields", "query A{" + strings.Repeat("viewer ", 40) + "}", "query A{viewer} query B{" + strings.Repeat("viewer ", 40) + "}"},
		{"directives", "{" + strings.Repeat("viewer @skip(if:false) ", 7) + "}", "{" + strings.Repeat("viewer @skip(if:false) ", 8) + "}"},
		{"cost", "{posts(count:99){id text author{id name}}}", "{posts(count:100){id text author{id name} wallOwner{id name} reactionCounts{kind}}}"},
	}
	for _, c := range cases {
		if c.fits != "" {
			if got := s.query(t, c.fits); got.code(t) != "" {
				t.Errorf("%s: %s: %s", c.limit, c.fits, got.body)
			}
		}
		if c.exceeds == "" {
			continue
		}
		got := s.query(t, c.exceeds)
		d := got.decode(t)
		if got.code(t) != codes.QueryTooComplex || d.Data != nil {
			t.Errorf("%s: %s: %s", c.limit, c.exceeds, got.body)
			continue
		}
		if limit := d.Errors[0].Extensions["limit"]; limit != c.limit {
			t.Errorf("%s: refused for its %v", c.limit, limit)
		}
		if m := d.Errors[0].Message; c.limit == "aliases" && !strings.HasSuffix(m, " aliases, the maximum is 6") {
			t.Errorf("the message is %q", m)
		}
		if c.limit == "cost" && (d.Extensions.Cost == nil || d.Extensions.Cost.Requested <= 1000 || d.Extensions.Cost.Maximum != 1000) {
			t.Errorf("cost: %s", got.body)
		}
	}
	if n := s.operations.Load(); int(n) != 10 {
		t.Errorf("%d operations ran", n)
	}
}

func TestIntrospection(t *testing.T) {
	s := newTestServer(t, func(o *Options) { o.Documents.Limits.MaxDepth = 3 })
	if got := s.query(t, testapi.IntrospectionQuery); got.code(t) != "" || !strings.Contains(got.body, "PostConnection") {
		t.Fatalf("%.300s", got.body)
	}
	deep := "{__schema{types{" + strings.Repeat("ofType{", 30) + "name" + strings.Repeat("}", 30) + "}}}"
	if got := s.query(t, deep); got.code(t) != codes.QueryTooComplex {
		t.Errorf("a deep one: %.300s", got.body)
	}
	many := "{" + repeat(21, "a%d:__schema{description} ") + "}"
	if got := s.query(t, many); got.code(t) != codes.QueryTooComplex {
		t.Errorf("many: %.300s", got.body)
	}
}

// TestAttacksAreCheap: each of these took stock gqlgen seconds or gigabytes.
func TestAttacksAreCheap(t *testing.T) {
	s := newTestServer(t, nil)
	exponential := "{...F0}" + repeat(100, "fragment F%[1]d on Query{...F%[1]da ...F%[1]da} ")
	for i := range 100 {
		exponential = strings.ReplaceAll(exponential, fmt.Sprintf("F%da", i), fmt.Sprintf("F%d", i+1))
	}
	exponential += "fragment F100 on Query{viewer}"
	chained := "{...F0}" + repeat(45, "fragment F%[1]d on Query{"+strings.Repeat("viewer ", 22)+"...F%[1]da}") + "fragment F45 on Query{viewer}"
	for i := range 45 {
		chained = strings.ReplaceAll(chained, fmt.Sprintf("F%da", i), fmt.Sprintf("F%d", i+1))
	}
	attacks := map[string]string{
		"depth":                  "{" + strings.Repeat("a{", 10_000) + "b" + strings.Repeat("}", 10_000) + "}",
		"aliases":                "{" + repeat(10_000, "a%d:viewer ") + "}",
		"overlapping fields":     "{" + strings.Repeat("viewer ", 1500) + "}",
		"overlapping selections": "{" + strings.Repeat("posts{id id id} ", 325) + "}",
		"exponential fragments":  exponential,
		"fragment cycle":         "{...A} fragment A on Query{...B} fragment B on Query{...A}",
		"fragment on itself":     "{viewer} fragment A on Query{a:viewer ...A}",
		"directives":             "{viewer " + strings.Repeat("@skip(if:false)", 300) + "}",
		"long name":              "{" + strings.Repeat("a", 1<<20) + "}",
		"nested input":           "{echo(input:" + strings.Repeat("{nested:", 400) + "{}" + strings.Repeat("}", 400) + ")}",
		"nested list":            "{nodes(ids:" + strings.Repeat("[", 900) + strings.Repeat("]", 900) + "){id}}",
		"comments":               strings.Repeat("#a\n", 100_000) + "{viewer}",
		"variables":              "query(" + repeat(400, "$v%d:Int ") + "){viewer}",
		"operations":             repeat(500, "query Q%d{viewer}"),
		"unknown fields":         "{" + strings.Repeat("nothing ", 900) + "}",
		"one unknown field":      "{" + strings.Repeat("posts{id} ", 490) + "nothing}",
		"type names":             "{" + strings.Repeat("__typename ", 999) + "}",
		"conflicts":              "{" + strings.Repeat("viewer:requestId ", 100) + strings.Repeat("viewer ", 890) + "}",
		"nested fragments":       "{" + strings.Repeat("...{", 330) + strings.Repeat("viewer ", 900) + strings.Repeat("}", 330) + "}",
		"chained fragments":      chained,
		"values":                 repeat(150, "query Q%d{...F}") + "fragment F on Query{echo(input:{text:\"\",tags:[" + strings.Repeat("1 ", 900) + "]})}",
		"spreads":                "{" + strings.Repeat("...{", 15) + strings.Repeat("...F ", 800) + strings.Repeat("}", 15) + "} fragment F on Query{viewer}",
	}
	for name, query := range attacks {
		start := time.Now()
		got := s.query(t, query)
		if got.code(t) == "" || len(got.body) > 20_000 {
			t.Errorf("%s: %d %.200s", name, len(got.body), got.body)
		}
		if took := time.Since(start); took > testtime.Scale(10*time.Second) {
			t.Errorf("%s took %v", name, took)
		}
	}
	if n := s.operations.Load(); n != 0 {
		t.Errorf("%d operations ran", n)
	}
}

func TestNoSuggestions(t *testing.T) {
	s := newTestServer(t, nil)
	for _, query := range []string{`{viewe}`, `{number(m:1)}`, `query($c:Colour){color(c:$c)}`, `{color(c:REDD)}`, `{posts}`} {
		if got := s.query(t, query); got.code(t) != codes.ValidationFailed || strings.Contains(got.body, "Did you mean") {
			t.Errorf("%s: %s", query, got.body)
		}
	}
}

func TestCachedDocumentTakesEachRequestsVariables(t *testing.T) {
	s := newTestServer(t, nil)
	for n, cost := range map[string]int{"1": 2, "7": 8, "100": 101} {
		got := s.post(t, `{"query":"query($n:Int){posts(count:$n){id}}","variables":{"n":`+n+`}}`)
		if d := got.decode(t); d.Extensions.Cost.Requested != cost || strings.Count(got.body, `"id"`) != cost-1 {
			t.Errorf("%s: %s", n, got.body)
		}
	}
}
