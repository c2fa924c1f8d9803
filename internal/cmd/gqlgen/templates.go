package main

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing/fstest"
)

// own are the templates that replace gqlgen's: how an object is executed, and how a field is.
//
//go:embed *.gotpl
var own embed.FS

// rootTemplate is the template of the code that all files share.
const rootTemplate = "root_.gotpl"

// rootChanges are changes to it. Each text must occur that many times: another version of gqlgen
// may need other changes.
var rootChanges = []struct {
	old, now string
	times    int
}{
	// An answer has a maximum length, and a panic while it is encoded is an error of the operation.
	{`var buf bytes.Buffer`, `var buf answer.Buffer`, 3},
	{`data.MarshalGQL(&buf)`, `buf.Encode(ctx, opCtx, data)`, 3},
	{`{{ reserveImport "bytes"  }}`, `{{ reserveImport "plaza/graph/answer" }}`, 1},
	// An operation stores what its selections select. It has no deferred parts.
	{"\tec := executionContext{nil, e, 0, 0, nil}\n\t_ = ec\n", ``, 1},
	{`executionContext{opCtx, e, 0, 0, make(chan graphql.DeferredResult)}`, `executionContext{OperationContext: opCtx, executableSchema: e, selections: answer.SelectionsOf(opCtx)}`, 1},
	{"\t*executableSchema\n", "\t*executableSchema\n\tselections *answer.Selections\n", 1},
	// Resolvers do not read inputs by their Go types.
	{`ctx = graphql.WithUnmarshalerMap(ctx, inputUnmarshalMap)`, ``, 2},
	{"inputUnmarshalMap := graphql.BuildUnmarshalerMap(", "{{/*", 1},
	{"\t\t{{- end }}\n\t)\n\tfirst := true", "*/}}\n\tfirst := true", 1},
}

// allTemplates returns gqlgen's templates, in the version that go.mod names, with Plaza's.
func allTemplates(ctx context.Context) (fs.FS, error) {
	dir, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/99designs/gqlgen").Output()
	if err != nil {
		return nil, fmt.Errorf("gqlgen's source was not found: %w", err)
	}
	all := fstest.MapFS{}
	for _, from := range []fs.FS{os.DirFS(filepath.Join(strings.TrimSpace(string(dir)), "codegen")), own} {
		names, err := fs.Glob(from, "*.gotpl")
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			text, err := fs.ReadFile(from, name)
			if err != nil {
				return nil, err
			}
			all[name] = &fstest.MapFile{Data: text}
		}
	}
	root, err := changed(string(all[rootTemplate].Data))
	all[rootTemplate].Data = []byte(root)
	return all, err
}

// changed applies the rootChanges.
func changed(text string) (string, error) {
	for _, c := range rootChanges {
		if n := strings.Count(text, c.old); n != c.times {
			return "", fmt.Errorf("gqlgen's %s has %q %d times, want %d: look at what has changed there", rootTemplate, c.old, n, c.times)
		}
		text = strings.ReplaceAll(text, c.old, c.now)
	}
	return text, nil
}
