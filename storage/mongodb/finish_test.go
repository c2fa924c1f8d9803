package mongodb_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"plaza/ads"
	"plaza/ads/adserver"
	"plaza/fault"
	"plaza/id"
	"plaza/internal/testtime"
	"plaza/social"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// TestGoingBackUntilTheUpgradeIsFinished: servers of this release and of the next one, which has
// another version of posts, share a database. Until the upgrade is finished, the next one can be
// removed again, and this one still works with all data. After that it cannot.
func TestGoingBackUntilTheUpgradeIsFinished(t *testing.T) {
	now := mongodb.NewestVersion("posts")
	previous, u := beforeUpgrade(t, brisk(mongodb.Options{Feeds: mongodb.FeedsMonth}))
	next := u.start(t, u.options)
	u.serve(previous, next)
	u.versions(now, "posts", "monthNews", "monthWalls")
	u.versions(mongodb.NewestVersion("postVersions"), "postVersions")
	var older *mongodb.OlderServersError
	if err := next.FinishUpgrade(t.Context(), nil); !errors.As(err, &older) || len(older.Processes) != 1 {
		t.Errorf("beside a server of this release the upgrade is finished: %v", err)
	}
	next.background(func() { next.settled(t, now) })
	previous.ok(next.Close())

	u.serve(previous, previous)
	previous.ok(previous.Close())
	previous = u.start(t, brisk(mongodb.Options{}))
	u.serve(previous, previous)
	next = u.start(t, u.options)
	u.serve(previous, next)
	previous.ok(previous.Close())

	next.ok(next.FinishUpgrade(t.Context(), nil))
	next.ok(next.FinishUpgrade(t.Context(), nil))
	_, err := mongodb.Open(t.Context(), next.uri, patient(mongodb.Options{}))
	refusedFor(t, err, "newer Plaza", "postVersions have version")
	next.background(func() { next.settled(t, now+1) })
	u.serve(next, next)
	u.versions(now+1, "posts") // copies are upgraded when they are read
	u.versions(mongodb.NewestVersion("postVersions")+1, "postVersions")
}

// TestAServerStopsWhenTheUpgradeIsFinished: an older server that started just before must stop.
func TestAServerStopsWhenTheUpgradeIsFinished(t *testing.T) {
	outdated := make(chan error, 2)
	o := brisk(mongodb.Options{Outdated: func(err error) { outdated <- err }})
	previous, u := beforeUpgrade(t, o)
	previous.ok(previous.Change(t.Context(), "settings", bson.D{{Key: "_id", Value: "documents"}},
		bson.D{{Key: "$set", Value: bson.D{{Key: "next.posts", Value: mongodb.NewestVersion("posts") + 1}}}}))
	select {
	case err := <-outdated:
		refusedFor(t, err, "newer Plaza", "its posts have version")
	case <-time.After(testtime.Patience()):
		t.Fatal("the server still runs")
	}
	author := u.authors[0].User.ID
	if err := previous.InsertPost(t.Context(), status(author, author, public), happened(social.EventPostCreated)); !errors.Is(err, social.ErrUnavailable) {
		t.Errorf("it writes: %v", err)
	}
	if _, err := previous.Users(t.Context(), []social.UserID{author}); !errors.Is(err, social.ErrUnavailable) {
		t.Errorf("it reads: %v", err)
	}
	previous.ok(previous.Close())
	next := u.start(t, u.options)
	next.ok(next.FinishUpgrade(t.Context(), nil))
	u.serve(next, next)
}

// upgrade is an upgrade from this release to the next.
type upgrade struct {
	town    *town           // on the database; its store may be closed
	options mongodb.Options // of the next release
	authors []social.NewUser
}

// beforeUpgrade returns a server of this release, and the means to start one of the next.
func beforeUpgrade(t *testing.T, o mongodb.Options) (*town, *upgrade) {
	t.Helper()
	u := &upgrade{town: &town{uri: mongotest.Reused(t), t: t, ctx: t.Context()}}
	previous := u.start(t, o)
	u.options = mongodb.NextRelease(t, brisk(mongodb.Options{}))
	u.authors = previous.people(3)
	previous.follow(u.authors[0], u.authors[1:])
	return previous, u
}

// start starts a server on the database.
func (u *upgrade) start(t *testing.T, o mongodb.Options) *town {
	t.Helper()
	w := *u.town
	var err error
	w.Store, err = mongodb.Open(t.Context(), w.uri, patient(o))
	w.ok(err)
	t.Cleanup(func() { _ = w.Close() }) // most are closed by then
	return &w
}

// serve makes two servers change what the other one has written, and compares their answers.
func (u *upgrade) serve(one, other *town) {
	one.t.Helper()
	reader, author := u.authors[0].User.ID, u.authors[1].User.ID
	for _, w := range [][2]*town{{one, other}, {other, one}} {
		p := w[0].post(status(author, author, public))
		w[1].comment(p, w[0].comment(p, nil, reader), author)
		one.ok(w[1].PutReaction(one.ctx, p.ID, reader, social.ReactionLove, happened(social.EventReactionAdded)))
		edited := *p
		edited.Revision, edited.EditedAt, edited.Content = 1, time.UnixMilli(1<<41).UTC(), social.Content{Status: &social.Status{Text: "edited"}}
		one.ok(w[1].UpdatePost(one.ctx, &edited, &social.Version{Content: p.Content, Audience: p.Audience, EditedAt: edited.EditedAt}, happened(social.EventPostEdited)))
		name := "Name " + p.ID.ID.String()
		one.ok(w[0].UpdateProfile(one.ctx, author, social.ProfileChange{Name: &name}, happened(social.EventProfileUpdated)))
		_, err := w[1].Unfollow(one.ctx, reader, u.authors[2].User.ID, happened(social.EventUnfollowed))
		one.ok(err)
		w[0].follow(u.authors[0], u.authors[2:])
	}
	one.finish()
	if diff := cmp.Diff(u.answers(one), u.answers(other)); diff != "" {
		one.t.Errorf("the servers differ (-one +other):\n%s", diff)
	}
}

// answers returns a server's answers to all reads.
func (u *upgrade) answers(w *town) (all []any) {
	w.t.Helper()
	keep := func(answer any, err error) { w.ok(err); all = append(all, answer) }
	reader, author, page := u.authors[0].User.ID, u.authors[1].User.ID, social.Page{Limit: 100}
	news, err := w.News(w.ctx, reader, page)
	keep(news, err)
	for _, p := range news {
		keep(w.Thread(w.ctx, lists(page, social.Thread{Post: p.ID, Order: social.OrderThreaded})))
		keep(w.Histories(w.ctx, []social.PostID{p.ID}))
	}
	keep(w.Wall(w.ctx, lists(page, author)))
	keep(w.Following(w.ctx, lists(page, reader)))
	keep(w.Followers(w.ctx, lists(page, author)))
	keep(w.Users(w.ctx, []social.UserID{reader, author}))
	keep(w.UsersNamed(w.ctx, "name", page))
	return all
}

// background upgrades documents in the background until check returns.
func (w *town) background(check func()) {
	ctx, stop := context.WithCancel(w.ctx)
	done := make(chan struct{})
	go func() { defer close(done); w.UpgradeDocuments(ctx) }()
	check()
	stop()
	<-done
}

// settled waits until all documents have the versions that are written, and posts have this one.
func (w *town) settled(t *testing.T, posts int) {
	t.Helper()
	testtime.Eventually(t, "all documents are upgraded", func() bool {
		state, err := w.DocumentMigration(w.ctx)
		w.ok(err)
		recorded, err := w.Recorded(w.ctx)
		w.ok(err)
		return state.Newest && recorded["posts"] == posts && w.left() == 0
	})
}

// versions checks in which version posts are stored, and the copies of posts.
func (u *upgrade) versions(want int, collections ...string) {
	u.town.t.Helper()
	db := mongotest.Connect(u.town.t, u.town.uri)
	for _, collection := range collections {
		field := "v"
		if strings.HasPrefix(collection, "month") {
			field = "posts.v"
		}
		var found []int
		u.town.ok(db.Collection(collection).Distinct(u.town.ctx, field, bson.D{}).Decode(&found))
		if !slices.Equal(found, []int{want}) {
			u.town.t.Errorf("%s have the versions %v, want %d", collection, found, want)
		}
	}
}

// TestOldDocumentsAreUpgradedInTheBackground: several servers try it at the same time, and none
// does it while a server of an older version may still write documents that the upgrade would miss.
func TestOldDocumentsAreUpgradedInTheBackground(t *testing.T) {
	t.Parallel()
	one, two := twoTowns(t, mongodb.Options{})
	for range 30 {
		one.oldUser("Ölaf")
	}
	one.ok(one.PutRaw(one.ctx, "servers", bson.D{
		{Key: "_id", Value: "old"},
		{Key: "v", Value: 1},
		{Key: "process", Value: "an old server"},
		{Key: "lease", Value: time.Hour.Milliseconds()},
		{Key: "at", Value: time.Now()},
	}))
	one.background(func() {
		two.background(func() {
			testtime.Eventually(t, "the old server is seen", func() bool {
				state, err := one.Upgrade(one.ctx)
				one.ok(err)
				return slices.Contains(state.Older, "an old server")
			})
			if one.named("öl") != 0 {
				t.Error("documents are upgraded while an old server runs")
			}
			_, err := mongotest.Connect(t, one.uri).Collection("servers").DeleteOne(one.ctx, bson.D{{Key: "_id", Value: "old"}})
			one.ok(err)
			testtime.Eventually(t, "everyone is found by name", func() bool { return one.named("öl") == 30 && one.left() == 0 })
			testtime.Eventually(t, "it is recorded", func() bool {
				state, err := two.DocumentMigration(two.ctx)
				two.ok(err)
				return state.Newest && !state.UnderWay
			})
		})
	})
}

// TestNewAdsWaitUntilTheUpgradeIsFinished: a server of the previous version would rank a CPA as a
// CPC and charge nothing, and ignore and lose the weights of keywords.
func TestNewAdsWaitUntilTheUpgradeIsFinished(t *testing.T) {
	t.Parallel()
	w := newTownAlone(t, nil, mongodb.Options{})
	advertiser, campaign, zone := ads.AdvertiserID{ID: id.New()}, ads.CampaignID{ID: id.New()}, ads.ZoneID{Site: "example.org", Name: "top"}
	batch := ads.Batch{
		Advertisers: []ads.Advertiser{{ID: advertiser, Name: "Acme"}},
		Campaigns:   []ads.Campaign{{ID: campaign, Advertiser: advertiser, Name: "Spring", State: ads.Active}},
		Zones:       []ads.Zone{{ID: zone, Currency: "EUR", Design: ads.ByKeywords}},
		Units: []ads.Unit{{
			ID: ads.UnitID{ID: id.New()}, State: ads.Active, Campaign: campaign, Zones: []ads.ZoneID{zone}, Bid: ads.Bid{Model: ads.CPA, Price: 1e6, Currency: "EUR"},
			Creative: ads.Creative{Headline: "Buy", LandingURL: "https://acme.example/"},
		}},
	}
	w.ok(w.Change(t.Context(), "settings", bson.D{{Key: "_id", Value: "documents"}}, bson.D{{Key: "$set", Value: bson.D{{Key: "newest.adUnits", Value: 1}, {Key: "newest.adCampaigns", Value: 1}}}}))
	during := openAt(t, w.uri, mongodb.Options{})
	if _, err := during.Ads().Save(t.Context(), batch); !errors.Is(err, ads.ErrUpgrading) {
		t.Errorf("a CPA is saved for servers that do not know it: %v", err)
	}
	own := ads.Batch{Advertisers: batch.Advertisers, Campaigns: []ads.Campaign{batch.Campaigns[0]}}
	own.Campaigns[0].Attribution = 7
	if _, err := during.Ads().Save(t.Context(), own); !errors.Is(err, ads.ErrUpgrading) {
		t.Errorf("an attribution is saved for servers that would lose it: %v", err)
	}
	weighted := batch
	weighted.Units = slices.Clone(batch.Units)
	weighted.Units[0].Bid.Model = ads.CPC
	weighted.Units[0].Keywords, weighted.Units[0].KeywordWeights = []string{"anvil"}, []ads.KeywordWeight{{Keyword: "anvil", Weight: 5}}
	if _, err := during.Ads().Save(t.Context(), weighted); !errors.Is(err, ads.ErrUpgrading) {
		t.Errorf("weights of keywords are saved for servers that would lose them: %v", err)
	}
	campaigns := adserver.New(during.Ads(), adserver.Options{})
	own.Campaigns[0].Attribution = ads.DefaultAttribution
	if _, err := during.Ads().Save(t.Context(), own); err != nil {
		t.Error(err)
	}
	days := func(days int) error {
		return campaigns.UpdateCampaign(t.Context(), campaign, func(c *ads.Campaign) error { c.Attribution = days; return nil })
	}
	var refused *fault.Error
	if err := days(7); !errors.As(err, &refused) || refused.Code != fault.CodeNotAllowed || refused.Field != "attributionDays" {
		t.Errorf("the refusal does not name attributionDays: %v", err)
	}
	w.ok(during.FinishUpgrade(t.Context(), nil))
	w.ok(days(7))
	if saved, err := during.Ads().Save(t.Context(), batch); err != nil || saved != 2 {
		t.Errorf("after the upgrade: %d saved, %v", saved, err)
	}
	weighted.Units[0].ID = ads.UnitID{ID: id.New()}
	if saved, err := during.Ads().Save(t.Context(), weighted); err != nil || saved != 1 {
		t.Errorf("after the upgrade: %d saved with weights of keywords, %v", saved, err)
	}
}
