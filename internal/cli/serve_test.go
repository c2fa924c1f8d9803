package cli

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

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
		"none above":     {[]string{"--feeds-merge-above", "0"}, "--feeds-merge-above: must be a number from 1"},
		"fewer":          {[]string{"--feeds-merge-above=-5"}, "--feeds-merge-above: must be a number from 1"},
		"too long":       {[]string{"--drain-delay", "61m"}, "--drain-delay (PLAZA_DRAIN_DELAY) must be from 0s to 1h"},
		"a lone address": {[]string{"--trusted-proxy", "10.0.0.1"}, "--trusted-proxy: must be a network such as 10.0.0.0/8"},
		"no address":     {[]string{"--addr", ""}, "--addr (PLAZA_ADDR) is empty"},
	} {
		command, _, stderr := plazatest.Command(t.Context(), t.TempDir(), append([]string{"serve", "--addr", "127.0.0.1:0"}, c.args...)...)
		if err := command.Run(); err == nil || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%s: %v, and %s, want %q", name, err, stderr, c.want)
		}
	}
}

// TestTrustedProxies: networks can be named by a flag or a variable, and an empty variable means
// none.
func TestTrustedProxies(t *testing.T) {
	t.Setenv("PLAZA_TRUSTED_PROXIES", "")
	for args, want := range map[string]string{
		"serve": "[]",
		"serve --trusted-proxy 10.0.0.0/8,2001:db8::/32 --trusted-proxy 192.0.2.7/32": "[10.0.0.0/8 2001:db8::/32 192.0.2.7/32]",
	} {
		var c commandLine
		if _, err := kong.Must(&c).Parse(strings.Fields(args)); err != nil || fmt.Sprint(c.Serve.TrustedProxies) != want {
			t.Errorf("%s: %v, %v", args, c.Serve.TrustedProxies, err)
		}
	}
	both := serveCommand{Addr: "127.0.0.1:0", BehindProxy: true, TrustedProxies: []networkFlag{{netip.MustParsePrefix("10.0.0.0/8")}}}
	if err := both.check(); err == nil || !strings.Contains(err.Error(), "--behind-proxy") {
		t.Errorf("with --behind-proxy: %v", err)
	}
	for _, wrong := range []string{"serve --trusted-proxy 10.0.0.1", "serve --trusted-proxy proxy", "serve --rate-limits none"} {
		var c commandLine
		if _, err := kong.Must(&c).Parse(strings.Fields(wrong)); err == nil {
			t.Errorf("%s is accepted", wrong)
		}
	}
}
