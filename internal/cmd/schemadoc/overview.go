package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// overview returns the page with its generated parts updated: those between "begin" and "end" of
// each noun.
func (s *schema) overview(page string) (string, error) {
	for _, noun := range s.nouns {
		begin, end := "<!-- begin "+noun+" -->\n", "<!-- end "+noun+" -->\n"
		head, rest, found := strings.Cut(page, begin)
		_, tail, ended := strings.Cut(rest, end)
		if !found || !ended {
			return "", fmt.Errorf("docs/%s does not mention %s.graphqls: add a section about it with %q and %q", overviewFile, noun, begin, end)
		}
		page = head + begin + s.summary(noun) + end + tail
	}
	for line := range strings.Lines(page) {
		noun, found := strings.CutPrefix(strings.TrimSpace(line), "<!-- begin ")
		if found && !slices.Contains(s.nouns, strings.TrimSuffix(noun, " -->")) {
			return "", fmt.Errorf("docs/%s has %q, and there is no such file in the schema", overviewFile, strings.TrimSpace(line))
		}
	}
	return page, nil
}

// summary describes a noun's types, where they lead, and how to read and change them.
func (s *schema) summary(noun string) string {
	var out strings.Builder
	var rows []string
	for _, d := range s.typesOf(noun) {
		if s.isRoot(d) || s.entryOf(d) != nil || s.isEdge(d) || s.isPayload(d) || d.Kind != ast.Object && d.Kind != ast.Interface && d.Kind != ast.Union {
			continue
		}
		sentence, _, _ := strings.Cut(oneLine(d.Description), ". ")
		rows = append(rows, fmt.Sprintf("| %s | %s | %s |\n", s.there(d.Name), strings.TrimSuffix(sentence, "."), s.relations(d)))
	}
	if len(rows) > 0 {
		out.WriteString("\n| type | what it is | leads to |\n| --- | --- | --- |\n" + strings.Join(rows, ""))
	}
	for _, root := range []struct {
		verb string
		*ast.Definition
	}{{"Read", s.Query}, {"Change", s.Mutation}, {"Follow live", s.Subscription}} {
		var names []string
		for _, f := range fieldsIn(noun, root.Definition) {
			names = append(names, "`"+f.Name+"`")
		}
		if len(names) > 0 {
			fmt.Fprintf(&out, "\n[%s](%s#%s-%s): %s.\n", root.verb, referenceFile, strings.ToLower(root.Name), noun, strings.Join(names, ", "))
		}
	}
	return out.String()
}

// relations returns the fields of a type that lead to other objects.
func (s *schema) relations(d *ast.Definition) string {
	var all []string
	for _, f := range s.own(d) {
		to, many := s.target(f)
		switch {
		case to.Kind != ast.Object && to.Kind != ast.Interface && to.Kind != ast.Union:
		case many:
			all = append(all, fmt.Sprintf("%#q → [%s]", f.Name, to.Name))
		default:
			all = append(all, fmt.Sprintf("%#q → %s", f.Name, to.Name))
		}
	}
	return strings.Join(all, ", ")
}

// target returns where a field leads: to the entries of a connection, or of a list.
func (s *schema) target(f *ast.FieldDefinition) (to *ast.Definition, many bool) {
	to = s.Types[f.Type.Name()]
	if entry := s.entryOf(to); entry != nil {
		return entry, true
	}
	return to, f.Type.Elem != nil
}

// there returns a link to a type's section from another page.
func (*schema) there(name string) string {
	return fmt.Sprintf("[%s](%s#%s)", name, referenceFile, strings.ToLower(name))
}
