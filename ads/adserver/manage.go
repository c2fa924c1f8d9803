package adserver

import (
	"context"
	"errors"
	"maps"
	"slices"

	"plaza/ads"
	"plaza/fault"
	"plaza/id"
	"plaza/paging"
)

// The methods in this file are for people who manage ads. The caller has checked that they may.

// CreateAdvertiser stores a new advertiser. Errors name its parts: "name".
func (s *Service) CreateAdvertiser(ctx context.Context, a ads.Advertiser) error {
	if err := a.Check(""); err != nil {
		return err
	}
	return s.save(ctx, ads.Batch{Advertisers: []ads.Advertiser{a}})
}

// CreateCampaign stores a new campaign. Errors name its parts: "schedule.end"; NOT_FOUND for
// "advertiserId".
func (s *Service) CreateCampaign(ctx context.Context, c ads.Campaign) error {
	if err := c.Check(""); err != nil {
		return err
	}
	return missing("advertiserId", "advertiser", s.saveCampaign(ctx, c))
}

// saveCampaign saves a campaign, and names the argument if ErrUpgrading refuses it.
func (s *Service) saveCampaign(ctx context.Context, c ads.Campaign) error {
	err := s.save(ctx, ads.Batch{Campaigns: []ads.Campaign{c}})
	if errors.Is(err, ads.ErrUpgrading) {
		return because(fault.Errorf(fault.CodeNotAllowed, "attributionDays", "A campaign can have other attributionDays than 30 once the operator has finished the upgrade of Plaza."), err)
	}
	return err
}

// CreateZone stores a new zone. Errors name its parts; TAKEN for "zone".
func (s *Service) CreateZone(ctx context.Context, z ads.Zone) error {
	if err := z.Check(""); err != nil {
		return renamed(err, "name", "zone")
	}
	saved, err := s.put(ctx, ads.Batch{Zones: []ads.Zone{z}})
	if errors.Is(err, ads.ErrCurrency) || (err == nil && saved == 0) {
		return fault.Errorf(fault.CodeTaken, "zone", "The site already has a zone with this name.")
	}
	return present(err)
}

// CreateUnit stores a new unit. Errors name its parts; NOT_FOUND for "campaignId" and "zones.0".
func (s *Service) CreateUnit(ctx context.Context, u ads.Unit) error {
	if err := u.Check(""); err != nil {
		return err
	}
	campaigns, err := s.store.Campaigns(ctx, []ads.CampaignID{u.Campaign})
	if err != nil {
		return present(err)
	}
	if campaigns[u.Campaign] == nil {
		return fault.NotFound("campaignId", "campaign")
	}
	return s.placing(ctx, &u, true, s.save(ctx, ads.Batch{Units: []ads.Unit{u}}))
}

func (s *Service) save(ctx context.Context, b ads.Batch) error {
	_, err := s.put(ctx, b)
	return present(err)
}

// placing names the argument that makes a unit's placement fail.
func (s *Service) placing(ctx context.Context, u *ads.Unit, newCurrency bool, err error) error {
	if errors.Is(err, ads.ErrCurrency) || errors.Is(err, ads.ErrNotFound) {
		if mistake, ok := errors.AsType[*fault.Error](s.misplaced(ctx, u, newCurrency)); ok {
			return because(mistake, err)
		}
	}
	switch {
	case errors.Is(err, ads.ErrCurrency):
		return because(otherCurrency("bid.currency"), err)
	case errors.Is(err, ads.ErrUpgrading) && len(u.KeywordWeights) > 0:
		return because(fault.Errorf(fault.CodeNotAllowed, "keywordWeights", "Keywords can have weights once the operator has finished the upgrade of Plaza."), err)
	case errors.Is(err, ads.ErrUpgrading):
		return because(fault.Errorf(fault.CodeNotAllowed, "bid.model", "A bid can be a CPA once the operator has finished the upgrade of Plaza."), err)
	case errors.Is(err, ads.ErrFull):
		return because(fault.Errorf(fault.CodeLimitReached, "zones", "A zone can have at most %d units.", ads.MaxZoneUnits), err)
	default:
		return missing("zones", "zone", err)
	}
}

// misplaced returns an error for the zone or bid that is wrong, if it still is.
func (s *Service) misplaced(ctx context.Context, u *ads.Unit, newCurrency bool) error {
	r := newReferences(s)
	if err := r.readReferences(ctx, []ads.Unit{*u}); err != nil || r.campaigns[u.Campaign] == nil {
		return err
	}
	if err := r.checkPlaces("", u, newCurrency); err != nil || !newCurrency {
		return err
	}
	return r.checkMates(ctx, "", u)
}

// missing names the argument that refers to something that does not exist.
func missing(field, what string, err error) error {
	if errors.Is(err, ads.ErrNotFound) {
		return because(fault.NotFound(field, what), err)
	}
	return err
}

func because(mistake *fault.Error, cause error) error {
	mistake.Cause = cause
	return mistake
}

// renamed replaces the field of an error by the name that the caller knows.
func renamed(err error, field, to string) error {
	for _, mistake := range fault.Mistakes(err) {
		if mistake.Field == field {
			mistake.Field = to
		}
	}
	return err
}

// UpdateAdvertiser changes a stored advertiser. Others may change other parts at the same time.
// Errors are those of CreateAdvertiser; NOT_FOUND.
func (s *Service) UpdateAdvertiser(ctx context.Context, key ads.AdvertiserID, change func(*ads.Advertiser)) error {
	return update(ctx, key, s.store.Advertisers, change, func(a *ads.Advertiser) error {
		if err := a.Check(""); err != nil {
			return err
		}
		return s.save(ctx, ads.Batch{Advertisers: []ads.Advertiser{*a}})
	})
}

// UpdateCampaign changes a stored campaign. Errors are those of CreateCampaign, and of change;
// NOT_FOUND.
func (s *Service) UpdateCampaign(ctx context.Context, key ads.CampaignID, change func(*ads.Campaign) error) error {
	var before ads.Campaign
	var mistake error
	return update(ctx, key, s.store.Campaigns, func(c *ads.Campaign) { before = *c; mistake = change(c) }, func(c *ads.Campaign) error {
		if err := fault.All(mistake, c.CheckChange(&before)); err != nil {
			return err
		}
		err := s.saveCampaign(ctx, *c)
		if errors.Is(err, ads.ErrCurrency) {
			return because(otherBids("budget.currency"), err)
		}
		return err
	})
}

// SetCampaignState pauses, resumes or archives a campaign: its units leave all zones immediately,
// or return to them. Error: NOT_FOUND.
func (s *Service) SetCampaignState(ctx context.Context, id ads.CampaignID, state ads.State) error {
	return s.UpdateCampaign(ctx, id, func(c *ads.Campaign) error { c.State = state; return nil })
}

// UpdateUnit changes a stored unit. Errors are those of CreateUnit; NOT_FOUND; INVALID for
// "bid.currency", which can't be changed.
func (s *Service) UpdateUnit(ctx context.Context, key ads.UnitID, change func(*ads.Unit) error) error {
	var before ads.Unit
	var mistake error
	return update(ctx, key, s.store.Units, func(u *ads.Unit) { before = *u; mistake = change(u) }, func(u *ads.Unit) error {
		if err := fault.All(mistake, u.CheckChange(&before)); err != nil {
			return err
		}
		return s.placing(ctx, u, false, s.save(ctx, ads.Batch{Units: []ads.Unit{*u}}))
	})
}

// UpdateZone changes a zone's design. Error: NOT_FOUND for "zone".
func (s *Service) UpdateZone(ctx context.Context, id ads.ZoneID, design ads.Design) error {
	if err := id.Check("site", "zone"); err != nil {
		return err
	}
	read := func(ctx context.Context, ids []ads.ZoneID) (map[ads.ZoneID]*ads.Zone, error) {
		z, err := s.store.Zone(ctx, ids[0])
		if errors.Is(err, ads.ErrNotFound) {
			return nil, nil
		}
		return map[ads.ZoneID]*ads.Zone{ids[0]: z}, err
	}
	err := update(ctx, id, read, func(z *ads.Zone) { z.Design = design }, func(z *ads.Zone) error {
		if err := z.Check(""); err != nil {
			return err
		}
		return s.save(ctx, ads.Batch{Zones: []ads.Zone{*z}})
	})
	return renamed(err, "", "zone")
}

// update reads, changes and saves a value, and retries if another writer was first.
func update[K comparable, V any](ctx context.Context, id K, read func(context.Context, []K) (map[K]*V, error), change func(*V), save func(*V) error) error {
	return retrying(ctx, func() error {
		found, err := read(ctx, []K{id})
		if err != nil {
			return present(err)
		}
		if found[id] == nil {
			return present(ads.ErrNotFound)
		}
		change(found[id])
		return save(found[id])
	})
}

// ListAdvertisers reads a page of all advertisers, oldest first.
func (s *Service) ListAdvertisers(ctx context.Context, p ads.Page) (ads.Slice[*ads.Advertiser], error) {
	return slice(p, func(a *ads.Advertiser) paging.Key { return keyOf(a.ID.ID) }, func(p ads.Page) ([]*ads.Advertiser, error) { return s.store.ListAdvertisers(ctx, p) })
}

// ListCampaigns reads a page of an advertiser's campaigns, oldest first.
func (s *Service) ListCampaigns(ctx context.Context, of ads.AdvertiserID, p ads.Page) (ads.Slice[*ads.Campaign], error) {
	return slice(p, func(c *ads.Campaign) paging.Key { return keyOf(c.ID.ID) }, func(p ads.Page) ([]*ads.Campaign, error) { return s.store.ListCampaigns(ctx, of, p) })
}

// ListUnits reads a page of a campaign's units, oldest first.
func (s *Service) ListUnits(ctx context.Context, of ads.CampaignID, p ads.Page) (ads.Slice[*ads.Unit], error) {
	return slice(p, func(u *ads.Unit) paging.Key { return keyOf(u.ID.ID) }, func(p ads.Page) ([]*ads.Unit, error) { return s.store.ListUnits(ctx, of, p) })
}

// ListZones reads a page of all zones, by site and name, without their units.
func (s *Service) ListZones(ctx context.Context, p ads.Page) (ads.Slice[*ads.Zone], error) {
	return slice(p, func(z *ads.Zone) paging.Key { return paging.Key(z.ID.String()) }, func(p ads.Page) ([]*ads.Zone, error) { return s.store.ListZones(ctx, p) })
}

// Advertisers reads by id; the map omits those that do not exist.
func (s *Service) Advertisers(ctx context.Context, ids []ads.AdvertiserID) (map[ads.AdvertiserID]*ads.Advertiser, error) {
	found, err := s.store.Advertisers(ctx, ids)
	return found, present(err)
}

// Campaigns reads by id; the map omits those that do not exist.
func (s *Service) Campaigns(ctx context.Context, ids []ads.CampaignID) (map[ads.CampaignID]*ads.Campaign, error) {
	found, err := s.store.Campaigns(ctx, ids)
	return found, present(err)
}

// Units reads by id, whether or not the units run; the map omits those that do not exist.
func (s *Service) Units(ctx context.Context, ids []ads.UnitID) (map[ads.UnitID]*ads.Unit, error) {
	found, err := s.store.Units(ctx, ids)
	return found, present(err)
}

// Advertiser reads one advertiser. Error: NOT_FOUND, naming the field.
func (s *Service) Advertiser(ctx context.Context, field string, id ads.AdvertiserID) (*ads.Advertiser, error) {
	return one(ctx, field, "advertiser", id, s.Advertisers)
}

// Campaign reads one campaign. Error: NOT_FOUND, naming the field.
func (s *Service) Campaign(ctx context.Context, field string, id ads.CampaignID) (*ads.Campaign, error) {
	return one(ctx, field, "campaign", id, s.Campaigns)
}

// Unit reads one unit. Error: NOT_FOUND, naming the field.
func (s *Service) Unit(ctx context.Context, field string, id ads.UnitID) (*ads.Unit, error) {
	return one(ctx, field, "ad", id, s.Units)
}

func one[K comparable, V any](ctx context.Context, field, what string, id K, read func(context.Context, []K) (map[K]*V, error)) (*V, error) {
	found, err := read(ctx, []K{id})
	if err != nil {
		return nil, err
	}
	if found[id] == nil {
		return nil, fault.NotFound(field, what)
	}
	return found[id], nil
}

// ZoneHead reads one zone, with its units. Error: NOT_FOUND for "zone".
func (s *Service) ZoneHead(ctx context.Context, id ads.ZoneID) (*ads.Zone, error) {
	z, err := s.store.Zone(ctx, id)
	return z, missing("zone", "zone", err)
}

// Ledgers reads what campaigns have spent; the map omits those that have never spent anything.
func (s *Service) Ledgers(ctx context.Context, ids []ads.CampaignID) (map[ads.CampaignID]ads.Ledger, error) {
	found, err := s.store.Ledgers(ctx, ids)
	return found, present(err)
}

// Owner is the campaign and the advertiser that units belong to.
type Owner struct {
	Campaign   *ads.Campaign
	Advertiser *ads.Advertiser
}

// Owners reads the owners of campaigns' units; the map omits campaigns that do not exist.
func (s *Service) Owners(ctx context.Context, campaigns []ads.CampaignID) (map[ads.CampaignID]*Owner, error) {
	found, err := s.Campaigns(ctx, campaigns)
	if err != nil {
		return nil, err
	}
	paying := map[ads.AdvertiserID]bool{}
	for _, c := range found {
		paying[c.Advertiser] = true
	}
	advertisers, err := s.Advertisers(ctx, slices.Collect(maps.Keys(paying)))
	if err != nil {
		return nil, err
	}
	owners := make(map[ads.CampaignID]*Owner, len(found))
	for id, c := range found {
		if a := advertisers[c.Advertiser]; a != nil {
			owners[id] = &Owner{c, a}
		}
	}
	return owners, nil
}

// Preview returns a unit as viewers see it. Its tokens are valid, but using them counts nothing.
func (s *Service) Preview(ctx context.Context, u *ads.Unit, o *Owner) (*Choice, error) {
	key, err := s.signingKey(ctx)
	if err != nil {
		return nil, err
	}
	running := ads.Running(u, o.Campaign, o.Advertiser)
	c := contender{RunningUnit: &running, choice: ads.ChoiceID{ID: id.At(s.now())}}
	shown := c.chosen(ads.ZoneID{Site: "preview", Name: "preview"}, ads.ProfileID{}, false, s.now())
	shown.token.Flags = flagPreview
	choice := shown.choice(key)
	return &choice, nil
}
