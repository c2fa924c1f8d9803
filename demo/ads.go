package demo

import (
	"context"
	"errors"
	"time"

	"plaza/ads"
)

// The places for ads on a page of the community.
var (
	sidebar = ads.ZoneID{Site: "plaza", Name: "sidebar"}
	banner  = ads.ZoneID{Site: "plaza", Name: "banner"}
)

const currency = ads.Currency("EUR")

// cents makes an amount from cents.
func cents(n int64) ads.Micros { return ads.Micros(n * 10_000) }

// advertiser is someone who pays for ads.
type advertiser struct {
	name      string
	campaigns []campaign
}

type campaign struct {
	name  string
	units []unit
}

type unit struct {
	name     string
	headline string
	body     string
	page     string // of the advertiser's site
	motif    string // of the picture
	model    ads.BidModel
	price    ads.Micros
	zones    []ads.ZoneID
}

var advertisers = []advertiser{
	{"Harbour Ferry Company", []campaign{
		{"Island season", []unit{
			{
				"islands", "The islands are twenty minutes away",
				"Four crossings a day, bicycles free. The nine o'clock boat has the good light.",
				"ferry/islands", "ferry", ads.CPM, cents(320),
				[]ads.ZoneID{sidebar, banner},
			},
			{
				"evening", "Come back under the stars",
				"The last boat now sails at half past ten, so you can stay for the whole sunset.",
				"ferry/evening", "night-ferry", ads.CPM, cents(320),
				[]ads.ZoneID{banner},
			},
		}},
		{"Commuters", []unit{
			{
				"monthly", "A month of mornings at sea",
				"The commuter pass costs less than parking, and nobody has ever met a seal on the ring road.",
				"ferry/monthly", "ferry", ads.CPC, cents(45),
				[]ads.ZoneID{sidebar},
			},
		}},
	}},
	{"Paper & Thread", []campaign{
		{"Spring sale", []unit{
			{
				"linen", "Linen thread, by the metre or by the mile",
				"Waxed, unwaxed and in eleven colours. Orders before noon leave with the afternoon post.",
				"paper/linen", "thread", ads.CPC, cents(64),
				[]ads.ZoneID{sidebar},
			},
			{
				"notebooks", "Notebooks that lie flat",
				"Sewn by hand, 160 pages, no apps.",
				"paper/notebooks", "notebook", ads.CPM, cents(280),
				[]ads.ZoneID{sidebar, banner},
			},
		}},
	}},
}

// catalogue returns all ads in the form in which they are stored.
func (s *stage) catalogue() ads.Batch {
	at := s.at(30 * time.Minute)
	batch := ads.Batch{Zones: []ads.Zone{
		{ID: sidebar, Currency: currency, Design: ads.ByKeywords}, {ID: banner, Currency: currency, Design: ads.ByFrequency},
	}}
	for _, a := range advertisers {
		payer := ads.AdvertiserID{ID: derive(at, "advertiser/"+a.name, 0)}
		batch.Advertisers = append(batch.Advertisers, ads.Advertiser{ID: payer, Name: a.name})
		for _, c := range a.campaigns {
			group := ads.CampaignID{ID: derive(at, "campaign/"+a.name+"/"+c.name, 0)}
			batch.Campaigns = append(batch.Campaigns, ads.Campaign{ID: group, Advertiser: payer, Name: c.name, State: ads.Active})
			for _, u := range c.units {
				batch.Units = append(batch.Units, ads.Unit{
					ID: ads.UnitID{ID: derive(at, "ad/"+u.name, 0)}, Campaign: group, State: ads.Active,
					Creative: ads.Creative{
						Headline: u.headline, Body: u.body, LandingURL: "https://example.com/" + u.page,
						ImageURL: address(s.publicURL, adPictureName(u.name)),
					},
					Bid:   ads.Bid{Model: u.model, Price: u.price, Currency: currency},
					Zones: u.zones,
				})
			}
		}
	}
	return batch
}

// hasAds reports whether the ads are stored. They are stored last, so in that case everything is.
func (s *stage) hasAds(ctx context.Context) (bool, error) {
	first := s.catalogue().Units[0].ID
	stored, err := s.store.Ads().Units(ctx, []ads.UnitID{first})
	return stored[first] != nil, err
}

// advertise stores the ads, all in one transaction.
func (s *stage) advertise(ctx context.Context) error {
	_, err := s.ads.Add(ctx, s.catalogue())
	if errors.Is(err, ads.ErrCurrency) {
		return errors.New("the demo needs its own database: this one has other ads")
	}
	return err
}
