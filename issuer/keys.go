package issuer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"golang.org/x/sync/singleflight"

	"plaza/social"
)

const (
	// keysLife is the age at which keys are read again; the old ones are used in the meantime. A
	// key that the issuer has withdrawn is accepted for about as long.
	keysLife = 5 * time.Minute
	// keysPause is the minimum time between two attempts to read the keys, even if tokens name
	// unknown keys.
	keysPause = 10 * time.Second
	// fetchTime is the time limit of an attempt.
	fetchTime = 5 * time.Second
	// maxDocument is the maximum length of a response, in bytes.
	maxDocument = 256 << 10
	// maxKeys is the maximum number of keys: a token may make the server try all of them.
	maxKeys = 20
)

// keys are the public keys of an issuer. It is safe for concurrent use.
type keys struct {
	issuer string
	url    string // "": the one in the issuer's openid-configuration
	client *http.Client
	now    func() time.Time
	logger *slog.Logger

	fetching singleflight.Group

	mu      sync.Mutex
	known   []jose.JSONWebKey
	readAt  time.Time // zero: never
	triedAt time.Time // zero: never
	trying  bool
}

// newClient returns an HTTP client for requests that are minutes apart.
func newClient() *http.Client {
	client := &http.Client{Timeout: fetchTime, CheckRedirect: checkRedirect}
	if transport, ok := http.DefaultTransport.(*http.Transport); ok {
		transport = transport.Clone()
		transport.DisableKeepAlives = true
		client.Transport = transport
	}
	return client
}

// checkRedirect refuses redirects that would read keys in plain text although the operator has named
// an address with TLS.
func checkRedirect(next *http.Request, before []*http.Request) error {
	const most = 10 // as net/http has it
	if len(before) >= most {
		return fmt.Errorf("more than %d redirects", most)
	}
	return checkStep(before[len(before)-1].URL, next.URL)
}

// checkStep refuses to follow an address with TLS to one without. Addresses of the same machine are
// excepted, for development.
func checkStep(from, to *url.URL) error {
	if from.Scheme == "https" && to.Scheme != "https" && !IsLoopback(to) {
		return fmt.Errorf("%s leads to %s, which has no TLS", from.Redacted(), to.Redacted())
	}
	return nil
}

// IsLoopback reports whether an address is on this machine.
func IsLoopback(u *url.URL) bool {
	address, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && address.Unmap().IsLoopback()
}

// find returns the keys that may have signed a token, by the key id ("": none) and the algorithm in
// its header. If there are none, it reads the keys again, unless it has just done so. Error:
// social.ErrIssuerUnavailable: they could not be read so far.
func (k *keys) find(ctx context.Context, id, algorithm string) ([]jose.JSONWebKey, error) {
	found, isOld, mayFetch := k.look(id, algorithm)
	switch {
	case len(found) > 0 && isOld && mayFetch:
		k.fetching.DoChan("", k.fetch) // in the background: the issuer may be slow, or down
		return found, nil
	case len(found) > 0:
		return found, nil
	case mayFetch:
		select {
		case <-k.fetching.DoChan("", k.fetch):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		found, _, _ = k.look(id, algorithm)
	}
	if len(found) == 0 && !k.wereRead() {
		return nil, social.ErrIssuerUnavailable
	}
	return found, nil
}

// look finds keys in memory, and reports whether these are old, and whether it is time for another
// attempt. Calls during an attempt join it.
func (k *keys) look(id, algorithm string) (found []jose.JSONWebKey, isOld, mayFetch bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, key := range k.known {
		if (id == "" || key.KeyID == id) && (key.Algorithm == "" || key.Algorithm == algorithm) {
			found = append(found, key)
		}
	}
	return found, distance(k.now(), k.readAt) >= keysLife, k.trying || k.mayTry()
}

// mayTry reports whether it is time for another attempt. It is called with k.mu held.
func (k *keys) mayTry() bool {
	return k.triedAt.IsZero() || distance(k.now(), k.triedAt) >= keysPause
}

// distance returns the absolute time between two times: a clock may be set back.
func distance(a, b time.Time) time.Duration { return a.Sub(b).Abs() }

func (k *keys) wereRead() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return !k.readAt.IsZero()
}

// fetch reads the keys for singleflight, and keeps the old ones if it fails.
func (k *keys) fetch() (any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), fetchTime)
	defer cancel()
	if !k.begin() {
		return nil, nil
	}
	read, err := k.read(ctx)
	k.end(read, err)
	if err != nil {
		k.logger.WarnContext(ctx, "the issuer's keys cannot be read; the known ones remain in use", "issuer", k.issuer, "error", err)
	}
	return nil, err
}

// begin records the start of an attempt; false: another one has just ended.
func (k *keys) begin() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.mayTry() {
		return false
	}
	k.triedAt, k.trying = k.now(), true
	return true
}

// end records the result of an attempt.
func (k *keys) end(read []jose.JSONWebKey, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.trying = false
	if err == nil {
		k.known, k.readAt = read, k.now()
	}
}

func (k *keys) read(ctx context.Context) ([]jose.JSONWebKey, error) {
	from := k.url
	if from == "" {
		var err error
		if from, err = k.discover(ctx); err != nil {
			return nil, err
		}
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := k.get(ctx, from, &set); err != nil {
		return nil, err
	}
	return usable(set.Keys, from)
}

// discover finds the address of the keys (OpenID Connect Discovery 1.0, section 4).
func (k *keys) discover(ctx context.Context) (string, error) {
	from, err := url.Parse(strings.TrimSuffix(k.issuer, "/") + "/.well-known/openid-configuration")
	if err != nil {
		return "", err
	}
	var configuration struct {
		Issuer  string `json:"issuer"`
		JWKSURI string `json:"jwks_uri"`
	}
	if err := k.get(ctx, from.String(), &configuration); err != nil {
		return "", err
	}
	if configuration.Issuer != k.issuer {
		return "", fmt.Errorf("%s is about another issuer", from)
	}
	if configuration.JWKSURI == "" {
		return "", fmt.Errorf("%s names no jwks_uri", from)
	}
	to, err := url.Parse(configuration.JWKSURI)
	if err != nil {
		return "", fmt.Errorf("%s names a malformed jwks_uri: %w", from, err)
	}
	return to.String(), checkStep(from, to)
}

// get reads a JSON document.
func (k *keys) get(ctx context.Context, from string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/json")
	response, err := k.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", from, response.Status)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxDocument+1))
	switch {
	case err != nil:
		return err
	case len(text) > maxDocument:
		return fmt.Errorf("%s answers more than %d KiB", from, maxDocument>>10)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	return nil
}

// usable are the public keys for signatures among those of a set. It leaves out what it does not
// know, as RFC 7517 says, and secrets: what is published is none.
func usable(set []json.RawMessage, from string) ([]jose.JSONWebKey, error) {
	var found []jose.JSONWebKey
	for _, raw := range set {
		var key jose.JSONWebKey
		if err := json.Unmarshal(raw, &key); err != nil || !key.Valid() || !key.IsPublic() || key.Use != "" && key.Use != "sig" {
			continue
		}
		found = append(found, key)
	}
	switch {
	case len(found) == 0:
		return nil, errors.New(from + " has no key that could have signed a token")
	case len(found) > maxKeys:
		return nil, fmt.Errorf("%s has more than %d keys", from, maxKeys)
	}
	return found, nil
}
