package cli

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"plaza/internal/plazatest"
	"plaza/storage"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// idleSettingsOf returns the settings without effect of a server with these arguments.
func idleSettingsOf(t *testing.T, e plazatest.Engine, args ...string) string {
	t.Helper()
	var cli commandLine
	parser, err := kong.New(&cli)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse(args); err != nil {
		t.Fatal(err)
	}
	if e.Name != "sqlite" {
		cli.MongodbURI = "mongodb://the.engine"
	}
	st := e.Open(t)
	defer func() { _ = st.Close() }()
	idle, err := cli.Serve.idleSettings(t.Context(), &cli.commonFlags, st)
	if err != nil {
		t.Error(err)
	}
	return strings.Join(idle, ", ")
}

func TestSettingsWithoutEffect(t *testing.T) {
	embedded := plazatest.Engines[0]
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
		e := plazatest.Engine{Name: "mongodb", Open: func(t testing.TB) storage.Store {
			return plazatest.OpenMongoDB(t, mongotest.Reused(t), mongodb.Options{Feeds: layout})
		}}
		if got := idleSettingsOf(t, e, "--feeds", layout, "--feeds-merge-above", "5"); got != want {
			t.Errorf("feeds %s: it says %q, want %q", layout, got, want)
		}
	}
}
