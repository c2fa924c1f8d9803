package advertising

import (
	"context"
	"sync"

	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/graph/model"
	"plaza/social"
)

// News configures ads in news. The zero value disables them.
type News struct {
	Zone  ads.ZoneID // the zone to choose ads from
	Every int        // one ad after this many public posts of a page
}

// Sponsor attaches ads to a page of news. They are chosen together when the first of them is
// requested. The choice knows only the topics of the page's public posts, and their number.
func (r *Resolver) Sponsor(ctx context.Context, page *model.PostConnection) {
	posts := make([]*social.Post, len(page.Nodes))
	for i, node := range page.Nodes {
		posts[i] = node.Domain()
	}
	breaks := r.breaks(posts)
	if len(breaks) == 0 {
		return
	}
	choose := sync.OnceValues(func() ([]adserver.Choice, error) {
		request, err := r.adRequest(ctx, r.News.Zone.Site, r.News.Zone.Name, social.Topics(posts, ads.MaxKeywords), len(breaks), nil)
		if err != nil {
			return nil, err
		}
		return r.Server.Choose(ctx, request)
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

// breaks returns the places of a page after which ads may be inserted.
func (r *Resolver) breaks(posts []*social.Post) []int {
	if r.News.Every == 0 {
		return nil
	}
	return breaksIn(posts, r.News.Every, adserver.MaxCount)
}

// breaksIn returns the places in a list of posts after which something else may be inserted: after
// each every-th PUBLIC post, so that no other post moves it. most is the maximum number.
func breaksIn(posts []*social.Post, every, most int) []int {
	breaks, public := []int{}, 0
	for i, p := range posts {
		if p.Audience.Kind != social.AudiencePublic {
			continue
		}
		if public++; public%every == 0 && len(breaks) < most {
			breaks = append(breaks, i)
		}
	}
	return breaks
}

// HasAds reports whether Sponsor attaches ads to a page of these posts.
func (r *Resolver) HasAds(posts []*social.Post) bool { return len(r.breaks(posts)) > 0 }
