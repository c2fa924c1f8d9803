package app

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
)

// proxies finds the addresses of clients behind proxies.
type proxies struct {
	always  bool // every connection is a proxy's
	trusted []netip.Prefix
	warn    sync.Once
}

func newProxies(c *Config) *proxies {
	return &proxies{always: c.BehindProxy, trusted: c.TrustedProxies}
}

// clientOf returns the address of a request's client. named is false if it is the address of a
// proxy, or probably is: an address of this machine or its own network.
//
// Only entries that trusted proxies have added to X-Forwarded-For count. They are read from the
// right, each added by the proxy to its right, up to the first entry that is not itself a trusted
// proxy's. Entries from an untrusted peer are ignored.
func (p *proxies) clientOf(r *http.Request) (address netip.Addr, named bool) {
	address = parseAddress(r.RemoteAddr)
	forwarded := strings.Join(r.Header.Values("X-Forwarded-For"), ",")
	if !p.always && !p.isTrusted(address) {
		local := address.IsLoopback() || address.IsPrivate()
		if local && forwarded != "" {
			p.warn.Do(func() { warnOfProxy(address) })
		}
		return address, address.IsValid() && !local
	}
	entries := strings.Split(forwarded, ",")
	for _, entry := range slices.Backward(entries) {
		hop := parseAddress(entry)
		if !hop.IsValid() {
			break
		}
		address, named = hop, true
		if !p.isTrusted(hop) {
			break
		}
	}
	return address, named
}

func (p *proxies) isTrusted(address netip.Addr) bool {
	return slices.ContainsFunc(p.trusted, func(network netip.Prefix) bool { return network.Contains(address) })
}

func warnOfProxy(proxy netip.Addr) {
	slog.Warn("requests come through a proxy that is not trusted, so all its clients count as one in rate limits; see the settings about proxies", "proxy", proxy)
}

// parseAddress reads an address with or without a port. IPv4 in IPv6 is IPv4; the zero address is
// not valid.
func parseAddress(text string) netip.Addr {
	text = strings.TrimSpace(text)
	address, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil {
		withPort, _ := netip.ParseAddrPort(text)
		address = withPort.Addr()
	}
	return address.Unmap().WithZone("")
}

// networkOf returns the network that limits count as one client: an IPv4 address, or the IPv6
// network that a household or server gets (/64), because each of them has 2^64 addresses.
func networkOf(address netip.Addr) string {
	const household = 64
	if !address.Is6() {
		return address.String()
	}
	network, err := address.Prefix(household)
	if err != nil {
		panic(err) // the address is IPv6
	}
	return network.String()
}

type clientKey struct{}

// note puts the client of a request into its context, for clientIn.
func (p *proxies) note(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		address, _ := p.clientOf(r)
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), clientKey{}, networkOf(address))))
	})
}

// clientIn returns the network that limits count as the client of ctx's request.
func clientIn(ctx context.Context) string {
	client, _ := ctx.Value(clientKey{}).(string)
	return client
}
