package mongodb_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/id"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
	"plaza/storage/storagetest/adstest"
)

// adHistories is smaller than on SQLite: MongoDB takes longer.
const adHistories = 10

func TestAdsOnOneServer(t *testing.T) {
	t.Parallel()
	adstest.Run(t, adHistories, func(t *testing.T) ads.Store {
		t.Helper()
		return open(t, mongotest.WatchRouting(t, mongodb.ShardKeys()).Monitor(nil)).Ads()
	})
}

// TestAdsOnTwoServers sends the calls alternately to two stores on one database, so that the locks
// of one process cannot hide mistakes.
func TestAdsOnTwoServers(t *testing.T) {
	t.Parallel()
	adstest.RunOnSeveral(t, adHistories, func(t *testing.T) ads.Store {
		t.Helper()
		var both turns
		for i, store := range openTwo(t, mongodb.Options{}) {
			both.stores[i] = store.Ads()
		}
		return &both
	})
}

// turns is a store that forwards its calls to two stores in turn.
type turns struct {
	stores [2]ads.Store
	calls  atomic.Int64
}

func (s *turns) next() ads.Store { return s.stores[s.calls.Add(1)%2] }

func (s *turns) Save(ctx context.Context, b ads.Batch) (int, error) { return s.next().Save(ctx, b) }

func (s *turns) Advertisers(ctx context.Context, ids []ads.AdvertiserID) (map[ads.AdvertiserID]*ads.Advertiser, error) {
	return s.next().Advertisers(ctx, ids)
}

func (s *turns) Campaigns(ctx context.Context, ids []ads.CampaignID) (map[ads.CampaignID]*ads.Campaign, error) {
	return s.next().Campaigns(ctx, ids)
}

func (s *turns) Units(ctx context.Context, ids []ads.UnitID) (map[ads.UnitID]*ads.Unit, error) {
	return s.next().Units(ctx, ids)
}

func (s *turns) Zone(ctx context.Context, zone ads.ZoneID) (*ads.Zone, error) {
	return s.next().Zone(ctx, zone)
}

func (s *turns) ListAdvertisers(ctx context.Context, p ads.Page) ([]*ads.Advertiser, error) {
	return s.next().ListAdvertisers(ctx, p)
}

func (s *turns) ListCampaigns(ctx context.Context, of ads.AdvertiserID, p ads.Page) ([]*ads.Campaign, error) {
	return s.next().ListCampaigns(ctx, of, p)
}

func (s *turns) ListUnits(ctx context.Context, of ads.CampaignID, p ads.Page) ([]*ads.Unit, error) {
	return s.next().ListUnits(ctx, of, p)
}

func (s *turns) ListZones(ctx context.Context, p ads.Page) ([]*ads.Zone, error) {
	return s.next().ListZones(ctx, p)
}

func (s *turns) Lease(ctx context.Context, r ads.LeaseRequest) (*ads.Lease, error) {
	return s.next().Lease(ctx, r)
}

func (s *turns) Return(ctx context.Context, r ads.Return) error { return s.next().Return(ctx, r) }

func (s *turns) Expect(ctx context.Context, e ads.Expectation) (ads.Micros, error) {
	return s.next().Expect(ctx, e)
}

func (s *turns) Settle(ctx context.Context, now time.Time) (int, error) {
	return s.next().Settle(ctx, now)
}

func (s *turns) Ledgers(ctx context.Context, ids []ads.CampaignID) (map[ads.CampaignID]ads.Ledger, error) {
	return s.next().Ledgers(ctx, ids)
}

func (s *turns) Reserve(ctx context.Context, r ads.Reservation) ([]int, error) {
	return s.next().Reserve(ctx, r)
}

func (s *turns) Profile(ctx context.Context, p ads.ProfileID) (*ads.Profile, error) {
	return s.next().Profile(ctx, p)
}

func (s *turns) ForgetUser(ctx context.Context, user string) (bool, error) {
	return s.next().ForgetUser(ctx, user)
}

func (s *turns) RollUp(ctx context.Context, from, to, until time.Time) error {
	return s.next().RollUp(ctx, from, to, until)
}

func (s *turns) RolledUp(ctx context.Context) (time.Time, []time.Time, error) {
	return s.next().RolledUp(ctx)
}

func (s *turns) Oldest(ctx context.Context) (time.Time, error) { return s.next().Oldest(ctx) }

func (s *turns) Charged(ctx context.Context, of ads.Selection) (ads.Charges, error) {
	return s.next().Charged(ctx, of)
}

func (s *turns) Begin(ctx context.Context, r ads.Refund) error { return s.next().Begin(ctx, r) }

func (s *turns) Continue(ctx context.Context, refund ads.RefundID, now time.Time) (*ads.Refund, error) {
	return s.next().Continue(ctx, refund, now)
}

func (s *turns) Unfinished(ctx context.Context) ([]ads.RefundID, error) {
	return s.next().Unfinished(ctx)
}

func (s *turns) ListRefunds(ctx context.Context, of ads.CampaignID, p ads.Page) ([]*ads.Refund, error) {
	return s.next().ListRefunds(ctx, of, p)
}

func (s *turns) PutTraffic(ctx context.Context, counts []ads.Traffic) error {
	return s.next().PutTraffic(ctx, counts)
}

func (s *turns) Traffic(ctx context.Context, r ads.TrafficRequest) ([]ads.TrafficRow, error) {
	return s.next().Traffic(ctx, r)
}

func (s *turns) Report(ctx context.Context, r ads.ReportRequest) ([]ads.ReportRow, error) {
	return s.next().Report(ctx, r)
}

func (s *turns) Record(ctx context.Context, r ads.Recording) (bool, error) {
	return s.next().Record(ctx, r)
}

func (s *turns) Waiting(ctx context.Context, due time.Time) ([]ads.Waiting, error) {
	return s.next().Waiting(ctx, due)
}

func (s *turns) Count(ctx context.Context, keys []ads.RecordingKey, now time.Time) ([]ads.Receipt, error) {
	return s.next().Count(ctx, keys, now)
}

func (s *turns) SigningKey(ctx context.Context, fresh []byte) ([]byte, error) {
	return s.next().SigningKey(ctx, fresh)
}

// sent records the commands of a store on the collections of ads.
type sent struct {
	mu       sync.Mutex
	commands []bson.Raw
}

func (s *sent) monitor() *event.CommandMonitor {
	return &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if on, ok := e.Command.Lookup(e.CommandName).StringValueOK(); ok && strings.HasPrefix(on, "ad") {
			s.commands = append(s.commands, slices.Clone(e.Command))
		}
	}}
}

// during returns the commands that are sent while do runs, and each one's name and collection.
func (s *sent) during(do func()) (commands []bson.Raw, names []string) {
	s.mu.Lock()
	before := len(s.commands)
	s.mu.Unlock()
	do()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, command := range s.commands[before:] {
		first := command.Index(0)
		commands, names = append(commands, command), append(names, first.Key()+" "+first.Value().StringValue())
	}
	return commands, names
}

// adFixture is a campaign with a CPM and a CPC unit in one zone.
type adFixture struct {
	campaign ads.CampaignID
	zone     ads.ZoneID
	cpm, cpc ads.UnitID
}

func placeAds(t *testing.T, store ads.Store) adFixture {
	t.Helper()
	f := adFixture{
		campaign: ads.CampaignID{ID: id.New()}, zone: ads.ZoneID{Site: "example.org", Name: "top"},
		cpm: ads.UnitID{ID: id.New()}, cpc: ads.UnitID{ID: id.New()},
	}
	creative := ads.Creative{Headline: "Buy", LandingURL: "https://acme.example/"}
	advertiser := ads.AdvertiserID{ID: id.New()}
	_, err := store.Save(t.Context(), ads.Batch{
		Advertisers: []ads.Advertiser{{ID: advertiser, Name: "Acme"}},
		Campaigns:   []ads.Campaign{{ID: f.campaign, Advertiser: advertiser, Name: "Spring", State: ads.Active}},
		Zones:       []ads.Zone{{ID: f.zone, Currency: "EUR", Design: ads.ByKeywords}},
		Units: []ads.Unit{
			{ID: f.cpm, State: ads.Active, Campaign: f.campaign, Creative: creative, Zones: []ads.ZoneID{f.zone}, Bid: ads.Bid{Model: ads.CPM, Price: 1e6, Currency: "EUR"}},
			{ID: f.cpc, State: ads.Active, Campaign: f.campaign, Creative: creative, Zones: []ads.ZoneID{f.zone}, Bid: ads.Bid{Model: ads.CPC, Price: 1e6, Currency: "EUR"}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestChoosingAdsIsTwoCommands checks that a choice takes one command without caps, and two with
// caps. Each contains the shard key of its collection.
func TestChoosingAdsIsTwoCommands(t *testing.T) {
	t.Parallel()
	var log sent
	store := open(t, log.monitor()).Ads()
	f := placeAds(t, store)
	now := time.Now()
	service := adserver.New(store, adserver.Options{Now: func() time.Time { return now }})
	r := adserver.Request{Site: f.zone.Site, Zone: f.zone.Name, Count: 2, Visitor: "visitor"}
	again := func() {
		t.Helper()
		choices, err := service.Choose(t.Context(), r)
		if err != nil || len(choices) != 2 {
			t.Fatalf("Choose: %d choices, %v; want 2", len(choices), err)
		}
	}
	choose := func() {
		t.Helper()
		now = now.Add(time.Second) // the cached zone has expired
		again()
	}
	choose() // reads the signing key once
	if _, names := log.during(again); len(names) != 0 {
		t.Errorf("another choice in the same second costs %q, want nothing", names)
	}
	commands, names := log.during(choose)
	if len(names) != 1 || names[0] != "find adZones" {
		t.Fatalf("a choice without caps costs %q, want one find in adZones", names)
	}
	if got := commands[0].Lookup("filter", "_id").String(); got != `"example.org/top"` {
		t.Errorf("the zone is looked up by %s, not by its _id", commands[0].Lookup("filter"))
	}

	campaigns, err := store.Campaigns(t.Context(), []ads.CampaignID{f.campaign})
	if err != nil {
		t.Fatal(err)
	}
	c := *campaigns[f.campaign]
	c.Caps = []ads.Cap{{Count: 50, Per: ads.Day}}
	c.Budget = ads.Budget{Currency: "EUR", Total: 1e9, Daily: 1e8}
	if _, err := store.Save(t.Context(), ads.Batch{Campaigns: []ads.Campaign{c}}); err != nil {
		t.Fatal(err)
	}
	choose() // takes a lease, which serves the choices that follow
	commands, names = log.during(choose)
	if !slices.Equal(names, []string{"find adZones", "findAndModify adProfiles"}) {
		t.Fatalf("a choice under caps and a budget costs %q", names)
	}
	if commands[1].Lookup("query", "_id").Type != bson.TypeBinary {
		t.Errorf("the profile is looked up by %s, not by its _id", commands[1].Lookup("query"))
	}
}

// TestRecordingAnAdIsOneInsertion checks that, whatever happens to the campaign.
func TestRecordingAnAdIsOneInsertion(t *testing.T) {
	t.Parallel()
	var log sent
	store := open(t, log.monitor()).Ads()
	f := placeAds(t, store)
	for kind, want := range map[ads.Kind]string{ads.Impression: "insert adImpressions", ads.Click: "insert adClicks", ads.Conversion: "insert adConversions"} {
		r := ads.Recording{Kind: kind, Choice: ads.ChoiceID{ID: id.New()}, Unit: f.cpc, Zone: f.zone}
		for _, first := range []bool{true, false} {
			_, names := log.during(func() {
				if recorded, err := store.Record(t.Context(), r); err != nil || recorded != first {
					t.Errorf("%s: recorded %v, %v", kind, recorded, err)
				}
			})
			if !slices.Equal(names, []string{want}) {
				t.Errorf("%s costs %q, want %q", kind, names, want)
			}
		}
	}
}

// TestCountingManyAdsCostsAsMuchAsOne checks the number of commands, apart from the look-ups that
// judge clicks. The zone, which every choice reads, is written only if a unit moves.
func TestCountingManyAdsCostsAsMuchAsOne(t *testing.T) {
	t.Parallel()
	var log sent
	store := open(t, log.monitor()).Ads()
	f := placeAds(t, store)
	now := time.Now()
	recorded := func(n int, kind ads.Kind, unit ads.UnitID, of ...ads.RecordingKey) (keys []ads.RecordingKey) {
		t.Helper()
		for i := range n {
			r := ads.Recording{Kind: kind, Choice: ads.ChoiceID{ID: id.New()}, Unit: unit, Campaign: f.campaign, Zone: f.zone, At: now, KeepUntil: now.Add(ads.EventLife), Cost: 7}
			if kind != ads.Impression {
				r.Choice = of[i].Choice
			}
			if _, err := store.Record(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			keys = append(keys, r.Key())
		}
		return keys
	}
	counting := func(name string, keys []ads.RecordingKey, want ...[]string) {
		t.Helper()
		_, names := log.during(func() {
			if _, err := store.Count(t.Context(), keys, now); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
		if !slices.Equal(names, slices.Concat(want...)) {
			t.Errorf("%s costs %q, want %q", name, names, slices.Concat(want...))
		}
	}
	read := []string{"find adImpressions", "find adClicks"}
	books := []string{"find adUnits", "find adCampaigns", "find adLedgers", "find adLeases"}
	counted := []string{"update adImpressions", "findAndModify adUnits", "update adLedgers"}
	counting("an impression", recorded(1, ads.Impression, f.cpm), read, read, books, counted)
	counting("many", recorded(ads.MaxCounted, ads.Impression, f.cpm), read, read, books, counted)
	counting("nothing", []ads.RecordingKey{{Kind: ads.Click, Choice: ads.ChoiceID{ID: id.New()}}}, read)
	shown := recorded(2, ads.Impression, f.cpc)
	counting("impressions of a unit that moves", shown, read, read, books, []string{"update adImpressions", "findAndModify adUnits", "update adZones", "update adLedgers"})
	withConversions := slices.Concat(read, []string{"find adConversions"})
	counting("clicks", recorded(2, ads.Click, f.cpc, shown...), withConversions, withConversions, books,
		[]string{"update adClicks", "update adClicks", "findAndModify adUnits", "update adZones", "update adLedgers"})
	counting("conversions", recorded(2, ads.Conversion, f.cpc, shown...), withConversions, withConversions, books,
		[]string{"update adConversions", "findAndModify adUnits", "update adLedgers"})
}

// TestEveryAdQueryUsesAnIndex runs the suite, and explains each kind of command that it has sent.
func TestEveryAdQueryUsesAnIndex(t *testing.T) {
	t.Parallel()
	r := new(recorder)
	store := newTown(t, r)
	adstest.CallEverything(t, store.Ads())
	var commands []bson.Raw
	for _, command := range r.take() {
		if on, ok := command.Index(0).Value().StringValueOK(); ok && strings.HasPrefix(on, "ad") {
			commands = append(commands, command)
		}
	}
	explainAll(t, commands, 15)
}

func TestOldRecordingsAndProfilesExpire(t *testing.T) {
	t.Parallel()
	uri := mongotest.Reused(t)
	db := mongotest.Connect(t, uri)
	opened, err := mongodb.Open(t.Context(), uri, patient(mongodb.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	for _, collection := range []string{"adImpressions", "adClicks", "adConversions", "adProfiles"} {
		indexes, err := db.Collection(collection).Indexes().ListSpecifications(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(indexes, func(i mongo.IndexSpecification) bool {
			return i.Name == "keepUntil" && i.ExpireAfterSeconds != nil && *i.ExpireAfterSeconds == 0
		}) {
			t.Errorf("%s does not expire by keepUntil: %+v", collection, indexes)
		}
	}
}
