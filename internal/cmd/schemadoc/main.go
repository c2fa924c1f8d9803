// Command schemadoc writes the generated parts of docs/schema.md, an overview by noun, and all of
// docs/schema-reference.md from the GraphQL schema. It is run by go generate, in the repository's
// root:
//
//	go run ./internal/cmd/schemadoc graph/schema docs
//
// It fails where a file of the schema has no place in the overview, or a place has no file.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
)

const (
	overviewFile  = "schema.md"
	referenceFile = "schema-reference.md"
)

func main() {
	if err := generate(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "schemadoc:", err)
		os.Exit(1)
	}
}

// generate updates both pages.
func generate(schemaDir, docsDir string) error {
	pages, err := render(schemaDir, docsDir)
	if err != nil {
		return err
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(docsDir, name), []byte(text), 0o644); err != nil { //nolint:gosec // pages are readable
			return err
		}
	}
	return nil
}

// render returns the pages, by the names of their files.
func render(schemaDir, docsDir string) (map[string]string, error) {
	s, err := load(schemaDir)
	if err != nil {
		return nil, err
	}
	old, err := os.ReadFile(filepath.Join(docsDir, overviewFile)) //nolint:gosec // the folder that go generate names
	if err != nil {
		return nil, err
	}
	overview, err := s.overview(string(old))
	if err != nil {
		return nil, err
	}
	return map[string]string{overviewFile: overview, referenceFile: s.reference()}, nil
}

// schema is the GraphQL schema, with its files: one for each noun.
type schema struct {
	*ast.Schema

	nouns []string // names of files, without .graphqls
}

func load(dir string) (*schema, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.graphqls"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("there is no schema in %s (%w)", dir, err)
	}
	s := &schema{}
	var sources []*ast.Source
	for _, file := range files {
		text, err := os.ReadFile(file) //nolint:gosec // the folder that go generate names
		if err != nil {
			return nil, err
		}
		noun := strings.TrimSuffix(filepath.Base(file), ".graphqls")
		s.nouns = append(s.nouns, noun)
		sources = append(sources, &ast.Source{Name: noun, Input: string(text)})
	}
	s.Schema, err = gqlparser.LoadSchema(sources...)
	return s, err
}

// typesOf returns a noun's types, in the order in which they were written.
func (s *schema) typesOf(noun string) []*ast.Definition {
	var all []*ast.Definition
	for _, d := range s.Types {
		if !d.BuiltIn && d.Position.Src.Name == noun {
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b *ast.Definition) int { return a.Position.Line - b.Position.Line })
	return all
}

// fieldsIn returns the fields of a root that are in the file of a noun.
func fieldsIn(noun string, root *ast.Definition) ast.FieldList {
	var all ast.FieldList
	for _, f := range root.Fields {
		if f.Position != nil && f.Position.Src.Name == noun {
			all = append(all, f)
		}
	}
	return all
}

// isRoot reports whether a type is one of those that operations begin with.
func (s *schema) isRoot(d *ast.Definition) bool {
	return d == s.Query || d == s.Mutation || d == s.Subscription
}

// entryOf returns the type of a connection's entries; nil if d is not a connection, or has more
// fields than connections always have.
func (s *schema) entryOf(d *ast.Definition) *ast.Definition {
	if d == nil || !strings.HasSuffix(d.Name, "Connection") || len(d.Fields) != 3 {
		return nil
	}
	nodes := d.Fields.ForName("nodes")
	if nodes == nil || d.Fields.ForName("edges") == nil || d.Fields.ForName("pageInfo") == nil {
		return nil
	}
	return s.Types[nodes.Type.Name()]
}

// isEdge reports whether d is the edge of a connection, and nothing more.
func (s *schema) isEdge(d *ast.Definition) bool {
	name, found := strings.CutSuffix(d.Name, "Edge")
	return found && len(d.Fields) == 2 && s.entryOf(s.Types[name+"Connection"]) != nil
}

// isPayload reports whether d is the result of a mutation.
func (s *schema) isPayload(d *ast.Definition) bool {
	return d.Kind == ast.Object && d.Fields.ForName("userErrors") != nil
}

// contract returns the interface, other than Node, whose fields an object has.
func (s *schema) contract(d *ast.Definition) *ast.Definition {
	for _, name := range d.Interfaces {
		if i := s.Types[name]; d.Kind == ast.Object && len(i.Fields) > 1 {
			return i
		}
	}
	return nil
}

// own returns the fields of a type that its interface does not have.
func (s *schema) own(d *ast.Definition) ast.FieldList {
	contract := s.contract(d)
	if contract == nil {
		return d.Fields
	}
	return slices.DeleteFunc(slices.Clone(d.Fields), func(f *ast.FieldDefinition) bool { return contract.Fields.ForName(f.Name) != nil })
}
