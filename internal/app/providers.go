package app

import (
	"log/slog"
	"slices"

	"plaza/graph/model"
	"plaza/issuer"
)

// providers are the OpenID providers of a server, for resolvers.
type providers struct {
	*issuer.Providers

	clients []*model.IdentityProvider
}

// Clients implements resolvers.Providers.
func (p *providers) Clients() []*model.IdentityProvider { return p.clients }

// providerOrigins returns the web origins of the providers.
func (c *Config) providerOrigins() []string {
	var origins []string
	for _, each := range c.Providers {
		origins = append(origins, originOf(each.Issuer))
	}
	slices.Sort(origins)
	return slices.Compact(origins)
}

// providers returns what verifies ID tokens.
func (c *Config) providers() *providers {
	p := &providers{clients: []*model.IdentityProvider{}}
	for _, each := range c.Providers {
		p.clients = append(p.clients, &model.IdentityProvider{Issuer: each.Issuer, ClientID: each.ClientID})
	}
	p.Providers = issuer.NewProviders(c.Providers, issuer.Options{
		Algorithms: []string{"RS256", "PS256", "ES256", "EdDSA"},
		Claims:     issuer.ClaimNames{Handle: "preferred_username", Name: "name", Avatar: "picture"},
		Now:        c.Social.Now, Logger: slog.Default(),
	})
	return p
}
