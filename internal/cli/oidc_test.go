package cli

import (
	"strings"
	"testing"

	"plaza/issuer"
)

// TestProviders: what cannot work, or would accept too much, is refused with a reason.
func TestProviders(t *testing.T) {
	t.Parallel()
	const good = "issuer=https://id.example/realms/a,client-id=web"
	for text, says := range map[string]string{ // "": accepted
		good:                        "",
		good + ",registration=open": "",
		"client-id=web,issuer=http://127.0.0.1:9000": "",
		"":                                            "no setting",
		"https://id.example":                          "no setting",
		good + ",secret=x":                            `no setting "secret"`,
		good + ",client-id=app":                       "client-id twice",
		good + ",registration=closed":                 "registration=open",
		"client-id=web":                               "needs issuer",
		"issuer=https://id.example":                   "needs client-id",
		"issuer=id.example,client-id=web":             "looks like https://",
		"issuer=ftp://id.example,client-id=web":       "looks like https://",
		"issuer=https://bücher.example,client-id=web": "only ASCII",
		"issuer=https://*,client-id=web":              "only ASCII",
		"issuer=https://id.example/?a=b,client-id=we": "without ? and #",
	} {
		var p providerFlag
		err := p.UnmarshalText([]byte(text))
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
	var p providerFlag
	if err := p.UnmarshalText([]byte(good + ",registration=open")); err != nil || issuer.Provider(p) != (issuer.Provider{Issuer: "https://id.example/realms/a", ClientID: "web", CreatesAccounts: true}) {
		t.Errorf("%+v, %v", p, err)
	}
	c := serveCommand{OIDCProviders: []providerFlag{p, p}}
	if _, err := c.providers(t.Context()); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("a client that is named twice: %v", err)
	}
}
