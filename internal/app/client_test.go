package app

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

func TestAddressesOfClients(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		remote, forwarded string
		always            bool
		trusted           string
		client, named     string
	}{
		{"203.0.113.7:1234", "", false, "", "203.0.113.7", "203.0.113.7"},
		{"203.0.113.7:1234", "198.51.100.1", false, "", "203.0.113.7", "203.0.113.7"}, // any client can send a header
		{"203.0.113.7:1234", "198.51.100.1", false, "10.0.0.0/8", "203.0.113.7", "203.0.113.7"},
		{"[2001:db8::1]:1234", "", false, "", "2001:db8::/64", "2001:db8::1"},
		{"[::ffff:203.0.113.7]:1234", "", false, "", "203.0.113.7", "203.0.113.7"},
		{"127.0.0.1:1234", "", false, "", "127.0.0.1", ""},
		{"10.1.2.3:1234", "198.51.100.1", false, "", "10.1.2.3", ""},
		{"10.1.2.3:1234", "6.6.6.6, 198.51.100.1", true, "", "198.51.100.1", "198.51.100.1"},
		{"10.1.2.3:1234", "", true, "", "10.1.2.3", ""},
		{"10.1.2.3:1234", "198.51.100.1, unknown", true, "", "10.1.2.3", ""},
		{"10.1.2.3:1234", "6.6.6.6, 198.51.100.1, 192.0.2.1", false, "10.0.0.0/8,192.0.2.0/24", "198.51.100.1", "198.51.100.1"},
		{"10.1.2.3:1234", "6.6.6.6, 198.51.100.1, 192.0.2.1", true, "192.0.2.0/24", "198.51.100.1", "198.51.100.1"},
		{"10.1.2.3:1234", "6.6.6.6, ?, 192.0.2.1", true, "192.0.2.0/24", "192.0.2.1", "192.0.2.1"},
		{"[::1]:1234", "[2001:db8:0:1:2:3:4:5]:4711", false, "::1/128", "2001:db8:0:1::/64", "2001:db8:0:1:2:3:4:5"},
		{"10.1.2.3:1234", "198.51.100.1:4711", false, "10.1.2.3/32", "198.51.100.1", "198.51.100.1"},
		{"nowhere", "", false, "", "invalid IP", ""},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.RemoteAddr = c.remote
		if c.forwarded != "" {
			r.Header.Set("X-Forwarded-For", c.forwarded)
		}
		p := &proxies{always: c.always, trusted: networks(c.trusted)}
		if got := p.addressOf(r); got != c.named {
			t.Errorf("%+v: the address is %q", c, got)
		}
		address, _ := p.clientOf(r)
		if got := networkOf(address); got != c.client {
			t.Errorf("%+v: the client is %q", c, got)
		}
	}
}

func networks(text string) (all []netip.Prefix) {
	for network := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' }) {
		all = append(all, netip.MustParsePrefix(network))
	}
	return all
}
