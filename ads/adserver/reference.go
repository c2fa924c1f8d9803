package adserver

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"plaza/ads"
	"plaza/fault"
)

// CheckReferences finds the first entry that refers to something that is neither in the batch nor
// stored, whose currency differs from that of what it belongs to, or that has another owner or
// currency than the stored one. It reads omitted parts, stores nothing, and accepts a batch of any
// size. Errors name the entry and its part: NOT_FOUND for "campaigns.3.advertiser",
// "units.3.campaign" and "units.3.zones.0"; INVALID also for "campaigns.3.budget",
// "zones.3.currency" and "units.3.bid.currency".
func (s *Service) CheckReferences(ctx context.Context, b ads.Batch, omitted Omitted) error {
	r := newReferences(s)
	r.omitted = omitted
	for i := range b.Advertisers {
		r.advertisers[b.Advertisers[i].ID] = &b.Advertisers[i]
	}
	if err := eachChunk(b.Zones, func(from int, some []ads.Zone) error { return r.checkZones(ctx, from, some) }); err != nil {
		return present(err)
	}
	if err := eachChunk(b.Campaigns, func(from int, some []ads.Campaign) error { return r.checkCampaigns(ctx, from, some) }); err != nil {
		return present(err)
	}
	return present(eachChunk(b.Units, func(from int, some []ads.Unit) error { return r.checkUnits(ctx, from, some) }))
}

// eachChunk splits entries into chunks, to limit the size of one read.
func eachChunk[T any](entries []T, check func(from int, some []T) error) error {
	from := 0
	for some := range slices.Chunk(entries, ads.MaxBatch) {
		if err := check(from, some); err != nil {
			return err
		}
		from += len(some)
	}
	return nil
}

// references holds what entries can refer to, in the state that it will have once the batch is
// stored; nil for objects that do not exist.
type references struct {
	service     *Service
	omitted     Omitted
	advertisers map[ads.AdvertiserID]*ads.Advertiser
	campaigns   map[ads.CampaignID]*ads.Campaign
	zones       map[ads.ZoneID]*ads.Zone
	// mates are currencies in which units of a campaign bid; absent if it has none, or is not known.
	mates map[ads.CampaignID]map[ads.Currency]bool
}

func newReferences(s *Service) *references {
	return &references{
		service: s, advertisers: map[ads.AdvertiserID]*ads.Advertiser{}, campaigns: map[ads.CampaignID]*ads.Campaign{}, zones: map[ads.ZoneID]*ads.Zone{},
		mates: map[ads.CampaignID]map[ads.Currency]bool{},
	}
}

// readMissing reads the entries that are not known yet.
func readMissing[K comparable, V any](ctx context.Context, known map[K]*V, ids []K, read func(context.Context, []K) (map[K]*V, error)) error {
	var unknown []K
	for _, id := range ids {
		if _, looked := known[id]; !looked {
			known[id] = nil
			unknown = append(unknown, id)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	found, err := read(ctx, unknown)
	maps.Copy(known, found)
	return err
}

func (r *references) checkZones(ctx context.Context, from int, zones []ads.Zone) error {
	ids := make([]ads.ZoneID, len(zones))
	for i := range zones {
		ids[i] = zones[i].ID
	}
	if err := readMissing(ctx, r.zones, ids, r.service.zones); err != nil {
		return err
	}
	for i := range zones {
		z := &zones[i]
		if r.zones[z.ID] == nil {
			r.zones[z.ID] = z
		}
		if is := r.zones[z.ID].Currency; is != z.Currency {
			return fault.Invalidf(fmt.Sprintf("zones.%d.currency", from+i), "The zone %q has the currency %s, which can't be changed.", z.ID, is)
		}
	}
	return nil
}

func (r *references) checkCampaigns(ctx context.Context, from int, campaigns []ads.Campaign) error {
	ids, advertisers := make([]ads.CampaignID, len(campaigns)), make([]ads.AdvertiserID, len(campaigns))
	for i := range campaigns {
		ids[i], advertisers[i] = campaigns[i].ID, campaigns[i].Advertiser
	}
	if err := readMissing(ctx, r.advertisers, advertisers, r.service.store.Advertisers); err != nil {
		return err
	}
	stored, err := r.service.store.Campaigns(ctx, ids)
	if err != nil {
		return err
	}
	for i := range campaigns {
		c, field := campaigns[i], fmt.Sprintf("campaigns.%d", from+i)
		if r.advertisers[c.Advertiser] == nil {
			return fault.NotFound(field+".advertiser", "advertiser")
		}
		if err := r.omitted.adoptCampaign(field, &c, stored[c.ID]); err != nil {
			return err
		}
		if err := r.checkRebudgeting(ctx, field, stored[c.ID], &c); err != nil {
			return err
		}
		r.campaigns[c.ID] = &c
	}
	return nil
}

// checkRebudgeting checks a stored campaign's units if its budget changes its currency.
func (r *references) checkRebudgeting(ctx context.Context, field string, stored, c *ads.Campaign) error {
	if stored == nil || !c.Budget.Limited() || (stored.Budget.Limited() && stored.Budget.Currency == c.Budget.Currency) {
		return nil
	}
	for page := (ads.Page{Limit: ads.MaxBatch}); ; {
		units, err := r.service.store.ListUnits(ctx, c.ID, page)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(units, func(u *ads.Unit) bool { return u.Bid.Currency != c.Budget.Currency }) {
			return otherBids(fault.Part(field, "budget.currency"))
		}
		if len(units) < page.Limit {
			return nil
		}
		page.After = keyOf(units[len(units)-1].ID.ID)
	}
}

func otherBids(field string) *fault.Error {
	return fault.Invalidf(field, "The campaign has units that bid in another currency.")
}

func (r *references) checkUnits(ctx context.Context, from int, units []ads.Unit) error {
	ids := make([]ads.UnitID, len(units))
	for i := range units {
		ids[i] = units[i].ID
	}
	stored, err := r.service.store.Units(ctx, ids)
	if err != nil {
		return err
	}
	if err := r.readReferences(ctx, units); err != nil {
		return err
	}
	for i := range units {
		u, field := &units[i], fmt.Sprintf("units.%d", from+i)
		if r.campaigns[u.Campaign] == nil {
			return fault.NotFound(field+".campaign", "campaign")
		}
		if err := checkOrigin(field, u, stored[u.ID]); err != nil {
			return err
		}
		if err := r.checkPlaces(field, u, true); err != nil {
			return err
		}
		if stored[u.ID] != nil {
			continue
		}
		if err := r.checkMates(ctx, field, u); err != nil {
			return err
		}
	}
	return nil
}

// checkMates checks that a new unit has the currency of one of its campaign's units, if it has any.
func (r *references) checkMates(ctx context.Context, field string, u *ads.Unit) error {
	if r.mates[u.Campaign][u.Bid.Currency] {
		return nil
	}
	if err := r.readSiblings(ctx, u); err != nil {
		return err
	}
	mates := r.mates[u.Campaign]
	if len(mates) == 0 {
		r.mates[u.Campaign] = map[ads.Currency]bool{u.Bid.Currency: true}
		return nil
	}
	if mates[u.Bid.Currency] {
		return nil
	}
	one := slices.Min(slices.Collect(maps.Keys(mates)))
	return fault.Invalidf(fault.Part(field, "bid.currency"), "The campaign's other ads have the currency %s, and the bid %s.", one, u.Bid.Currency)
}

// readSiblings reads the units of a unit's campaign until it finds one with the unit's currency.
func (r *references) readSiblings(ctx context.Context, u *ads.Unit) error {
	for page := (ads.Page{Limit: 1}); !r.mates[u.Campaign][u.Bid.Currency]; page.Limit = ads.MaxBatch {
		units, err := r.service.store.ListUnits(ctx, u.Campaign, page)
		if err != nil {
			return err
		}
		if len(units) > 0 && r.mates[u.Campaign] == nil {
			r.mates[u.Campaign] = map[ads.Currency]bool{}
		}
		for _, mate := range units {
			r.mates[u.Campaign][mate.Bid.Currency] = true
		}
		if len(units) < page.Limit {
			return nil
		}
		page.After = keyOf(units[len(units)-1].ID.ID)
	}
	return nil
}

// checkOrigin checks that a stored unit remains in its campaign, and keeps its currency; nil if
// none is stored.
func checkOrigin(field string, u, stored *ads.Unit) error {
	if stored == nil {
		return nil
	}
	if u.Campaign != stored.Campaign {
		return fault.Invalidf(fault.Part(field, "campaign"), "The ad belongs to another campaign, which can't be changed: create another ad instead.")
	}
	return u.CheckCurrency(field, stored)
}

// readReferences reads what units refer to.
func (r *references) readReferences(ctx context.Context, units []ads.Unit) error {
	var campaigns []ads.CampaignID
	var zones []ads.ZoneID
	for i := range units {
		campaigns = append(campaigns, units[i].Campaign)
		zones = append(zones, units[i].Zones...)
	}
	if err := readMissing(ctx, r.campaigns, campaigns, r.service.store.Campaigns); err != nil {
		return err
	}
	return readMissing(ctx, r.zones, zones, r.service.zones)
}

// checkPlaces finds a zone that does not exist or has another currency. If the bid has a new
// currency that none of the zones has, the error names the bid instead.
func (r *references) checkPlaces(field string, u *ads.Unit, newCurrency bool) error {
	wrong := -1
	for i, id := range u.Zones {
		switch z := r.zones[id]; {
		case z == nil:
			return fault.NotFound(fault.Part(field, fmt.Sprintf("zones.%d", i)), "zone")
		case z.Currency == u.Bid.Currency:
			newCurrency = false
		case wrong < 0:
			wrong = i
		}
	}
	if wrong >= 0 {
		part := "bid.currency"
		if !newCurrency {
			part = fmt.Sprintf("zones.%d", wrong)
		}
		id := u.Zones[wrong]
		return fault.Invalidf(fault.Part(field, part), "The zone %q has the currency %s, and the bid %s.", id, r.zones[id].Currency, u.Bid.Currency)
	}
	if b := &r.campaigns[u.Campaign].Budget; b.Limited() && b.Currency != u.Bid.Currency {
		return fault.Invalidf(fault.Part(field, "bid.currency"), "The campaign's budget has the currency %s, and the bid %s.", b.Currency, u.Bid.Currency)
	}
	return nil
}
