package cli

import (
	"strings"
	"testing"

	"plaza/internal/plazatest"
)

// TestNewsAdsAreOffByDefault: without the flag a server chooses no ads, and reads nothing for them.
func TestNewsAdsAreOffByDefault(t *testing.T) {
	if got := (&serveCommand{NewsAdsEvery: 8}).newsAds(); got.Every != 0 {
		t.Errorf("without a zone news has ads: %+v", got)
	}
	empty := zoneFlag(plazatest.NewsZone)
	if err := empty.UnmarshalText(nil); err != nil || empty != (zoneFlag{}) {
		t.Errorf("an empty zone is %v, %v", empty, err)
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no zone":        {[]string{"--news-ads", "example.org"}, "1 to 64 characters"},
		"a bad zone":     {[]string{"--news-ads", "Example.org/News"}, "1 to 64 characters"},
		"never":          {[]string{"--news-ads", "example.org/news", "--news-ads-every", "0"}, "--news-ads-every must be from 1 to 100"},
		"hardly ever":    {[]string{"--news-ads", "example.org/news", "--news-ads-every", "101"}, "--news-ads-every must be from 1 to 100"},
		"a strange word": {[]string{"--news-ads-every", "often"}, "news-ads-every"},
	} {
		command, _, stderr := plazatest.Command(t.Context(), t.TempDir(), append([]string{"serve", "--addr", "127.0.0.1:0"}, c.args...)...)
		if err := command.Run(); err == nil || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%s: %v, and %s, want %q", name, err, stderr, c.want)
		}
	}
}
