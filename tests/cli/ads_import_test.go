package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plaza/adfile"
	"plaza/ads/adserver"
	"plaza/internal/plazatest"
)

// docsFile returns the file that docs/ads.md shows, in YAML or CSV.
func docsFile(t *testing.T, language string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/ads.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```"+language+"\n")
	file, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatalf("docs/ads.md has no %s", language)
	}
	return file
}

// TestAdsImportCommandRefuses imports the files of docs/ads.md, first with one mistake each and
// then unchanged. The refused imports add nothing.
func TestAdsImportCommandRefuses(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	for _, c := range []struct{ name, language, old, replaced, says string }{
		{"ads.yaml", "yaml", "[example.org/sidebar]", "[other.org/sidebar]", `line 22: units.0.zones.0: There is no zone "other.org/sidebar".`},
		{"ads.csv", "csv", "2.50,example.org/sidebar", "2.50,other.org/sidebar", `line 5: zones: There is no zone "other.org/sidebar".`},
		{"ads.yaml", "yaml", "", "", ""},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		if err := os.WriteFile(path, []byte(strings.Replace(docsFile(t, c.language), c.old, c.replaced, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		command, stdout, stderr := plazatest.Command(t.Context(), data, "ads", "import", path)
		err := command.Run()
		out, message := "4 added, 0 changed, 0 unchanged\n", ""
		if c.says != "" {
			out, message = "", "plaza: "+path+": "+c.says+"\n"
		}
		if stdout.String() != out || stderr.String() != message || (err == nil) != (c.says == "") {
			t.Errorf("%s with %q: %v, says %q and %q, want %q and %q", c.name, c.replaced, err, stdout, stderr, out, message)
		}
	}
}

func TestAdsImportChecksFirstOnAllEngines(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		st := e.Open(t)
		defer st.Close()
		service, good := adserver.New(st.Ads(), adserver.Options{}), docsFile(t, "yaml")
		load := func(text string) (adfile.Summary, error) {
			f, err := adfile.Parse([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			return adfile.Load(t.Context(), service, f, func(int, int) {})
		}
		refuse := func(old, replaced, says string) {
			if _, err := load(strings.Replace(good, old, replaced, 1)); err == nil || err.Error() != says {
				t.Errorf("%s: %v, want %s", replaced, err, says)
			}
		}
		refuse("[example.org/sidebar]", "[other.org/sidebar]", `line 22: units.0.zones.0: There is no zone "other.org/sidebar".`)
		refuse("campaign: acme-spring", "campaign: autumn", `line 18: units.0.campaign: There is no campaign "autumn".`)
		refuse("advertiser: acme", "advertiser: bolt", `line 9: campaigns.0.advertiser: There is no advertiser "bolt".`)
		refuse("2500000, currency: EUR", "2500000, currency: USD", `line 21: units.0.bid.currency: The zone "example.org/sidebar" has the currency EUR, and the bid USD.`)
		if sum, err := load(good); err != nil || sum != (adfile.Summary{Added: 4}) {
			t.Fatalf("after refusals: %+v, %v", sum, err)
		}
		refuse("sidebar, currency: EUR", "sidebar, currency: USD", `line 6: zones.0.currency: The zone "example.org/sidebar" has the currency EUR, which can't be changed.`)
		refuse("{currency: EUR, total", "{currency: USD, total", `line 14: campaigns.0.budget.currency: The campaign has units that bid in another currency.`)
		if sum, err := load(good); err != nil || sum != (adfile.Summary{Unchanged: 4}) {
			t.Errorf("after more refusals: %+v, %v", sum, err)
		}
	})
}
