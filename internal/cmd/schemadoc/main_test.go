package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const (
	schemaDir = "../../../graph/schema"
	docsDir   = "../../../docs"
)

// TestPagesAreCurrent: both pages match the schema.
func TestPagesAreCurrent(t *testing.T) {
	pages, err := render(schemaDir, docsDir)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range pages {
		got, err := os.ReadFile(filepath.Join(docsDir, name))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("docs/%s does not match graph/schema: run go generate . and commit it", name)
		}
	}
}

// TestReferenceIsComplete: each type has a section in the reference or is described where it is
// used, each field has a row, and every link leads somewhere.
func TestReferenceIsComplete(t *testing.T) {
	s, err := load(schemaDir)
	if err != nil {
		t.Fatal(err)
	}
	reference := s.reference()
	for _, d := range s.Types {
		if d.BuiltIn || s.isRoot(d) || s.entryOf(d) != nil || s.isEdge(d) || s.isPayload(d) {
			continue
		}
		_, section, found := strings.Cut(reference, "\n### "+d.Name+"\n")
		section, _, _ = strings.Cut(section, "\n### ")
		if !found {
			t.Errorf("the reference has no %s", d.Name)
		}
		for _, f := range s.own(d) {
			if !strings.Contains(section, "| `"+f.Name) {
				t.Errorf("the reference has no %s.%s", d.Name, f.Name)
			}
		}
		for _, v := range d.EnumValues {
			if !strings.Contains(section, "| `"+v.Name+"`") {
				t.Errorf("the reference has no %s.%s", d.Name, v.Name)
			}
		}
	}
	for _, f := range append(s.Query.Fields, append(s.Mutation.Fields, s.Subscription.Fields...)...) {
		if !strings.HasPrefix(f.Name, "__") && !strings.Contains(reference, "| `"+f.Name) {
			t.Errorf("the reference has no operation %s", f.Name)
		}
	}
	overview, err := os.ReadFile(filepath.Join(docsDir, overviewFile))
	if err != nil {
		t.Fatal(err)
	}
	anchors := map[string]bool{}
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(reference, -1) {
		anchors[anchorOf(heading[1])] = true
	}
	for _, link := range regexp.MustCompile(`\((?:schema-reference\.md)?#([^)]*)\)`).FindAllStringSubmatch(reference+string(overview), -1) {
		if !anchors[link[1]] {
			t.Errorf("a link leads to #%s, which is not there", link[1])
		}
	}
}

// TestDiagramMatchesTheSchema: each line from one type to another is a field.
func TestDiagramMatchesTheSchema(t *testing.T) {
	s, err := load(schemaDir)
	if err != nil {
		t.Fatal(err)
	}
	overview, err := os.ReadFile(filepath.Join(docsDir, overviewFile))
	if err != nil {
		t.Fatal(err)
	}
	_, diagram, _ := strings.Cut(string(overview), "```mermaid\n")
	diagram, _, _ = strings.Cut(diagram, "```")
	lines := regexp.MustCompile(`(\w+) -- "?([\w, ]+)"? --> (\w+)\n`).FindAllStringSubmatch(diagram, -1)
	if len(lines) < 10 || len(lines) != strings.Count(diagram, "-->") {
		t.Fatalf("%d of %d lines are understood", len(lines), strings.Count(diagram, "-->"))
	}
	for _, line := range lines {
		from := s.Types[line[1]]
		if from == nil {
			t.Errorf("there is no %s", line[1])
			continue
		}
		for name := range strings.SplitSeq(strings.TrimSpace(line[2]), ", ") {
			f := from.Fields.ForName(name)
			if f == nil {
				t.Errorf("%s has no %s", line[1], name)
			} else if to, _ := s.target(f); to.Name != line[3] {
				t.Errorf("%s.%s leads to %s, not to %s", line[1], name, to.Name, line[3])
			}
		}
	}
}

// anchorOf returns the anchor that GitHub gives a heading.
func anchorOf(heading string) string {
	return strings.ReplaceAll(regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

// TestStalePagesAreFound: a new field in the schema changes the reference, and a new file needs a
// place in the overview.
func TestStalePagesAreFound(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const page = "# Schema\n\n<!-- begin user -->\nold\n<!-- end user -->\n"
	write("schema.md", page)
	write("user.graphqls", "type Query { user(handle: String!): User }\n\"A person. More.\"\ntype User { \"Who.\" name: String! friend: User }\ntype Mutation { no: Int }\ntype Subscription { no: Int }")
	pages, err := render(dir, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| [User](schema-reference.md#user) | A person | `friend` → User |", "[Read](schema-reference.md#query-user): `user`."} {
		if !strings.Contains(pages["schema.md"], want) || strings.Contains(pages["schema.md"], "old") {
			t.Errorf("the overview does not say %q:\n%s", want, pages["schema.md"])
		}
	}
	if want := "| `name` | `String!` | Who. |"; !strings.Contains(pages["schema-reference.md"], want) {
		t.Errorf("the reference does not say %q:\n%s", want, pages["schema-reference.md"])
	}
	write("post.graphqls", "type Post { text: String! }")
	if _, err := render(dir, dir); err == nil || !strings.Contains(err.Error(), "does not mention post.graphqls") {
		t.Errorf("a new noun is not missed: %v", err)
	}
	write("schema.md", page+"<!-- begin post -->\n<!-- end post -->\n<!-- begin gone -->\n<!-- end gone -->\n")
	if _, err := render(dir, dir); err == nil || !strings.Contains(err.Error(), "begin gone") {
		t.Errorf("a noun that is gone is not missed: %v", err)
	}
}
