package api

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"plaza/internal/plazatest"
)

// page is what the guide's example finds in a browser, and a browser that follows a redirect.
const page = `
const stored = new Map();
globalThis.sessionStorage = { setItem: (k, v) => stored.set(k, v), getItem: (k) => stored.get(k) ?? null, removeItem: (k) => stored.delete(k) };
globalThis.history = { replaceState: (_, __, url) => { location.search = new URL(url).search; } };
globalThis.location = { origin: "https://app.example", pathname: "/", search: "", assign: (url) => { location.to = url; } };
`

const visit = `
import "./page.mjs";
import { begin, finish } from "./signin.mjs";
if (await finish() !== null) throw new Error("a sign-in that never began has finished");
await begin();
const back = new URL((await fetch(location.to, { redirect: "manual" })).headers.get("location"));
location.search = back.search;
console.log(await finish());
if (location.search !== "") throw new Error("the code is still in the address");
if (await finish() !== null) throw new Error("the sign-in has finished twice");
await begin();
back.searchParams.set("state", "forged");
location.search = back.search;
await finish().then(() => { throw new Error("a forged state is accepted"); }, (error) => console.log(error.message));
`

// TestPKCEExample runs the guide's sign-in of a single-page app in Node.js, against a provider.
func TestPKCEExample(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("needs Node.js")
	}
	guide, err := os.ReadFile("../../docs/guide.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)\n```js\n(const API.*?)\n```\n").FindSubmatch(guide)
	if block == nil {
		t.Fatal("the guide has no such example")
	}
	l := serveLobby(t, plazatest.Engines[0], true)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"page.mjs": page, "visit.mjs": visit, "signin.mjs": strings.ReplaceAll(string(block[1]), "http://127.0.0.1:8080", l.URL),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := exec.CommandContext(t.Context(), node, filepath.Join(dir, "visit.mjs"))
	var problems strings.Builder
	run.Stderr = &problems
	said, err := run.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, problems.String())
	}
	token, rest, _ := strings.Cut(string(said), "\n")
	if rest != "This answer belongs to another sign-in.\n" {
		t.Errorf("a forged state: %q", rest)
	}
	if mira := profileOf(t, plazatest.Person{URL: l.URL, Token: token}); mira.Handle != "mira" || mira.Name != "Mira" {
		t.Errorf("%+v is signed in", mira)
	}
}
