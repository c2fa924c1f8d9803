// Command boundanswers makes gqlgen's generated code write answers into an answer.Buffer, which is
// bounded: gqlgen has neither an option nor a plugin hook for the buffer. go generate runs it after
// gqlgen, with the file that executes operations.
package main

import (
	"bytes"
	"fmt"
	"os"
)

func main() {
	if err := rewrite(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "boundanswers:", err)
		os.Exit(1)
	}
}

func rewrite(file string) error {
	code, err := os.ReadFile(file) //nolint:gosec // the file that go generate names
	if err != nil {
		return err
	}
	const buffers = 3 // of queries, mutations and subscriptions
	if got := bytes.Count(code, []byte("var buf bytes.Buffer")); got != buffers || bytes.Count(code, []byte("bytes.")) != buffers {
		return fmt.Errorf("%s has %d buffers, want %d: look at what gqlgen generates now", file, got, buffers)
	}
	code = bytes.ReplaceAll(code, []byte("var buf bytes.Buffer"), []byte("var buf answer.Buffer"))
	code = bytes.Replace(code, []byte("\t\"bytes\"\n"), nil, 1)
	code = bytes.Replace(code, []byte("gqlparser/v2/ast\"\n"), []byte("gqlparser/v2/ast\"\n\n\t\"plaza/graph/answer\"\n"), 1)
	return os.WriteFile(file, code, 0o644) //nolint:gosec // as above; a source file is readable
}
