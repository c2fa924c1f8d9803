package docs_test

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
)

func schema(t *testing.T) *ast.Schema {
	t.Helper()
	files, err := filepath.Glob("../graph/schema/*.graphqls")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var sources []*ast.Source
	for _, file := range files {
		sources = append(sources, &ast.Source{Name: file, Input: read(t, file)})
	}
	return gqlparser.MustLoadSchema(sources...)
}

// TestOperations: every operation of every document is valid.
func TestOperations(t *testing.T) {
	api, operations := schema(t), 0
	block := regexp.MustCompile("(?s)\n```graphql\n(.*?)\n```\n")
	for _, document := range documents(t) {
		for _, match := range block.FindAllStringSubmatch(read(t, document), -1) {
			query, err := parser.ParseQuery(&ast.Source{Input: match[1]})
			if err != nil {
				t.Errorf("%s: %v in\n%s", document, err, match[1])
				continue
			}
			for _, operation := range query.Operations { // a block may have several operations without a name
				operations++
				alone := &ast.QueryDocument{Operations: ast.OperationList{operation}, Fragments: query.Fragments}
				if mistakes := validator.ValidateWithRules(api, alone, nil); len(mistakes) > 0 {
					t.Errorf("%s: %v in\n%s", document, mistakes, match[1])
				}
			}
		}
	}
	if operations < 10 {
		t.Errorf("found %d operations", operations)
	}
}

// TestFrontends: the lists for clients' caches match the schema.
func TestFrontends(t *testing.T) {
	api := schema(t)
	mustList(t, "possibleTypes", possibleTypes(api))
	mustList(t, "keyless", keyless(api))
	mustList(t, "keyArgs", keyArgs(api))
}

// mustList compares the JSON of a block in frontends.md.
func mustList[T any](t *testing.T, name string, want T) {
	t.Helper()
	block := regexp.MustCompile("(?s)\n```json " + name + "\n(.*?)\n```\n").FindStringSubmatch(read(t, "frontends.md"))
	if block == nil {
		t.Fatalf("frontends.md has no block %s", name)
	}
	var got T
	if err := json.Unmarshal([]byte(block[1]), &got); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s in frontends.md differs from the schema (-schema +document):\n%s", name, diff)
	}
}

// possibleTypes returns the objects of each interface.
func possibleTypes(api *ast.Schema) map[string][]string {
	possible := map[string][]string{}
	for name, d := range api.Types {
		if d.Kind != ast.Interface {
			continue
		}
		for _, each := range api.GetPossibleTypes(d) {
			if each.Kind == ast.Object {
				possible[name] = append(possible[name], each.Name)
			}
		}
		slices.Sort(possible[name])
	}
	return possible
}

// keyless returns the objects that a cache embeds: they have no id, and are not roots, nor parts of
// lists, nor answers to mutations and subscriptions.
func keyless(api *ast.Schema) []string {
	var names []string
	parts := regexp.MustCompile(`(Payload|Connection|Edge|Added|Changed)$`)
	for _, name := range slices.Sorted(maps.Keys(api.Types)) {
		d := api.Types[name]
		isRoot := d == api.Query || d == api.Mutation || d == api.Subscription
		if d.Kind == ast.Object && !d.BuiltIn && !isRoot && !parts.MatchString(name) && d.Fields.ForName("id") == nil {
			names = append(names, name)
		}
	}
	return names
}

// keyArgs returns the arguments of each list except those for its pages; a list of an interface is
// named by the interface alone.
func keyArgs(api *ast.Schema) map[string][]string {
	lists := map[string][]string{}
	for name, d := range api.Types {
		for _, field := range d.Fields {
			if !strings.HasSuffix(field.Type.Name(), "Connection") || slices.ContainsFunc(d.Interfaces, func(i string) bool { return api.Types[i].Fields.ForName(field.Name) != nil }) {
				continue
			}
			others := []string{}
			for _, argument := range field.Arguments {
				if !slices.Contains([]string{"first", "after", "last", "before"}, argument.Name) {
					others = append(others, argument.Name)
				}
			}
			lists[name+"."+field.Name] = others
		}
	}
	return lists
}
