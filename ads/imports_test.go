package ads_test

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestAdsDoNotImportTheSocialDomain ensures that posts and circles are never an input to the choice
// of ads: the package imports the standard library, ids, faults and pages, and no other part of
// Plaza.
func TestAdsDoNotImportTheSocialDomain(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 10 {
		t.Fatalf("found %d files, %v", len(files), err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(path, "/")
			leaf := path == "plaza/id" || path == "plaza/fault" || path == "plaza/paging"
			if !leaf && (first == "plaza" || strings.Contains(first, ".")) {
				t.Errorf("%s imports %s", name, path)
			}
		}
	}
}
