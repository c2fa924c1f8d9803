// Package adsmodel is an ads.Store in plain Go, for tests. It implements the contract as simply as
// possible, without durability, and passes the suite in storage/storagetest/adstest, as the engines
// do.
package adsmodel

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"plaza/ads"
)

// Store is an ads.Store in memory. Its methods may be called from any goroutine.
type Store struct {
	mu sync.Mutex
	catalogue
	recordings map[recording]event
	ledgers    map[ads.CampaignID]ads.Ledger
	leases     map[ads.LeaseID]ads.Lease
	profiles   map[ads.ProfileID]*ads.Profile
	refunds    map[ads.RefundID]ads.Refund
	tallies    []tally
	rolledUp   time.Time
	stale      map[time.Time]bool
	traffic    map[ads.TrafficID]ads.Traffic
	key        []byte
}

// catalogue is the state that Save changes.
type catalogue struct {
	advertisers map[ads.AdvertiserID]ads.Advertiser
	campaigns   map[ads.CampaignID]ads.Campaign
	zones       map[ads.ZoneID]ads.Zone
	units       map[ads.UnitID]ads.Unit
}

// recording identifies a recording: each choice has at most one of each kind.
type recording struct {
	choice ads.ChoiceID
	kind   ads.Kind
}

type event struct {
	ads.Recording
	Invalid  ads.Invalid
	Billed   ads.Micros
	day      string // the day whose budget was charged
	refunded ads.Micros
	due      time.Time // zero if it has been counted
}

func (e *event) waits() bool { return !e.due.IsZero() }

var _ ads.Store = (*Store)(nil)

// New returns an empty store.
func New() *Store {
	return &Store{
		catalogue: catalogue{
			advertisers: map[ads.AdvertiserID]ads.Advertiser{}, campaigns: map[ads.CampaignID]ads.Campaign{},
			zones: map[ads.ZoneID]ads.Zone{}, units: map[ads.UnitID]ads.Unit{},
		},
		recordings: map[recording]event{}, ledgers: map[ads.CampaignID]ads.Ledger{},
		leases: map[ads.LeaseID]ads.Lease{}, profiles: map[ads.ProfileID]*ads.Profile{},
		refunds: map[ads.RefundID]ads.Refund{}, stale: map[time.Time]bool{}, traffic: map[ads.TrafficID]ads.Traffic{},
	}
}

// Save implements ads.Catalogue.
func (m *Store) Save(ctx context.Context, b ads.Batch) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	after := catalogue{maps.Clone(m.advertisers), maps.Clone(m.campaigns), maps.Clone(m.zones), maps.Clone(m.units)}
	saved, err := after.save(b)
	if err := cmp.Or(err, ctx.Err()); err != nil {
		return 0, err
	}
	m.catalogue = after
	return saved, nil
}

func (m *catalogue) save(b ads.Batch) (saved int, err error) {
	for _, a := range b.Advertisers {
		n, err := put(m.advertisers, a.ID, a, func(a *ads.Advertiser) *int { return &a.Revision })
		if err != nil {
			return 0, err
		}
		saved += n
	}
	for _, c := range b.Campaigns {
		if was, ok := m.campaigns[c.ID]; ok {
			c.Advertiser = was.Advertiser
		}
		if !has(m.advertisers, c.Advertiser) {
			return 0, ads.ErrNotFound
		}
		n, err := put(m.campaigns, c.ID, c, func(c *ads.Campaign) *int { return &c.Revision })
		if err != nil {
			return 0, err
		}
		saved += n
	}
	for _, z := range b.Zones {
		z.Units = nil
		n, err := put(m.zones, z.ID, z, func(z *ads.Zone) *int { return &z.Revision })
		if err != nil {
			return 0, err
		}
		if m.zones[z.ID].Currency != z.Currency {
			return 0, ads.ErrCurrency
		}
		saved += n
	}
	for _, u := range b.Units {
		if was, ok := m.units[u.ID]; ok {
			u.Campaign, u.Impressions, u.Clicks, u.Conversions = was.Campaign, was.Impressions, was.Clicks, was.Conversions
		}
		u.Zones = slices.Clone(u.Zones)
		n, err := put(m.units, u.ID, u, func(u *ads.Unit) *int { return &u.Revision })
		if err != nil {
			return 0, err
		}
		saved += n
	}
	return saved, m.check()
}

// put stores an entry with the next revision, or leaves the stored one unchanged.
func put[K comparable, V any](m map[K]V, key K, value V, revision func(*V) *int) (int, error) {
	stored, ok := m[key]
	switch given := *revision(&value); {
	case given == 0 && ok:
		return 0, nil
	case given != 0 && (!ok || *revision(&stored) != given):
		return 0, ads.ErrConflict
	}
	*revision(&value)++
	m[key] = value
	return 1, nil
}

// check returns an error if an entry refers to something that does not exist.
func (m *catalogue) check() error {
	placed := map[ads.ZoneID]int{}
	for _, u := range m.units {
		c, ok := m.campaigns[u.Campaign]
		if !ok {
			return ads.ErrNotFound
		}
		if c.Budget.Limited() && c.Budget.Currency != u.Bid.Currency {
			return ads.ErrCurrency
		}
		for _, zone := range u.Zones {
			if !has(m.zones, zone) {
				return ads.ErrNotFound
			}
			if m.zones[zone].Currency != u.Bid.Currency {
				return ads.ErrCurrency
			}
			if u.State != ads.Archived {
				placed[zone]++
			}
			if placed[zone] > ads.MaxZoneUnits {
				return ads.ErrFull
			}
		}
	}
	return nil
}

func has[K comparable, V any](m map[K]V, key K) bool {
	_, ok := m[key]
	return ok
}

// Advertisers implements ads.Catalogue.
func (m *Store) Advertisers(_ context.Context, ids []ads.AdvertiserID) (map[ads.AdvertiserID]*ads.Advertiser, error) {
	return lookUp(m, func() map[ads.AdvertiserID]ads.Advertiser { return m.advertisers }, ids)
}

// Campaigns implements ads.Catalogue.
func (m *Store) Campaigns(_ context.Context, ids []ads.CampaignID) (map[ads.CampaignID]*ads.Campaign, error) {
	return lookUp(m, func() map[ads.CampaignID]ads.Campaign { return m.campaigns }, ids)
}

// Units implements ads.Catalogue.
func (m *Store) Units(ctx context.Context, ids []ads.UnitID) (map[ads.UnitID]*ads.Unit, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return lookUp(m, func() map[ads.UnitID]ads.Unit { return m.units }, ids)
}

func lookUp[K comparable, V any](m *Store, of func() map[K]V, ids []K) (map[K]*V, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	from := of() // read under the lock
	found := map[K]*V{}
	for _, id := range ids {
		if v, ok := from[id]; ok {
			found[id] = &v
		}
	}
	return found, nil
}

// ListAdvertisers implements ads.Catalogue.
func (m *Store) ListAdvertisers(_ context.Context, p ads.Page) ([]*ads.Advertiser, error) {
	return list(m, func() map[ads.AdvertiserID]ads.Advertiser { return m.advertisers }, p, func(a *ads.Advertiser) (string, bool) { return string(a.ID.Bytes()), true })
}

// ListCampaigns implements ads.Catalogue.
func (m *Store) ListCampaigns(_ context.Context, of ads.AdvertiserID, p ads.Page) ([]*ads.Campaign, error) {
	return list(m, func() map[ads.CampaignID]ads.Campaign { return m.campaigns }, p, func(c *ads.Campaign) (string, bool) { return string(c.ID.Bytes()), c.Advertiser == of })
}

// ListUnits implements ads.Catalogue.
func (m *Store) ListUnits(_ context.Context, of ads.CampaignID, p ads.Page) ([]*ads.Unit, error) {
	return list(m, func() map[ads.UnitID]ads.Unit { return m.units }, p, func(u *ads.Unit) (string, bool) { return string(u.ID.Bytes()), u.Campaign == of })
}

// ListZones implements ads.Catalogue.
func (m *Store) ListZones(_ context.Context, p ads.Page) ([]*ads.Zone, error) {
	return list(m, func() map[ads.ZoneID]ads.Zone { return m.zones }, p, func(z *ads.Zone) (string, bool) { return z.ID.String(), true })
}

func list[K comparable, V any](m *Store, of func() map[K]V, p ads.Page, key func(*V) (string, bool)) ([]*V, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := map[string]*V{}
	for _, v := range of() {
		if k, ok := key(&v); ok && k > string(p.After) && (p.Before == "" || k < string(p.Before)) {
			found[k] = &v
		}
	}
	keys := slices.Sorted(maps.Keys(found))
	if n := len(keys); n > p.Limit && p.Last {
		keys = keys[n-p.Limit:]
	} else if n > p.Limit {
		keys = keys[:p.Limit]
	}
	var items []*V
	for _, k := range keys {
		items = append(items, found[k])
	}
	return items, nil
}

// Zone implements ads.Zones.
func (m *Store) Zone(ctx context.Context, id ads.ZoneID) (*ads.Zone, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	zone, ok := m.zones[id]
	if !ok {
		return nil, ads.ErrNotFound
	}
	for _, u := range m.units {
		c := m.campaigns[u.Campaign]
		if slices.Contains(u.Zones, id) && c.State == ads.Active && u.State == ads.Active {
			a := m.advertisers[c.Advertiser]
			zone.Units = append(zone.Units, ads.Running(&u, &c, &a))
		}
	}
	slices.SortFunc(zone.Units, func(a, b ads.RunningUnit) int { return a.Compare(&b) })
	return &zone, nil
}

// Lease implements ads.Budgets.
func (m *Store) Lease(ctx context.Context, r ads.LeaseRequest) (*ads.Lease, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, ok := m.campaigns[r.Campaign]
	if !ok || ctx.Err() != nil {
		return nil, ctx.Err()
	}
	m.giveBack(r.Return)
	ledger := m.ledgers[c.ID]
	lease := c.Grant(&ledger, r)
	if lease != nil {
		m.ledgers[c.ID], m.leases[lease.ID] = ledger, *lease
	}
	return lease, nil
}

// Return implements ads.Budgets.
func (m *Store) Return(ctx context.Context, r ads.Return) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	m.giveBack(r)
	return nil
}

func (m *Store) giveBack(r ads.Return) {
	lease, ok := m.leases[r.Lease.ID]
	if !ok {
		return
	}
	ledger := m.ledgers[lease.Campaign]
	ledger.GiveBack(&lease, r.Used)
	m.ledgers[lease.Campaign], m.leases[lease.ID] = ledger, lease
}

// Expect implements ads.Budgets.
func (m *Store) Expect(ctx context.Context, e ads.Expectation) (ads.Micros, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, ok := m.campaigns[e.Campaign]
	if !ok || ctx.Err() != nil {
		return 0, ctx.Err()
	}
	ledger := m.ledgers[c.ID]
	amount := c.Expect(&ledger, e)
	m.ledgers[c.ID] = ledger
	return amount, nil
}

// Settle implements ads.Budgets.
func (m *Store) Settle(ctx context.Context, now time.Time) (settled int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, lease := range m.leases {
		if settled == ads.MaxSettled || lease.SettleAt.After(now) {
			continue
		}
		ledger := m.ledgers[lease.Campaign]
		ledger.Settle(&lease)
		m.ledgers[lease.Campaign] = ledger
		delete(m.leases, id)
		settled++
	}
	return settled, ctx.Err()
}

// Ledgers implements ads.Budgets.
func (m *Store) Ledgers(_ context.Context, ids []ads.CampaignID) (map[ads.CampaignID]ads.Ledger, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := map[ads.CampaignID]ads.Ledger{}
	for _, id := range ids {
		if ledger, ok := m.ledgers[id]; ok {
			found[id] = ledger
		}
	}
	return found, nil
}

// Reserve implements ads.Profiles.
func (m *Store) Reserve(ctx context.Context, r ads.Reservation) ([]int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := m.profiles[r.Profile]
	if p == nil {
		p = &ads.Profile{ID: r.Profile}
		m.profiles[r.Profile] = p
	}
	return p.Reserve(r), nil
}

// ForgetProfile implements ads.Profiles.
func (m *Store) ForgetProfile(_ context.Context, id ads.ProfileID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.profiles, id)
	return nil
}

// Profile implements ads.Profiles.
func (m *Store) Profile(_ context.Context, id ads.ProfileID) (*ads.Profile, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := &ads.Profile{ID: id}
	if p := m.profiles[id]; p != nil {
		found.Seen = slices.Clone(p.Seen)
	}
	return found, nil
}

// Record implements ads.Recorder.
func (m *Store) Record(ctx context.Context, r ads.Recording) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	once := recording{r.Choice, r.Kind}
	if err := ctx.Err(); err != nil || has(m.recordings, once) {
		return false, err
	}
	m.recordings[once] = event{Recording: r, due: r.At}
	return true, nil
}

// Waiting implements ads.Recorder.
func (m *Store) Waiting(ctx context.Context, due time.Time) (list []ads.Waiting, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []event
	for _, e := range m.recordings {
		if e.waits() && !e.due.After(due) {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b event) int { return a.due.Compare(b.due) })
	for _, e := range all[:min(len(all), ads.MaxCounted)] {
		list = append(list, ads.Waiting{RecordingKey: e.Key(), Campaign: e.Campaign})
	}
	return list, ctx.Err()
}

// Count implements ads.Recorder.
func (m *Store) Count(ctx context.Context, keys []ads.RecordingKey, now time.Time) (receipts []ads.Receipt, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, kind := range ads.Kinds() {
		for _, once := range m.waiting(keys, kind) {
			if e := m.recordings[once]; e.waits() && m.countOne(once, &e, now) {
				receipts = append(receipts, ads.Receipt{RecordingKey: e.Key(), Campaign: m.units[e.Unit].Campaign, Zone: e.Zone, Invalid: e.Invalid, Billed: e.Billed})
			}
		}
	}
	return receipts, nil
}

// waiting returns the waiting recordings of a kind, of the choices in keys, oldest first.
func (m *Store) waiting(keys []ads.RecordingKey, kind ads.Kind) (found []recording) {
	choices := map[ads.ChoiceID]bool{}
	for _, k := range keys {
		once := recording{k.Choice, kind}
		if e, ok := m.recordings[once]; ok && e.waits() && !choices[k.Choice] {
			choices[k.Choice] = true
			found = append(found, once)
		}
	}
	slices.SortFunc(found, func(a, b recording) int { return m.recordings[a].At.Compare(m.recordings[b].At) })
	return found
}

// countOne counts a recording, unless it waits for another one.
func (m *Store) countOne(once recording, e *event, now time.Time) bool {
	u, ok := m.units[e.Unit]
	if !ok {
		delete(m.recordings, once)
		return false
	}
	r := &e.Recording
	evidence := m.evidence(r)
	verdict, waits := r.Judge(evidence, now)
	if waits {
		e.due = r.LookAgain(now)
		m.recordings[once] = *e
		return false
	}
	e.Invalid, e.due = verdict, time.Time{}
	switch {
	case e.Invalid == "":
		e.Billed, e.day = m.charge(u.Campaign, r)
		m.count(u.ID, r.Kind, 1)
		if p := m.profiles[r.Profile]; p != nil && r.Kind == ads.Impression {
			p.Confirm(r.Choice)
		}
	case e.Invalid == ads.TooMany && evidence.Burst():
		m.takeBackBurst(r)
	}
	if r.IsLate(now) {
		m.stale[r.At.UTC().Truncate(time.Hour)] = true
	}
	m.recordings[once] = *e
	return true
}

func (m *Store) count(unit ads.UnitID, kind ads.Kind, by int64) {
	u := m.units[unit]
	switch kind {
	case ads.Conversion:
		u.Conversions += by
	case ads.Click:
		u.Clicks += by
	default:
		u.Impressions += by
	}
	m.units[unit] = u
}

func (m *Store) evidence(r *ads.Recording) ads.Evidence {
	before, ok := m.recordings[recording{r.Choice, r.Kind.Before()}]
	ok = ok && !before.waits()
	e := ads.Evidence{Arrived: ok, Valid: ok && before.Invalid == "", At: before.At}
	if r.Kind != ads.Click {
		return e
	}
	for _, other := range m.recordings {
		if other.Kind != ads.Click || other.Choice == r.Choice || !isBefore(&other, r) {
			continue
		}
		if !r.Profile.IsZero() && other.Profile == r.Profile {
			e.PersonClicks++
		}
		if !r.Address.IsZero() && other.Address == r.Address {
			e.AddressClicks++
		}
	}
	return e
}

// isBefore reports whether a click counts for the rate of another one.
func isBefore(e *event, r *ads.Recording) bool {
	return e.At.After(r.At.Add(-ads.ClickWindow)) && (e.At.Before(r.At) || e.At.Equal(r.At) && !e.waits())
}

func (m *Store) charge(campaign ads.CampaignID, r *ads.Recording) (ads.Micros, string) {
	if r.Cost == 0 {
		return 0, ""
	}
	c, ledger := m.campaigns[campaign], m.ledgers[campaign]
	var from *ads.Lease
	if lease, ok := m.leases[r.Lease]; ok {
		from = &lease
	}
	day, billed := c.Charge(&ledger, from, r)
	if !billed {
		return 0, ""
	}
	m.ledgers[campaign] = ledger
	if from != nil {
		m.leases[r.Lease] = *from
	}
	return r.Cost, day
}

// tally is a counted recording, once on its own and once for each of its keywords.
type tally struct {
	event
	campaign ads.CampaignID
	currency ads.Currency
	keyword  string
}

// RollUp implements ads.Reports.
func (m *Store) RollUp(ctx context.Context, from, to, until time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	within := func(at time.Time) bool { return !at.Before(from) && at.Before(to) }
	m.tallies = slices.DeleteFunc(m.tallies, func(t tally) bool { return within(t.At) })
	for _, e := range m.recordings {
		if !within(e.At) || e.waits() {
			continue
		}
		u := m.units[e.Unit]
		for _, keyword := range append([]string{""}, e.Keywords...) {
			m.tallies = append(m.tallies, tally{e, u.Campaign, u.Bid.Currency, keyword})
		}
	}
	maps.DeleteFunc(m.stale, func(hour time.Time, _ bool) bool { return within(hour) })
	if until.After(m.rolledUp) {
		m.rolledUp = until
	}
	return ctx.Err()
}

// RolledUp implements ads.Reports.
func (m *Store) RolledUp(ctx context.Context) (until time.Time, stale []time.Time, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rolledUp, slices.Collect(maps.Keys(m.stale)), ctx.Err()
}

// Oldest implements ads.Reports.
func (m *Store) Oldest(ctx context.Context) (oldest time.Time, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.recordings {
		if oldest.IsZero() || e.At.Before(oldest) {
			oldest = e.At
		}
	}
	return oldest, ctx.Err()
}

// Report implements ads.Reports.
func (m *Store) Report(ctx context.Context, r ads.ReportRequest) ([]ads.ReportRow, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rows := map[[2]string]*ads.ReportRow{}
	for _, t := range m.tallies {
		other := !r.Campaign.IsZero() && t.campaign != r.Campaign
		if other || t.At.Before(r.From) || !t.At.Before(r.To) || (t.keyword != "") != (r.By == ads.PerKeyword) {
			continue
		}
		at := [2]string{t.key(r.By), string(t.currency)}
		if rows[at] == nil {
			rows[at] = &ads.ReportRow{Key: at[0], Currency: t.currency}
		}
		rows[at].Spend += t.Billed
		rows[at].Refunded += t.refunded
		switch {
		case t.Invalid != "":
			rows[at].Invalid++
		case t.Kind == ads.Click:
			rows[at].Clicks++
		case t.Kind == ads.Conversion:
			rows[at].Conversions++
		default:
			rows[at].Impressions++
		}
	}
	var list []ads.ReportRow
	for _, row := range rows {
		list = append(list, *row)
	}
	return list, ctx.Err()
}

func (t *tally) key(by ads.Dimension) string {
	switch by {
	case ads.PerHour, ads.PerDay:
		return timeKey(by, t.At)
	case ads.PerCampaign:
		return t.campaign.String()
	case ads.PerUnit:
		return t.Unit.String()
	case ads.PerZone:
		return t.Zone.String()
	default:
		return t.keyword
	}
}

func timeKey(by ads.Dimension, at time.Time) string {
	if by == ads.PerDay {
		return ads.HourKey(at.UTC().Truncate(24 * time.Hour))
	}
	return ads.HourKey(at.Truncate(time.Hour))
}

// SigningKey implements ads.Keys.
func (m *Store) SigningKey(ctx context.Context, fresh []byte) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.key == nil {
		m.key = bytes.Clone(fresh)
	}
	return m.key, ctx.Err()
}
