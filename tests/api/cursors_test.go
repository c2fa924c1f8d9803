package api

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"plaza/internal/plazatest"
)

// TestCursorsBelongToTheirList passes the cursors of every list of the schema to every list: those
// of another field, another owner, another order or another filter. A list accepts only its own
// cursors.
func TestCursorsBelongToTheirList(t *testing.T) {
	t.Parallel()
	w := newWorld(t, plazatest.Start(t, plazatest.Engines[0]))
	lists := w.lists()
	cursors := map[string]string{}
	for _, list := range lists {
		raw := w.act(t, "ada", fmt.Sprintf(list, "first: 1"))
		if _, rest, ok := strings.Cut(raw, `"cursor":"`); ok {
			cursors[list], _, _ = strings.Cut(rest, `"`)
		}
	}
	if len(cursors) < 30 {
		t.Fatalf("only %d lists have entries", len(cursors))
	}
	for _, list := range lists {
		for from, cursor := range cursors {
			after := verdictOf(t, w.ada, w.named(fmt.Sprintf(list, fmt.Sprintf("first: 1, after: %q", cursor))), nil, "")
			if from != list {
				after.check(t, from+" in "+list, "BAD_USER_INPUT", "after")
			} else if after.code != "" {
				t.Errorf("%s refuses its own cursor: %s", list, after.raw)
			}
		}
	}
}

// lists returns operations that read each list of the schema, for several owners and in several
// orders. %s is replaced by the bounds.
func (w *world) lists() []string {
	ways := map[string][]string{
		"User":    {`{ user(handle: "ada") { %s } }`},
		"Circle":  {`{ node(id: "$following") { ... on Circle { %s } } }`},
		"Comment": {`{ node(id: "$tombstone") { ... on Comment { %s } } }`},
	}
	for of, way := range w.ways() {
		ways[of] = append(ways[of], way)
	}
	variants := map[string][]string{
		"wall":        {`, view: ALL`, `, view: FOLLOWED`},
		"comments":    {`, order: OLDEST`, `, order: NEWEST`, `, order: THREADED`},
		"usersByName": {`, startsWith: "a"`, `, startsWith: "b"`},
		"users":       {`, where: [{key: "city", equals: "Ulm"}]`, `, where: [{key: "shirt", equals: "M"}]`, `, where: [{key: "city", in: ["Ulm"]}]`},
	}
	var lists []string
	for _, of := range slices.Sorted(maps.Keys(ways)) {
		def := schema.Types[of]
		for _, field := range def.Fields {
			if def.Kind != ast.Object || field.Arguments.ForName("after") == nil {
				continue
			}
			filters := []string{w.beside(def, field, "")}
			if own := variants[field.Name]; own != nil && of != "User" {
				filters = own
			}
			for _, way := range ways[of] {
				for _, filter := range filters {
					lists = append(lists, w.named(fmt.Sprintf(way, field.Name+`(%s`+filter+`) { edges { cursor } }`)))
				}
			}
		}
	}
	return lists
}
