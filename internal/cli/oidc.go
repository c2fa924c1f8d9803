package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"plaza/issuer"
)

// providerFlag is an OpenID provider, as a flag names it: issuer=URL,client-id=ID.
type providerFlag issuer.Provider

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *providerFlag) UnmarshalText(text []byte) error {
	settings, err := providerSettings(string(text))
	if err != nil {
		return err
	}
	*p = providerFlag{Issuer: settings["issuer"], ClientID: settings["client-id"], CreatesAccounts: settings["registration"] == "open"}
	return p.check(settings["registration"])
}

// providerSettings reads NAME=VALUE, several of them, separated by commas.
func providerSettings(text string) (map[string]string, error) {
	settings := map[string]string{}
	for each := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(each, "=")
		if !slices.Contains([]string{"issuer", "client-id", "registration"}, name) {
			return nil, fmt.Errorf("must look like issuer=https://id.example,client-id=plaza: it has no setting %q", name)
		}
		if settings[name] != "" {
			return nil, fmt.Errorf("names %s twice: give each provider a flag of its own", name)
		}
		settings[name] = value
	}
	return settings, nil
}

func (p *providerFlag) check(registration string) error {
	switch u, err := url.Parse(p.Issuer); {
	case p.Issuer == "":
		return errors.New("needs issuer=URL: the claim iss of the provider's tokens")
	case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("needs an issuer that looks like https://id.example: %q does not", p.Issuer)
	case !isHost.MatchString(u.Hostname()):
		return fmt.Errorf("needs an issuer whose host has only ASCII letters, digits, dots and hyphens (xn--… for others): %q does not", p.Issuer)
	case u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("needs an issuer without ? and #, not %q", p.Issuer)
	case p.ClientID == "":
		return errors.New("needs client-id=ID: what the provider calls your front end. Without it tokens for others would be accepted")
	case registration != "" && registration != "open":
		return fmt.Errorf("knows only registration=open: %q is not", registration)
	}
	return nil
}

// isHost matches the names and IP addresses of hosts. Browsers would drop the whole policy of the
// web app for another one.
var isHost = regexp.MustCompile(`^[a-zA-Z0-9.:-]+$`)

// providers returns the settings for the server, and warns of those that are risky.
func (c *serveCommand) providers(ctx context.Context) ([]issuer.Provider, error) {
	var found []issuer.Provider
	for _, each := range c.OIDCProviders {
		provider := issuer.Provider(each)
		if slices.ContainsFunc(found, func(other issuer.Provider) bool {
			return other.Issuer == provider.Issuer && other.ClientID == provider.ClientID
		}) {
			return nil, fmt.Errorf("--oidc-provider names the client %s of %s twice", provider.ClientID, provider.Issuer)
		}
		if u, err := url.Parse(provider.Issuer); err == nil && u.Scheme == "http" && !issuer.IsLoopback(u) {
			slog.WarnContext(ctx, "the provider's keys are read without TLS: use this only in a network that you trust", "from", u.Host)
		}
		found = append(found, provider)
	}
	return found, nil
}
