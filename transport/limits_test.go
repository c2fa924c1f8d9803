package transport

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"

	"plaza/internal/testtime"
	"plaza/transport/internal/testapi"
)

// introspectionQuery is the query that GraphiQL sends, including its options.
var introspectionQuery = `query IntrospectionQuery {
  __schema {
    description
    queryType { name kind } mutationType { name kind } subscriptionType { name kind }
    types { ...FullType }
    directives { name description isRepeatable locations args(includeDeprecated: true) { ...InputValue } }
  }
}
fragment FullType on __Type {
  kind name description specifiedByURL isOneOf
  fields(includeDeprecated: true) {
    name description args(includeDeprecated: true) { ...InputValue } type { ...TypeRef } isDeprecated deprecationReason
  }
  inputFields(includeDeprecated: true) { ...InputValue }
  interfaces { ...TypeRef }
  enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
  possibleTypes { ...TypeRef }
}
fragment InputValue on __InputValue { name description type { ...TypeRef } defaultValue isDeprecated deprecationReason }
fragment TypeRef on __Type { kind name ` + strings.Repeat("ofType { kind name ", 9) + strings.Repeat("}", 9) + ` }`

func repeat(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func TestLimitsAreExact(t *testing.T) {
	s := newTestServer(t, func(o *Options) {
		o.Limits = Limits{MaxTokens: 200, MaxDepth: 5, MaxAliases: 6, MaxFields: 40, MaxDirectives: 7, MaxCost: 1000}
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
		if got.code(t) != CodeQueryTooComplex || d.Data != nil {
			t.Errorf("%s: %s: %s", c.limit, c.exceeds, got.body)
			continue
		}
		if limit := d.Errors[0].Extensions["limit"]; c.limit != "tokens" && limit != c.limit {
			t.Errorf("%s: refused for its %v", c.limit, limit)
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
	s := newTestServer(t, func(o *Options) { o.Limits.MaxDepth = 3 })
	if got := s.query(t, introspectionQuery); got.code(t) != "" || !strings.Contains(got.body, "PostConnection") {
		t.Fatalf("%.300s", got.body)
	}
	deep := "{__schema{types{" + strings.Repeat("ofType{", 30) + "name" + strings.Repeat("}", 30) + "}}}"
	if got := s.query(t, deep); got.code(t) != CodeQueryTooComplex {
		t.Errorf("a deep one: %.300s", got.body)
	}
	many := "{" + repeat(21, "a%d:__schema{description} ") + "}"
	if got := s.query(t, many); got.code(t) != CodeQueryTooComplex {
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
		if got := s.query(t, query); got.code(t) != CodeValidationFailed || strings.Contains(got.body, "Did you mean") {
			t.Errorf("%s: %s", query, got.body)
		}
	}
}

func TestDocumentsAreCached(t *testing.T) {
	s := newTestServer(t, func(o *Options) { o.CachedDocuments = 2 })
	parsed := func(query string) bool {
		_, ok := s.transport.documents.Get(t.Context(), query)
		return ok
	}
	long := "{viewer}" + strings.Repeat(" ", maxCachedQuery)
	for _, query := range []string{"{viewer}", "{nothing}", long, "{a:viewer}", "{b:viewer}"} {
		s.query(t, query)
	}
	for query, want := range map[string]bool{"{viewer}": false, "{nothing}": false, long: false, "{a:viewer}": true, "{b:viewer}": true} {
		if parsed(query) != want {
			t.Errorf("%.20s is cached: %t", query, !want)
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

func TestCost(t *testing.T) {
	const post = `id text author{id name} wallOwner{id name} reactionCounts{kind count} latestComments{id text author{id name}}`
	// 1 text 1 id; author 3; wall owner 3; reactions 1+10×2; comments 1+3×5
	const postCost = 2 + 3 + 3 + 21 + 16
	cases := []struct {
		name, query string
		variables   map[string]any
		cost        int
	}{
		{"scalar", `{viewer}`, nil, 1},
		{"__typename", `{__typename viewer}`, nil, 1},
		{"introspection", `{__schema{types{name}} __type(name:"Post"){name}}`, nil, 2750},
		{"connection, default", `{news{nodes{id}}}`, nil, 1 + 1 + 20},
		{"connection, first", `{news(first:7){nodes{id text}}}`, nil, 1 + 1 + 7*2},
		{"connection, last", `{news(last:7){nodes{id}}}`, nil, 1 + 1 + 7},
		{"connection, larger", `{news(first:3,last:7){nodes{id}}}`, nil, 1 + 1 + 7},
		{"connection, edges", `{news(first:7){edges{cursor node{id}} pageInfo{hasNextPage}}}`, nil, 1 + 1 + 7*3 + 2},
		{"connection, null", `{news(first:null){nodes{id}}}`, nil, 22},
		{"connection, zero", `{news(first:0){nodes{id}}}`, nil, 22},
		{"connection, negative", `{news(first:-1){nodes{id}}}`, nil, 22},
		{"connection, more than is served", `{news(first:1000){nodes{id}}}`, nil, 102},
		{"connection, variable", `query($n:Int){news(first:$n){nodes{id}}}`, map[string]any{"n": int64(9)}, 11},
		{"connection, absent variable", `query($n:Int){news(first:$n){nodes{id}}}`, map[string]any{}, 22},
		{"connection, null variable", `query($n:Int){news(first:$n){nodes{id}}}`, map[string]any{"n": nil}, 22},
		{"list, schema's default", `{posts{id}}`, nil, 1 + 5},
		{"list, count", `{posts(count:8){id}}`, nil, 9},
		{"list, variable over schema's default", `query($n:Int){posts(count:$n){id}}`, map[string]any{}, 6},
		{"ids", `{nodes(ids:["a","b","c"]){id}}`, nil, 4},
		{"ids, single", `{nodes(ids:"12345678"){id}}`, nil, 2},
		{"ids, variable", `query($i:[ID!]!){nodes(ids:$i){id}}`, map[string]any{"i": []any{"a", "b"}}, 3},
		{"ids, variables", `query($i:ID!){nodes(ids:[$i,$i]){id}}`, map[string]any{"i": "a"}, 3},
		{"plain list", `{posts(count:1){reactionCounts{kind}}}`, nil, 1 + 1 + 10},
		{"nested", `{posts(count:10){comments(first:10){nodes{id}}}}`, nil, 1 + 10*(1+1+10)},
		{"skipped", `query($s:Boolean!){viewer @skip(if:$s) ... @include(if:false){a:viewer} ...F @skip(if:true)} fragment F on Query{b:viewer}`, map[string]any{"s": true}, 0},
		{"included", `query($s:Boolean!){viewer @skip(if:$s) ... @include(if:true){a:viewer}}`, map[string]any{"s": false}, 2},
		{"fragment under two pages", `{a:news(first:2){...C} b:news(first:50){...C}} fragment C on PostConnection{nodes{id}}`, nil, 1 + 1 + 2 + 1 + 1 + 50},
		{"inline fragment keeps the page", `{news(first:2){... on PostConnection{nodes{id}}}}`, nil, 4},
		{"news page", `{news(first:100){nodes{` + post + `}}}`, nil, 2 + 100*postCost},
		{"100×100×100", `{news(first:100){nodes{author{news(first:100){nodes{author{news(first:100){nodes{id}}}}}}}}}`, nil, 2 + 100*(2+1+100*(2+1+100))},
		{"overflow", `{posts(count:100){author` + strings.Repeat(`{news(first:100){nodes{author`, 7) + `{id}` + strings.Repeat(`}}}`, 7) + `}}`, nil, math.MaxInt32},
	}
	schema := testapi.NewExecutableSchema(testapi.Config{}).Schema()
	limits := Limits{}.withDefaults()
	for _, c := range cases {
		doc, err := parser.ParseQuery(&ast.Source{Input: c.query})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if errs := validator.ValidateWithRules(schema, doc, newRules()); len(errs) > 0 {
			t.Fatalf("%s: %v", c.name, errs)
		}
		if got := limits.costOf(doc.Operations[0], c.variables); got.Requested != c.cost {
			t.Errorf("%s: costs %d, want %d", c.name, got.Requested, c.cost)
		}
	}
	if page := 2 + 100*postCost; page*3 > limits.MaxCost {
		t.Errorf("a news page of 100 costs %d, uncomfortably near %d", page, limits.MaxCost)
	}
	if cube := 2 + 100*(3+100*103); cube < limits.MaxCost*10 {
		t.Errorf("100×100×100 costs only %d", cube)
	}
}

// FuzzLimits: whatever parses is measured without panic and counts as the naive walk counts,
// validates without panic within the limits, and costs something in range.
func FuzzLimits(f *testing.F) {
	for _, seed := range []string{
		introspectionQuery,
		`{news(first:3){edges{node{...P}}}} fragment P on Post{id a:text author{news{nodes{...Q}}}} fragment Q on Node{id}`,
		`{...A ...B} fragment A on Query{...B ...B} fragment B on Query{viewer @skip(if:true) x:viewer}`,
		`{...A} fragment A on Query{...B} fragment B on Query{...A}`,
		`query($n:Int=3){posts(count:$n){id}} mutation{setText(text:"\u0000")} subscription{ticks(count:1){n}}`,
		`{nodes(ids:[1,"2",[3]]){id}} fragment A on Query{viewer} fragment A on Query{viewer}`,
		`{number(n:99999999999) ratio(x:1e999) color(c:RED) echo(input:{text:"""block"""})}`,
	} {
		f.Add(seed)
	}
	schema := testapi.NewExecutableSchema(testapi.Config{}).Schema()
	limits, rules := Limits{}.withDefaults(), newRules()
	f.Fuzz(func(t *testing.T, query string) {
		doc, refused := parseDocument(query, limits.MaxTokens)
		if refused != nil {
			return
		}
		total, refused := measure(doc, true)
		if refused != nil {
			return
		}
		if naive, ok := naiveFields(doc); ok && usesAllFragments(doc) && naive != total.fields {
			t.Fatalf("%d fields, counted %d", naive, total.fields)
		}
		if limits.check(doc) != nil || len(validator.ValidateWithRules(schema, doc, rules)) > 0 {
			return
		}
		for _, operation := range doc.Operations {
			variables, err := coerceVariables(schema, operation, map[string]any{})
			if err != nil {
				continue
			}
			if cost := limits.costOf(operation, variables).Requested; cost < 0 || cost > maxCost {
				t.Fatalf("costs %d", cost)
			}
		}
	})
}

// usesAllFragments reports whether the naive walk sees what measure sees: unused and duplicate
// fragments differ.
func usesAllFragments(doc *ast.QueryDocument) bool {
	used := map[string]bool{}
	var walk func(ast.SelectionSet)
	walk = func(set ast.SelectionSet) {
		for _, selection := range set {
			switch selection := selection.(type) {
			case *ast.Field:
				walk(selection.SelectionSet)
			case *ast.InlineFragment:
				walk(selection.SelectionSet)
			case *ast.FragmentSpread:
				if fragment := doc.Fragments.ForName(selection.Name); fragment != nil && !used[selection.Name] {
					used[selection.Name] = true
					walk(fragment.SelectionSet)
				}
			}
		}
	}
	for _, operation := range doc.Operations {
		walk(operation.SelectionSet)
	}
	return len(used) == len(doc.Fragments)
}

// naiveFields counts fields by expanding everything; ok is false when that is too much.
func naiveFields(doc *ast.QueryDocument) (count int, ok bool) {
	var walk func(ast.SelectionSet) bool
	walk = func(set ast.SelectionSet) bool {
		for _, selection := range set {
			var inside ast.SelectionSet
			switch selection := selection.(type) {
			case *ast.Field:
				count++
				inside = selection.SelectionSet
			case *ast.InlineFragment:
				inside = selection.SelectionSet
			case *ast.FragmentSpread:
				if fragment := doc.Fragments.ForName(selection.Name); fragment != nil {
					inside = fragment.SelectionSet
				}
			}
			if count > 100_000 || !walk(inside) {
				return false
			}
		}
		return true
	}
	for _, operation := range doc.Operations {
		if !walk(operation.SelectionSet) {
			return 0, false
		}
	}
	return count, true
}

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
		_, err := parseDocument(query, 1_000)
		if (err != nil) != refused {
			t.Errorf("%s: got %v, want refused %v", query, err, refused)
		}
	}
}
