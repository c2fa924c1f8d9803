package mongodb_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/ads"
	"plaza/id"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
	"plaza/storage/storagetest/adstest"
)

func TestAds(t *testing.T) {
	adstest.Run(t, func(t *testing.T) ads.Store {
		t.Helper()
		return open(t, mongotest.WatchRouting(t, mongodb.ShardKeys()).Monitor(nil)).Ads()
	})
}

// TestAdsOnTwoServers gives each call to another one of two stores on one database: what one process's own locks
// would hide must come out right in the database.
func TestAdsOnTwoServers(t *testing.T) {
	adstest.Run(t, func(t *testing.T) ads.Store {
		t.Helper()
		uri, database := mongotest.Database(t)
		var both turns
		for i := range both.stores {
			store, err := mongodb.Open(t.Context(), inDatabase(t, uri, database), mongodb.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := store.Close(); err != nil {
					t.Error(err)
				}
			})
			both.stores[i] = store.Ads()
		}
		return &both
	})
}

// turns is a store that is two, in turn.
type turns struct {
	stores [2]ads.Store
	calls  atomic.Int64
}

func (s *turns) next() ads.Store { return s.stores[s.calls.Add(1)%2] }

func (s *turns) Add(ctx context.Context, b ads.Batch) (int, error) { return s.next().Add(ctx, b) }

func (s *turns) PauseCampaign(ctx context.Context, c ads.CampaignID) (bool, error) {
	return s.next().PauseCampaign(ctx, c)
}

func (s *turns) ResumeCampaign(ctx context.Context, c ads.CampaignID) (bool, error) {
	return s.next().ResumeCampaign(ctx, c)
}

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

func (s *turns) Record(ctx context.Context, r ads.Recording) (bool, error) {
	return s.next().Record(ctx, r)
}

func (s *turns) SigningKey(ctx context.Context, fresh []byte) ([]byte, error) {
	return s.next().SigningKey(ctx, fresh)
}

// sent are the commands on the ads' collections that a store has sent.
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
	_, err := store.Add(t.Context(), ads.Batch{
		Advertisers: []ads.Advertiser{{ID: advertiser, Name: "Acme"}},
		Campaigns:   []ads.Campaign{{ID: f.campaign, Advertiser: advertiser, Name: "Spring"}},
		Zones:       []ads.Zone{{ID: f.zone, Currency: "EUR"}},
		Units: []ads.Unit{
			{ID: f.cpm, Campaign: f.campaign, Creative: creative, Zones: []ads.ZoneID{f.zone}, Bid: ads.Bid{Model: ads.CPM, Price: 1e6, Currency: "EUR"}},
			{ID: f.cpc, Campaign: f.campaign, Creative: creative, Zones: []ads.ZoneID{f.zone}, Bid: ads.Bid{Model: ads.CPC, Price: 1e6, Currency: "EUR"}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestChoosingAdsIsOneCommand also finds the zone's _id, which is its shard key, in the command.
func TestChoosingAdsIsOneCommand(t *testing.T) {
	var log sent
	store := open(t, log.monitor()).Ads()
	f := placeAds(t, store)
	service := ads.New(store, ads.Options{})
	choose := func() {
		t.Helper()
		choices, err := service.Choose(t.Context(), f.zone.Site, f.zone.Name, 2)
		if err != nil || len(choices) != 2 {
			t.Fatalf("Choose: %d choices, %v; want 2", len(choices), err)
		}
	}
	choose() // reads the signing key once
	commands, names := log.during(choose)
	if len(names) != 1 || names[0] != "find adZones" {
		t.Fatalf("a choice costs %q, want one find in adZones", names)
	}
	if got := commands[0].Lookup("filter", "_id").String(); got != `"example.org/top"` {
		t.Errorf("the zone is looked up by %s, not by its _id", commands[0].Lookup("filter"))
	}
}

// TestRecordingAnAdMovesItOnlyWhereItsValueChanges counts the commands on the zone, which every choice reads.
func TestRecordingAnAdMovesItOnlyWhereItsValueChanges(t *testing.T) {
	var log sent
	store := open(t, log.monitor()).Ads()
	f := placeAds(t, store)
	for _, c := range []struct {
		name string
		unit ads.UnitID
		kind ads.Kind
		want []string
	}{
		{"an impression of a CPM unit", f.cpm, ads.Impression, []string{"insert adImpressions", "findAndModify adUnits"}},
		{"a click on a CPM unit", f.cpm, ads.Click, []string{"insert adClicks", "findAndModify adUnits"}},
		{"a click on a CPC unit", f.cpc, ads.Click, []string{"insert adClicks", "findAndModify adUnits", "update adZones"}},
	} {
		_, names := log.during(func() {
			r := ads.Recording{Kind: c.kind, Choice: ads.ChoiceID{ID: id.New()}, Unit: c.unit, Zone: f.zone}
			if recorded, err := store.Record(t.Context(), r); err != nil || !recorded {
				t.Errorf("%s: recorded %v, %v", c.name, recorded, err)
			}
		})
		if !slices.Equal(names, c.want) {
			t.Errorf("%s costs %q, want %q", c.name, names, c.want)
		}
	}
}

// TestPausingFindsZonesByIndex asks the server how it runs the very update that pausing sends.
func TestPausingFindsZonesByIndex(t *testing.T) {
	var log sent
	uri, database := mongotest.Database(t)
	db := connect(t, uri).Database(database)
	opened, err := mongodb.Open(t.Context(), inDatabase(t, uri, database), mongodb.Options{Monitor: log.monitor()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	store := opened.Ads()
	f := placeAds(t, store)
	commands, names := log.during(func() {
		if paused, err := store.PauseCampaign(t.Context(), f.campaign); err != nil || !paused {
			t.Fatalf("PauseCampaign: %v, %v", paused, err)
		}
	})
	if want := []string{"findAndModify adCampaigns", "update adZones"}; !slices.Equal(names, want) {
		t.Fatalf("pausing costs %q, want %q", names, want)
	}
	update := bson.D{{Key: "update", Value: "adZones"}, {Key: "updates", Value: commands[1].Lookup("updates")}}
	plan, err := db.RunCommand(t.Context(), bson.D{{Key: "explain", Value: update}, {Key: "verbosity", Value: "queryPlanner"}}).Raw()
	if err != nil {
		t.Fatal(err)
	}
	winning := plan.Lookup("queryPlanner", "winningPlan").String()
	if !strings.Contains(winning, `"units_campaign"`) || strings.Contains(winning, "COLLSCAN") {
		t.Errorf("zones are not found by the index on the campaign: %s", winning)
	}

	for _, collection := range []string{"adImpressions", "adClicks"} {
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

func connect(t *testing.T, uri string) *mongo.Client {
	t.Helper()
	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	return client
}
