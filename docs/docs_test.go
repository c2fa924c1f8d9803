// Package docs_test checks the documents against the repository.
package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLinks: every relative link of every document leads to an existing file and heading.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, document := range documents(t) {
		for _, match := range link.FindAllStringSubmatch(read(t, document), -1) {
			path, anchor, _ := strings.Cut(match[1], "#")
			if strings.Contains(path, ":") {
				continue // another site
			}
			target := document
			if path != "" {
				target = filepath.Join(filepath.Dir(document), path)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s: there is no such file", document, match[1])
			} else if anchor != "" && !hasHeading(read(t, target), anchor) {
				t.Errorf("%s links to %s: there is no such heading", document, match[1])
			}
		}
	}
}

// TestDecisions: the records are numbered without gaps, and the index lists each with its title.
func TestDecisions(t *testing.T) {
	records, err := filepath.Glob("adr/[0-9]*.md")
	if err != nil || len(records) == 0 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	index := read(t, "adr/README.md")
	for i, record := range records {
		heading, _, _ := strings.Cut(read(t, record), "\n")
		title, ok := strings.CutPrefix(heading, fmt.Sprintf("# %d. ", i+1))
		if !ok {
			t.Errorf("%s begins with %q, and should with its number, %d", record, heading, i+1)
			continue
		}
		if row := fmt.Sprintf("| %d | [%s](%s) | ", i+1, title, filepath.Base(record)); !strings.Contains(index, row) {
			t.Errorf("adr/README.md lacks the row\n%s…", row)
		}
	}
}

func documents(t *testing.T) (paths []string) {
	t.Helper()
	for _, pattern := range []string{"*.md", "adr/*.md", "figures/*.md", "../*.md", "../web/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	return paths
}

// hasHeading looks for a heading whose anchor, by GitHub's rules, is the given one, or for an HTML
// anchor of that name.
func hasHeading(text, anchor string) bool {
	punctuation := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	for line := range strings.Lines(text) {
		if heading := strings.TrimLeft(line, "#"); heading != line {
			words := strings.ToLower(punctuation.ReplaceAllString(strings.TrimSpace(heading), ""))
			if strings.ReplaceAll(words, " ", "-") == anchor {
				return true
			}
		}
	}
	return strings.Contains(text, `id="`+anchor+`"`) || strings.Contains(text, `name="`+anchor+`"`)
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
