package resolvers

import (
	"context"
	"sync"

	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/graph/model"
	"plaza/social"
)

// NewsAds configures ads in news. The zero value disables them.
type NewsAds struct {
	Zone  ads.ZoneID // the zone to choose ads from
	Every int        // one ad after this many public posts of a page
}

// sponsor attaches ads to a page of news. They are chosen together when the first of them is
// requested. The choice knows only the topics of the page's public posts, and their number.
func (r *Resolver) sponsor(ctx context.Context, page *model.PostConnection) {
	posts := make([]*social.Post, len(page.Nodes))
	for i, node := range page.Nodes {
		posts[i] = node.Domain()
	}
	breaks := r.breaks(posts)
	if len(breaks) == 0 {
		return
	}
	choose := sync.OnceValues(func() ([]adserver.Choice, error) {
		request, err := r.adRequest(ctx, r.NewsAds.Zone.Site, r.NewsAds.Zone.Name, social.Topics(posts, ads.MaxKeywords), len(breaks), nil)
		if err != nil {
			return nil, err
		}
		return r.Ads.Choose(ctx, request)
	})
	for n, place := range breaks {
		page.Edges[place].Ad = func() (*model.AdChoice, error) {
			choices, err := choose()
			if err != nil || n >= len(choices) {
				return nil, err
			}
			return r.wrapChoice(choices[n], newsIsAbout), nil
		}
	}
}

// breaks are the places of a page after which ads may be inserted.
func (r *Resolver) breaks(posts []*social.Post) []int {
	if r.NewsAds.Every == 0 {
		return nil
	}
	return social.Breaks(posts, r.NewsAds.Every, adserver.MaxCount)
}

// viewerForAds returns the user whom the choice of a page's ads looks up, to be read with those
// whom the page shows; none if the page has no ads.
func (r *Resolver) viewerForAds(ctx context.Context, posts []*social.Post) []social.UserID {
	if len(r.breaks(posts)) == 0 || !selection(ctx)["sponsored"] {
		return nil
	}
	return []social.UserID{viewerOf(ctx)}
}
