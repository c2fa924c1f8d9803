//go:build clients

package clients_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"plaza/internal/plazatest"
	"plaza/internal/testtime"
)

// TestProgramOfTheGuide runs the guide's Python program with the token that the guide creates.
func TestProgramOfTheGuide(t *testing.T) {
	guide, err := os.ReadFile("../../docs/guide.md")
	if err != nil {
		t.Fatal(err)
	}
	program := blockWith(t, string(guide), "python", "ROBOT_TOKEN")
	create := blockWith(t, string(guide), "graphql", "createAccessToken(")
	plaza := plazatest.Start(t, plazatest.Engines[0])
	ada := plaza.As(t, "ada")
	var created struct{ CreateAccessToken struct{ Token string } }
	ada.Do(t, create, nil, &created)

	ctx, cancel := context.WithTimeout(t.Context(), testtime.Patience())
	defer cancel()
	python := exec.CommandContext(ctx, filepath.Join(os.Getenv("PLAZA_CLIENTS_VENV"), "bin", "python"), "-c",
		strings.Replace(program, "http://localhost:8080", plaza.URL, 1))
	python.Env = append(os.Environ(), "ROBOT_TOKEN="+created.CreateAccessToken.Token)
	output, err := python.CombinedOutput()
	if err != nil || !strings.Contains(string(output), "post_") {
		t.Errorf("the program: %v: %s", err, output)
	}
	if wall := ada.Raw(t, `{ user(handle: "ada") { wall { nodes { text } } } }`); !strings.Contains(wall, "12 °C, light rain") {
		t.Errorf("ada's wall: %s", wall)
	}
}

// blockWith returns the code block in a language that contains a text.
func blockWith(t *testing.T, markdown, language, text string) string {
	t.Helper()
	for _, block := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(markdown, -1) {
		if strings.Contains(block[1], text) {
			return block[1]
		}
	}
	t.Fatalf("the guide has no %s with %s", language, text)
	return ""
}

// TestExamplesAreRun: every block of JavaScript in docs/frontends.md has a name, by which a program
// of this folder runs it.
func TestExamplesAreRun(t *testing.T) {
	guide, err := os.ReadFile("../../docs/frontends.md")
	if err != nil {
		t.Fatal(err)
	}
	programs, err := filepath.Glob("*.mjs")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, program := range programs {
		text, err := os.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(text)
	}
	blocks := regexp.MustCompile("(?m)^ *```js\\b(.*)$").FindAllStringSubmatch(string(guide), -1)
	for _, block := range blocks {
		name := strings.TrimSpace(block[1])
		if name == "" || !strings.Contains(code.String(), "await example('"+name+"'") {
			t.Errorf("no program runs the example %q", name)
		}
	}
	if len(blocks) == 0 {
		t.Error("the guide has no examples")
	}
}
