package main

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"plaza/storage"
	"plaza/storage/mongodb"
)

// idleSettingsOf are those of a server with these arguments on the engine's database.
func idleSettingsOf(t *testing.T, e engine, args ...string) string {
	t.Helper()
	var cli commandLine
	parser, err := kong.New(&cli)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse(args); err != nil {
		t.Fatal(err)
	}
	if e.name != "sqlite" {
		cli.MongodbURI = "mongodb://the.engine"
	}
	st := e.open(t)
	defer func() { _ = st.Close() }()
	idle, err := cli.Serve.idleSettings(t.Context(), &cli, st)
	if err != nil {
		t.Error(err)
	}
	return strings.Join(idle, ", ")
}

func TestSettingsWithoutEffect(t *testing.T) {
	embedded := engines[0]
	for args, want := range map[string]string{
		"": "",
		"--comments pages --feeds month --graph two":     "--comments (for MongoDB), --feeds (for MongoDB), --graph (for MongoDB)",
		"--feeds-merge-above 10000 --news-ads-every 8":   "",
		"--feeds-merge-above 5":                          "--feeds-merge-above (for feeds in the layout hybrid)",
		"--news-ads-every 5":                             "--news-ads-every (needs --news-ads)",
		"--news-ads-every 5 --news-ads example.org/news": "",
	} {
		if got := idleSettingsOf(t, embedded, strings.Fields(args)...); got != want {
			t.Errorf("%s: it says %q, want %q", args, got, want)
		}
	}
	for layout, want := range map[string]string{
		mongodb.FeedsRead:   "--feeds-merge-above (for feeds in the layout hybrid)",
		mongodb.FeedsHybrid: "",
	} {
		e := engine{"mongodb", func(t testing.TB) storage.Store {
			return openMongoDB(t, pooledURI(t, layout), mongodb.Options{Feeds: layout})
		}}
		if got := idleSettingsOf(t, e, "--feeds", layout, "--feeds-merge-above", "5"); got != want {
			t.Errorf("feeds %s: it says %q, want %q", layout, got, want)
		}
	}
}

// TestServersWarnOfSettings starts one, as a process.
func TestServersWarnOfSettings(t *testing.T) {
	command, _, stderr := plazaCommand(t.Context(), t.TempDir(), "serve", "--addr", takenAddress(t), "--feeds", "month")
	_ = command.Run()
	if n := strings.Count(stderr.String(), `"level":"WARN","msg":"some settings have no effect","settings":"--feeds (for MongoDB)"`); n != 1 {
		t.Errorf("it warns %d times, and says %s", n, stderr)
	}
}

// TestUnknownLayoutsAreRefused: also where the embedded database has but one, and before anything is made.
func TestUnknownLayoutsAreRefused(t *testing.T) {
	for _, args := range [][]string{{"serve", "--addr", "127.0.0.1:0"}, {"rights"}} {
		command, _, stderr := plazaCommand(t.Context(), t.TempDir(), args...)
		command.Env = append(command.Env, "PLAZA_FEEDS=foo")
		_ = command.Run()
		want := "plaza: there is no layout \"foo\" of feeds: choose bucket or hybrid or month or read\n"
		if code := command.ProcessState.ExitCode(); code != 1 || stderr.String() != want {
			t.Errorf("plaza %q: exit code %d, says %q, want %q", args, code, stderr, want)
		}
	}
}

// TestUsageMistakes: the mistake, and how to get help; not the help.
func TestUsageMistakes(t *testing.T) {
	for args, help := range map[string]string{
		"ads import nofile.yaml":                "plaza ads import --help",
		"migrate comments --to pages --rate -1": "plaza migrate comments --help",
		"serve --news-ads foo":                  "plaza serve --help",
		"nonsense":                              "plaza --help",
		"work":                                  "plaza work --help",
	} {
		command, stdout, stderr := plazaCommand(t.Context(), t.TempDir(), strings.Fields(args)...)
		_ = command.Run()
		said := strings.SplitAfter(stderr.String(), "\n")
		if code := command.ProcessState.ExitCode(); code != 80 || stdout.Len() > 0 || len(said) != 3 ||
			!strings.HasPrefix(said[0], "plaza: ") || said[1] != help+" says how it is used.\n" {
			t.Errorf("plaza %s: exit code %d, says %q and %q, want %q", args, code, stdout, stderr, help)
		}
	}
}
