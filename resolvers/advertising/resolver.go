package advertising

import (
	"plaza/ads/adserver"
	"plaza/graph/generated"
	"plaza/social/network"
)

// Resolver is what the resolvers of this package share.
type Resolver struct {
	Server *adserver.Service
	// Social knows who has the right to manage ads.
	Social *network.Service
	// ClickURL is the base URL of the handler of clicks on ads; a click token is appended.
	ClickURL string
	// News configures ads in news.
	News News
}

// Each type of the schema that has fields here.
type (
	Query    struct{ *Resolver }
	Mutation struct{ *Resolver }
	Manager  struct{ *Resolver }
	Unit     struct{ *Resolver }
)

var (
	_ generated.AdManagerResolver = Manager{}
	_ generated.AdUnitResolver    = Unit{}
)
