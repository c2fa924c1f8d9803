package document

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"

	"plaza/transport/internal/testapi"
)

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
		{"connection, no entries", `{news(first:7){pageInfo{hasNextPage}}}`, nil, 1 + 7},
		{"connection, no fields", `{news(first:7){nodes{__typename}}}`, nil, 1 + 1 + 7},
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

// TestCostOfBeginnings: what a subscription reads before its first item is a cost of its own, and
// not a part of what each item costs.
func TestCostOfBeginnings(t *testing.T) {
	t.Parallel()
	schema := gqlparser.MustLoadSchema(&ast.Source{Input: `type Query { comments(postIds: [ID!], after: String): Change }
		type Subscription { postChanged(postIds: [ID!]!, current: Boolean): Change commentAdded(postId: ID!, after: String): Change }
		type Change { event: String comments(postIds: [ID!], after: String): Change }`})
	limits := Limits{}.withDefaults()
	for query, want := range map[string]Cost{
		`subscription { postChanged(postIds: ["a", "b", "c"]) { event } }`:                                    {Requested: 2, Beginning: 3},
		`subscription($many: [ID!]!) { postChanged(postIds: $many) { event } }`:                               {Requested: 2, Beginning: 100},
		`subscription { ...F } fragment F on Subscription { postChanged(postIds: "a") { event } }`:            {Requested: 2, Beginning: 1},
		`subscription { commentAdded(postId: "a", after: "b") { event } }`:                                    {Requested: 2, Beginning: 20},
		`subscription($cursor: String) { commentAdded(postId: "a", after: $cursor) { event } }`:               {Requested: 2, Beginning: 20},
		`subscription($none: String) { commentAdded(postId: "a", after: $none) { event } }`:                   {Requested: 2},
		`subscription { commentAdded(postId: "a", after: null) { event } }`:                                   {Requested: 2},
		`subscription { commentAdded(postId: "a") { event comments(postIds: ["a"], after: "b") { event } } }`: {Requested: 4},
		`{ comments(postIds: ["a"], after: "b") { event } }`:                                                  {Requested: 2},
	} {
		doc, err := parser.ParseQuery(&ast.Source{Input: query})
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		if errs := validator.ValidateWithRules(schema, doc, newRules()); len(errs) > 0 {
			t.Fatalf("%s: %v", query, errs)
		}
		got := limits.costOf(doc.Operations[0], map[string]any{"many": make([]any, 1000), "cursor": "b", "none": nil})
		if want.Maximum = limits.MaxCost; got != want {
			t.Errorf("%s: costs %+v, want %+v", query, got, want)
		}
	}
}

// TestRepeatsAreRefusedBeforeValidation: what validation would compare or walk again and again is
// refused by what a document has, and not by what it takes. Without these limits validation takes
// between 0.1 and 45 s.
func TestRepeatsAreRefusedBeforeValidation(t *testing.T) {
	nested := func(n int, inside string) string {
		return "{" + strings.Repeat("...{", n) + inside + strings.Repeat("}", n) + "}"
	}
	chain := func(n int) string {
		var b strings.Builder
		b.WriteString("{...F1}")
		for i := 1; i < n; i++ {
			fmt.Fprintf(&b, " fragment F%d on Query{viewer ...F%d}", i, i+1)
		}
		fmt.Fprintf(&b, " fragment F%d on Query{viewer}", n)
		return b.String()
	}
	const onPosts = " fragment A on Post{id text author{id}} fragment B on Post{id text author{id}}"
	cases := []struct{ limit, fits, exceeds string }{
		{"repeats", "{" + strings.Repeat("viewer ", 100) + "}", "{" + strings.Repeat("viewer ", 101) + "}"},
		{"repeats", "{viewer " + strings.Repeat("...{viewer} ", 99) + "}", "{viewer " + strings.Repeat("...{viewer} ", 100) + "}"},
		{"repeats", "{posts{id} posts{id}}", "{" + strings.Repeat("posts{id} ", 72) + "nothing}"},
		{"repeats", "", "{" + strings.Repeat("posts{"+strings.Repeat("id ", 12)+"} ", 12) + "}"},
		{"repeats", "{posts{...A ...B}}" + onPosts, "{" + strings.Repeat("posts{...A ...B} ", 50) + "}" + onPosts},
		{"repeats", "", "{...F " + strings.Repeat("...G ", 101) + "} fragment F on Query{viewer} fragment G on Query{viewer}"},
		{"repeats", "", "{viewer} fragment F on Query{" + strings.Repeat("viewer ", 101) + "}"},
		{"fragmentDepth", nested(16, "viewer"), nested(17, "viewer")},
		{"fragmentDepth", chain(16), chain(17)},
		{"fragmentDepth", "", "{posts{" + strings.Repeat("...{...{author{news{nodes{", 3) + nested(11, "id")[1:] + strings.Repeat("}}}}}", 3) + "}"},
		{"values", "{nodes(ids:[" + strings.Repeat("1 ", 1900) + "]){id}}", "query A{...F} query B{...F} fragment F on Query{nodes(ids:[" + strings.Repeat("1 ", 1000) + "]){id}}"},
		{"values", "", "query A{...F} query B{...F} fragment F on Query{viewer @skip(if:[" + strings.Repeat("1 ", 1000) + "])}"},
	}
	limits := Limits{}.withDefaults()
	for _, c := range cases {
		for query, limit := range map[string]string{c.fits: "", c.exceeds: c.limit} {
			if query == "" {
				continue
			}
			doc, err := parse(query, limits.MaxTokens)
			if err != nil {
				t.Fatalf("%.200s: %v", query, err)
			}
			got := ""
			if err := limits.check(doc); err != nil {
				got, _ = err.Extensions["limit"].(string)
			}
			if got != limit {
				t.Errorf("%.200s: refused for its %q, want %q", query, got, limit)
			}
		}
	}
}

// FuzzLimits: measuring any document that parses does not panic and agrees with the naive count;
// within the limits, validation does not panic either, and the cost is in range.
func FuzzLimits(f *testing.F) {
	for _, seed := range []string{
		testapi.IntrospectionQuery,
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
		doc, refused := parse(query, limits.MaxTokens)
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
