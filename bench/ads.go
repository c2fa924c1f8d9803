package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/bench/figures"
	"plaza/bench/measure"
	"plaza/id"
	"plaza/social"
	"plaza/storage"
	"plaza/storage/mongodb"
	"plaza/storage/sqlite"
)

// AdsOptions configures [Ads].
type AdsOptions struct {
	Options

	Zones    int // before they are scaled
	Units    int // in each zone: 1 to ads.MaxZoneUnits
	Profiles int // before they are scaled
}

// The designs of zones, and the queries that ads are compared with.
var (
	adDesigns = []contender{{name: "zone"}, {name: "frequency"}, {name: "keywords"}}
	designs   = map[string]ads.Design{"zone": ads.ByZone, "frequency": ads.ByFrequency, "keywords": ads.ByKeywords}
)

const (
	trivialUser = "viewer's handle"
	trivialNone = "no field"
)

const adsNotes = `Each zone has units of different campaigns, half of them CPM and half CPC, with five of a thousand keywords; every second unit has a cap of 3 a day, every fourth campaign one of 10 a week
and a daily budget; the best ad of each zone has a cap. Every choice is for another visitor, from as many visitors as there are profiles (*signed in*: for one of 1,000 users), with three keywords. *Choice* is ` + "`adserver.Service.Choose`" + `, *query* a whole GraphQL request, from its body to the answer's bytes; 16 run concurrently. A zone is
read at most once a second; *one zone* is that of a busy page, *all zones* are taken in turn, after each was asked for once. Designs are those of the same zones, read by the design's name.
*Server* is the CPU time of this process (with SQLite in it), *mongod* that of the database: the medians of the rounds, in which all take turns, ± half the distance of the quartiles. *p99* is by the clock.`

// Ads compares the designs of ad zones on both engines, and the cost of a query for ads with that
// of a nearly empty query.
func Ads(ctx context.Context, o AdsOptions) (*figures.Report, error) {
	if o.Zones < 1 || o.Units < 1 || o.Units > ads.MaxZoneUnits || o.Profiles < 1 {
		return nil, fmt.Errorf("--zones, --units and --profiles must be 1 or more, and --units %d at most", ads.MaxZoneUnits)
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	chosen, err := o.chosen(adDesigns)
	if err != nil {
		return nil, err
	}
	report := &figures.Report{Name: "ads", Title: "Ads: what a choice costs in each design", Command: o.Command, Notes: adsNotes}
	for _, engine := range []func(context.Context, *AdsOptions, func(*adScene) error) error{onMongoDB, onSQLite} {
		err := engine(ctx, &o, func(s *adScene) error {
			s.designs = namesOf(chosen)
			if err := s.load(ctx); err != nil {
				return fmt.Errorf("loading %s: %w", s.name, err)
			}
			return s.measure(ctx, report)
		})
		if err != nil {
			return nil, err
		}
	}
	return report, nil
}

// adScene is an engine with zones full of ads, and people who have seen some.
type adScene struct {
	o       *AdsOptions
	name    string
	machine string
	store   adDatabase
	wire    *measure.Wire
	meter   *measure.Meter
	designs []string

	zones    []ads.ZoneID
	units    []ads.UnitID
	profiles int
	users    int
}

type adDatabase interface {
	storage.Store
	ImportAdProfiles(ctx context.Context, profiles []ads.Profile) error
}

func newAdScene(o *AdsOptions, name string, store adDatabase, meter *measure.Meter) *adScene {
	s := &adScene{o: o, name: name, store: store, meter: meter, profiles: o.scaled(o.Profiles, 10)}
	for n := range o.scaled(o.Zones, 2) {
		s.zones = append(s.zones, ads.ZoneID{Site: fmt.Sprintf("site%d.example", n/10), Name: fmt.Sprintf("place%d", n%10)})
	}
	return s
}

func onMongoDB(ctx context.Context, o *AdsOptions, run func(*adScene) error) (err error) {
	arena, err := OpenArena(ctx, o.URI, o.Overwrite)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, arena.Close(ctx)) }()
	rival, err := arena.Open(ctx, "ads", mongodb.Options{})
	if err != nil {
		return err
	}
	s := newAdScene(o, "MongoDB", rival.Store, arena.Meter)
	s.wire, s.machine = rival.Wire, arena.machine(ctx)
	return run(s)
}

func onSQLite(ctx context.Context, o *AdsOptions, run func(*adScene) error) (err error) {
	folder, err := os.MkdirTemp("", "plaza-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	store, err := sqlite.Open(ctx, filepath.Join(folder, "bench.sqlite"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	meter, err := measure.NewMeter(ctx, nil)
	if err != nil {
		return err
	}
	return run(newAdScene(o, "SQLite", store, meter))
}

func (s *adScene) load(ctx context.Context) error {
	dice := rand.New(rand.NewPCG(s.o.Seed, 4)) //nolint:gosec // the random choices of made-up ads need no secrecy
	stage := "loading " + s.name
	total := len(s.zones)*s.o.Units + s.profiles
	campaigns, err := s.loadCampaigns(ctx)
	if err != nil {
		return err
	}
	perBatch := max(1, ads.MaxBatch/s.o.Units)
	for from := 0; from < len(s.zones); from += perBatch {
		var batch ads.Batch
		for n := from; n < min(from+perBatch, len(s.zones)); n++ {
			batch.Zones = append(batch.Zones, ads.Zone{ID: s.zones[n], Currency: adCurrency, Design: ads.ByKeywords})
			for range s.o.Units {
				u := s.newUnit(dice, s.zones[n], campaigns[len(s.units)%len(campaigns)])
				s.units = append(s.units, u.ID)
				batch.Units = append(batch.Units, u)
			}
		}
		if _, err := s.store.Ads().Save(ctx, batch); err != nil {
			return err
		}
		s.o.progress(stage, len(s.units), total)
	}
	if err := s.loadProfiles(ctx, dice, func(n int) { s.o.progress(stage, len(s.units)+n, total) }); err != nil {
		return err
	}
	return s.signUp(ctx)
}

// signUp creates signed-in users.
func (s *adScene) signUp(ctx context.Context) error {
	users := make([]social.NewUser, s.o.scaled(usualUsers, 2))
	for n := range users {
		users[n] = newPerson(n)
	}
	s.users = len(users)
	if _, err := s.store.ImportUsers(ctx, users); err != nil {
		return err
	}
	return inParallel(ctx, len(users), func(ctx context.Context, n int) error { return signIn(ctx, s.store, []int{n}) })
}

const (
	adCurrency    = "EUR"
	adKeywords    = 1_000 // in use
	unitKeywords  = 5
	pageKeywords  = 3
	reused        = 20 // units of a campaign, where there are enough
	maxSeen       = 7  // sightings of a profile, minus one
	usualUsers    = 1_000
	parallelCalls = 16
)

func keyword(n int) string { return fmt.Sprintf("topic %d", n) }

// loadCampaigns stores more campaigns than a zone has units, two for each advertiser.
func (s *adScene) loadCampaigns(ctx context.Context) ([]ads.CampaignID, error) {
	var ids []ads.CampaignID
	var batch ads.Batch
	save := func() error {
		_, err := s.store.Ads().Save(ctx, batch)
		batch = ads.Batch{}
		return err
	}
	for n := range max(s.o.Units, len(s.zones)*s.o.Units/reused) {
		advertiser := ads.Advertiser{ID: ads.AdvertiserID{ID: derived(began, "advertiser", n/2)}, Name: fmt.Sprintf("Advertiser %d", n/2)}
		c := ads.Campaign{
			ID: ads.CampaignID{ID: derived(began, "campaign", n)}, Advertiser: advertiser.ID, Name: fmt.Sprintf("Campaign %d", n), State: ads.Active,
		}
		if n%4 == 0 {
			c.Caps = []ads.Cap{{Count: 10, Per: ads.Week}}
			c.Budget = ads.Budget{Currency: adCurrency, Daily: 1_000_000_000_000}
		}
		if n%2 == 0 {
			batch.Advertisers = append(batch.Advertisers, advertiser)
		}
		batch.Campaigns = append(batch.Campaigns, c)
		ids = append(ids, c.ID)
		if len(batch.Campaigns) == ads.MaxBatch {
			if err := save(); err != nil {
				return nil, err
			}
		}
	}
	return ids, save()
}

func (s *adScene) newUnit(dice *rand.Rand, zone ads.ZoneID, campaign ads.CampaignID) ads.Unit {
	n := len(s.units)
	u := ads.Unit{
		ID: ads.UnitID{ID: derived(began, "unit", n)}, Campaign: campaign, State: ads.Active, Zones: []ads.ZoneID{zone},
		Creative: ads.Creative{
			Headline: fmt.Sprintf("The best of %d", n), Body: "Made with care, sent the same day, and taken back when you do not like it.",
			ImageURL: fmt.Sprintf("https://shop.example/pictures/%d.jpg", n), LandingURL: fmt.Sprintf("https://shop.example/things/%d?from=plaza", n),
		},
		Bid: ads.Bid{Model: ads.CPM, Price: ads.Micros(50+dice.IntN(450)) * 10_000, Currency: adCurrency},
	}
	if n%4 < 2 {
		u.Bid = ads.Bid{Model: ads.CPC, Price: ads.Micros(5+dice.IntN(45)) * 10_000, Currency: adCurrency}
	}
	if n%2 == 0 {
		u.Caps = []ads.Cap{{Count: 3, Per: ads.Day}}
	}
	if n%s.o.Units == 0 { // the best ad of each zone has a cap, so that each choice by a design other than by zone writes a profile
		u.Bid = ads.Bid{Model: ads.CPM, Price: 6_000_000, Currency: adCurrency}
		u.Caps = []ads.Cap{{Count: 3, Per: ads.Day}}
	}
	for _, k := range dice.Perm(adKeywords)[:unitKeywords] {
		u.Keywords = append(u.Keywords, keyword(k))
	}
	slices.Sort(u.Keywords)
	return u
}

func visitor(n int) string { return fmt.Sprintf("visitor-%d", n) }

// loadProfiles stores profiles, each with up to six impressions of the last day, in the order of
// their ids.
func (s *adScene) loadProfiles(ctx context.Context, dice *rand.Rand, progress func(done int)) error {
	key, err := s.store.Ads().SigningKey(ctx, make([]byte, 32))
	if err != nil {
		return err
	}
	ids := make([]ads.ProfileID, s.profiles)
	for n := range ids {
		ids[n] = adserver.VisitorProfile(key, visitor(n))
	}
	slices.SortFunc(ids, func(a, b ads.ProfileID) int { return a.Compare(b.ID) })
	now := time.Now().UTC().Truncate(time.Millisecond)
	done := 0
	for some := range slices.Chunk(ids, 5*inBatch) {
		profiles := make([]ads.Profile, len(some))
		for i, profile := range some {
			profiles[i] = ads.Profile{ID: profile}
			for range dice.IntN(maxSeen) {
				at := now.Add(-time.Duration(dice.IntN(24*60)) * time.Minute)
				profiles[i].Seen = append(profiles[i].Seen, ads.Sighting{
					Scope: s.units[dice.IntN(len(s.units))].ID, Choice: ads.ChoiceID{ID: id.At(at)}, At: at, Until: at.Add(24 * time.Hour), Keep: at.Add(24 * time.Hour),
				})
			}
		}
		if err := s.store.ImportAdProfiles(ctx, profiles); err != nil {
			return err
		}
		done += len(some)
		progress(done)
	}
	return nil
}

// The calls of [Ads].
const (
	callChoiceOne  = "choice, one zone"
	callChoiceAll  = "choice, all zones"
	callQueryOne   = "query, one zone"
	callQueryAll   = "query, all zones"
	callQueryGroup = "query, five ads"
	callQueryUser  = "query, signed in"
)

const adFields = `{ id headline body imageUrl clickUrl impressionToken advertiser why }`

const adQuery = `query($site: String!, $zone: String!, $keywords: [String!], $count: Int, $visitor: String) {
	ads(site: $site, zone: $zone, keywords: $keywords, count: $count, visitor: $visitor) ` + adFields + ` }`

var (
	handleQuery = body(`{ viewer { user { handle } } }`, nil)
	emptyQuery  = body(`{ __typename }`, nil)
)

func (s *adScene) measure(ctx context.Context, report *figures.Report) error {
	if s.machine != "" {
		report.Machine = s.machine
	}
	section := &figures.Section{
		Name: "ads-" + figures.FileName(s.name), Rivals: "design", First: s.designs[0], Rates: true,
		Title: fmt.Sprintf("%s: %s zones with %d ads each, %s profiles", s.name, figures.Grouped(len(s.zones)), s.o.Units, figures.Grouped(s.profiles)),
	}
	var err error
	section.Results, err = s.o.contest(s.meter, "measuring "+s.name).Run(ctx, s.calls())
	if err != nil {
		return err
	}
	s.remark(section)
	report.Sections = append(report.Sections, section)
	return nil
}

func (s *adScene) calls() []measure.Call {
	one := func(int) ads.ZoneID { return s.zones[0] }
	all := func(n int) ads.ZoneID { return s.zones[n*7919%len(s.zones)] } // a prime: each zone is used once before any is repeated
	signedOut := func(int) string { return "" }
	user := func(n int) string { return tokenOf(n % s.users) }
	handles := s.trivial(trivialUser, user, handleQuery)
	return []measure.Call{
		{Name: callChoiceOne, Turns: s.choices(one)},
		{Name: callChoiceAll, Turns: s.warmed(s.choices(all))},
		{Name: callQueryOne, Turns: append(s.queries(signedOut, one, 1), handles, s.trivial(trivialNone, signedOut, emptyQuery))},
		{Name: callQueryAll, Turns: append(s.warmed(s.queries(signedOut, all, 1)), handles)},
		{Name: callQueryGroup, Turns: s.queries(signedOut, one, 5)},
		{Name: callQueryUser, Turns: append(s.queries(user, one, 1), handles)},
	}
}

// warmed reads each zone once before anything is measured, so that part of each budget is on lease.
func (s *adScene) warmed(turns []measure.Turn) []measure.Turn {
	for i := range turns {
		do, warm := turns[i].Do, false
		turns[i].Do = func(ctx context.Context, n int) error {
			for zone := 0; !warm && zone < len(s.zones); zone++ {
				if err := do(ctx, zone); err != nil {
					return err
				}
			}
			if !warm { // in the first call, which is made alone
				warm = true
			}
			return do(ctx, n)
		}
	}
	return turns
}

// choices returns turns that measure how each design chooses an ad.
func (s *adScene) choices(zone func(n int) ads.ZoneID) []measure.Turn {
	var turns []measure.Turn
	for _, design := range s.designs {
		service := adserver.New(designed{s.store, designs[design]}.Ads(), adserver.Options{})
		turns = append(turns, measure.Turn{Rival: design, Wire: s.wire, Goroutines: parallelCalls, Do: func(ctx context.Context, n int) error {
			at := zone(n)
			choices, err := service.Choose(ctx, adserver.Request{Site: at.Site, Zone: at.Name, Keywords: s.keywords(n), Count: 1, Visitor: s.visitor(n)})
			if err == nil && len(choices) != 1 {
				err = fmt.Errorf("%d ads were chosen in %v", len(choices), at)
			}
			return err
		}})
	}
	return turns
}

// queries returns turns that ask each design for ads, by GraphQL.
func (s *adScene) queries(token func(n int) string, zone func(n int) ads.ZoneID, count int) []measure.Turn {
	requests := make([][]byte, 4096)
	for n := range requests {
		at := zone(n)
		requests[n] = body(adQuery, map[string]any{
			"site": at.Site, "zone": at.Name, "keywords": s.keywords(n), "count": count, "visitor": s.visitor(n),
		})
	}
	var turns []measure.Turn
	for _, design := range s.designs {
		c := client{s.o.Serve(designed{s.store, designs[design]}, true)}
		turns = append(turns, measure.Turn{Rival: design, Wire: s.wire, Goroutines: parallelCalls, Do: func(ctx context.Context, n int) error {
			_, err := c.do(ctx, token(n), requests[n%len(requests)])
			return err
		}})
	}
	return turns
}

// trivial returns a query to compare ads with.
func (s *adScene) trivial(name string, token func(n int) string, body []byte) measure.Turn {
	c := client{s.o.Serve(s.store, true)}
	return measure.Turn{Rival: name, Wire: s.wire, Goroutines: parallelCalls, Do: func(ctx context.Context, n int) error {
		_, err := c.do(ctx, token(n), body)
		return err
	}}
}

// visitor returns the visitor of the n-th call: steps by a prime cycle through all visitors.
func (s *adScene) visitor(n int) string { return visitor(n * 7919 % s.profiles) }

func (s *adScene) keywords(n int) []string {
	words := make([]string, pageKeywords)
	for i := range words {
		words[i] = keyword((n + i*331) % adKeywords)
	}
	return words
}

// remark compares the queries for ads with the trivial queries.
func (s *adScene) remark(section *figures.Section) {
	for _, design := range s.designs {
		visitors := measure.Of(section.Results, callQueryOne, design)
		section.Comparef(visitors, measure.Of(section.Results, callQueryOne, trivialUser), measure.ServerMs,
			"%.2f times the server CPU of `{ viewer { user { handle } } }`, signed in, is that of a query for an ad for a visitor, in the design *%s*.", design)
		section.Comparef(measure.Of(section.Results, callQueryAll, design), measure.Of(section.Results, callQueryAll, trivialUser), measure.ServerMs,
			"%.2f times, where each query is for another zone, in the design *%s*.", design)
		section.Comparef(measure.Of(section.Results, callQueryUser, design), measure.Of(section.Results, callQueryUser, trivialUser), measure.ServerMs,
			"%.2f times, where both are signed in, in the design *%s*.", design)
	}
}

// designed is a store whose zones all have one design.
type designed struct {
	adDatabase

	design ads.Design
}

// Ads implements storage.Store.
func (d designed) Ads() ads.Store { return designedAds{d.adDatabase.Ads(), d.design} }

type designedAds struct {
	ads.Store

	design ads.Design
}

// Zone implements ads.Zones.
func (d designedAds) Zone(ctx context.Context, zone ads.ZoneID) (*ads.Zone, error) {
	z, err := d.Store.Zone(ctx, zone)
	if z != nil {
		z.Design = d.design
	}
	return z, err
}
