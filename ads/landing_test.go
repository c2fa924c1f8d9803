package ads_test

import (
	"strings"
	"testing"

	"plaza/ads"
	"plaza/fault"
	"plaza/id"
)

func TestErrorsSayWhatIsWrongWithALandingPage(t *testing.T) {
	for page, want := range map[string]string{
		"https://a.example/{x}":                             "braces",
		"https://a.example/{CLICK_TOKEN}":                   "small letters",
		"https://{click_token}.example/":                    "not in the host",
		"https://%7Bclick_token%7d.example?x":               "not in the host",
		"https://a.example/{click_token}/%7bclick_token%7D": "at most once",
		"https://u:p@a.example/":                            "user name",
		"https://a.example/a b":                             "' '",
		"https://a.example/%zz":                             "not a valid address",
		"https:///page":                                     "no host",
		"a.example":                                         "begins with http:// or https://",
		"HTTPS://a.example/?c={click_token}":                "",
		"https://a.example/#%7bclick_token%7D":              "",
	} {
		u := ads.Unit{
			ID: ads.UnitID{ID: id.New()}, Campaign: ads.CampaignID{ID: id.New()}, State: ads.Active,
			Creative: ads.Creative{Headline: "Anvils", LandingURL: page}, Bid: ads.Bid{Model: ads.CPC, Price: 1_000, Currency: "EUR"},
		}
		found := fault.Mistakes(u.Check(""))
		switch {
		case want == "" && len(found) > 0:
			t.Errorf("%s: %v", page, found[0])
		case want != "" && (len(found) != 1 || found[0].Field != "landingUrl" || !strings.Contains(found[0].Message, want)):
			t.Errorf("%s: %v, want %q", page, found, want)
		}
	}
}

func TestEveryFormOfTheMacroIsReplaced(t *testing.T) {
	for _, macro := range []string{"{click_token}", "%7Bclick_token%7D", "%7bclick_token%7d", "%7Bclick_token%7d", "%7bclick_token%7D"} {
		if got := ads.ReplaceClickMacro("https://a.example/?c="+macro+"&d", "t"); got != "https://a.example/?c=t&d" {
			t.Errorf("%s: %s", macro, got)
		}
	}
}
