package cli

import (
	"path/filepath"
	"testing"
	"time"

	"plaza/ads/adserver"
	"plaza/internal/plazatest"
	"plaza/storage/sqlite"
)

// TestAdsRebuildReportsWhatItDid checks that the command names the time from which it has counted
// again, or reports that there was nothing to count.
func TestAdsRebuildReportsWhatItDid(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	st, err := sqlite.Open(t.Context(), filepath.Join(data, "plaza.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	plazatest.SeedAds(t, st)
	rebuild := func(want string) {
		t.Helper()
		command, stdout, stderr := plazatest.Command(t.Context(), data, "ads", "rebuild")
		if err := command.Run(); err != nil || stdout.String() != want {
			t.Errorf("%v, says %q and %q, want %q", err, stdout, stderr, want)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	rebuild("There are no impressions or clicks to add up.\n")
	if st, err = sqlite.Open(t.Context(), filepath.Join(data, "plaza.sqlite")); err != nil {
		t.Fatal(err)
	}
	earlier := time.Now().Add(-3 * time.Hour).UTC()
	service := adserver.New(st.Ads(), adserver.Options{Now: func() time.Time { return earlier }, Go: func(do func()) { do() }})
	choices, err := service.Choose(t.Context(), adserver.Request{Site: "example.org", Zone: "sidebar", Count: 1})
	if err != nil || len(choices) != 1 {
		t.Fatalf("%+v, %v", choices, err)
	}
	if _, err := service.RecordImpression(t.Context(), choices[0].ImpressionToken); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	rebuild("Reports are being rebuilt, starting from " + earlier.Truncate(time.Hour).Format(time.DateTime) + " UTC.\n")
}
