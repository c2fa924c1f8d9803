package ads_test

import (
	"errors"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestAdsDoNotImportTheSocialDomain ensures that posts and circles are never an input to the choice
// of ads: its packages import the standard library, ids, faults, pages, retries and each other, and
// no other part of Plaza.
func TestAdsDoNotImportTheSocialDomain(t *testing.T) {
	files, err := filepath.Glob("*.go")
	server, serverErr := filepath.Glob("adserver/*.go")
	if err := errors.Join(err, serverErr); err != nil || len(files) < 10 || len(server) < 10 {
		t.Fatalf("found %d and %d files, %v", len(files), len(server), err)
	}
	for _, name := range append(files, server...) {
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
			isAllowed := slices.Contains([]string{"plaza/id", "plaza/fault", "plaza/paging", "plaza/retry", "plaza/ads"}, path)
			if !isAllowed && (first == "plaza" || strings.Contains(first, ".")) {
				t.Errorf("%s imports %s", name, path)
			}
		}
	}
}
