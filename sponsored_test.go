package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"plaza/ads"
	"plaza/id"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// replayed is a random source that begins anew when it is told to.
type replayed struct {
	mu  sync.Mutex
	pcg rand.PCG
}

func (r *replayed) Uint64() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pcg.Uint64()
}

func (r *replayed) again() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pcg.Seed(3, 5)
}

// TestSponsoredItemsKnowNothingPrivate fills a page of news with private posts about what ads are for, and arranges circles and mutes: the
// public posts, the ads behind them and what is said of these stay the same, byte for byte.
func TestSponsoredItemsKnowNothingPrivate(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, e engine) {
		random := &replayed{}
		p := servePlazaWith(t, e.open(t), ads.Options{Random: random})
		seedNewsAds(t, p.store)
		seedTies(t, p.store)
		ada, bob, cyn := p.as(t, "ada"), p.as(t, "bob"), p.as(t, "cyn")
		ada.follow(t, "bob")
		ada.follow(t, "cyn")
		for i, text := range []string{"Good morning", "I have an #anvil", "Nothing new", "Rain", "#sand", "Good night"} {
			[]person{bob, cyn}[i%2].status(t, text, public)
		}
		publicNews(t, ada, random) // "Steam" has been shown now
		before := publicNews(t, ada, random)
		if !strings.Contains(before, `"why":"Public posts on this page are about: anvil.`) || strings.Count(before, `"headline"`) != 3 {
			t.Fatalf("the page is %s", before)
		}
		for _, change := range privateChanges(t, p) {
			change.do()
			if after := publicNews(t, ada, random); after != before {
				t.Errorf("after %s the page is\n%s\nand was\n%s", change.name, after, before)
			}
		}
		// What is public does count, so that the test could fail.
		bob.mutate(t, "createPost", "post { id }", map[string]any{"content": link("https://forge.example/"), "audience": public})
		if after := publicNews(t, ada, random); !strings.Contains(after, "about: anvil, forge.example.") {
			t.Errorf("after a public post the page is %s", after)
		}
	})
}

// seedTies places ads that tie, of which chance takes one.
func seedTies(t *testing.T, st interface{ Ads() ads.Store }) {
	t.Helper()
	zone, err := st.Ads().Zone(t.Context(), newsZone)
	if err != nil {
		t.Fatal(err)
	}
	var batch ads.Batch
	best := zone.Units[0]
	for n := range 8 {
		batch.Units = append(batch.Units, ads.Unit{
			ID: ads.UnitID{ID: id.New()}, Campaign: best.Campaign, State: ads.Active, Zones: []ads.ZoneID{newsZone}, Bid: best.Bid,
			Creative: ads.Creative{Headline: fmt.Sprint(best.Headline, " ", n), LandingURL: best.LandingURL},
		})
	}
	if _, err := st.Ads().Save(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
}

// publicNews is the viewer's news without the entries that are not public.
func publicNews(t *testing.T, viewer person, random *replayed) string {
	t.Helper()
	random.again()
	var answer struct {
		Viewer struct {
			News struct{ Edges []json.RawMessage }
		}
	}
	viewer.do(t, `{ viewer { news(first: 100) { edges { node { id text audience { kind } } sponsored { adId headline body imageUrl landingUrl advertiser why } } } } }`, nil, &answer)
	var shown strings.Builder
	for _, edge := range answer.Viewer.News.Edges {
		if strings.Contains(string(edge), `"audience":{"kind":"PUBLIC"}`) {
			fmt.Fprintf(&shown, "%s\n", edge)
		} else if !strings.HasSuffix(string(edge), `"sponsored":null}`) {
			t.Errorf("an ad stands behind a post that is not public: %s", edge)
		}
	}
	return shown.String()
}

func link(url string) map[string]any { return map[string]any{"link": map[string]any{"url": url}} }

type privateChange struct {
	name string
	do   func()
}

// privateChanges are things that are nobody's business, and that ada does or sees.
func privateChanges(t *testing.T, p *plaza) []privateChange {
	t.Helper()
	ada, bob, dan := p.as(t, "ada"), p.as(t, "bob"), p.as(t, "dan")
	adaID, bobID, cynID, danID := ada.idOf(t, "ada"), ada.idOf(t, "bob"), ada.idOf(t, "cyn"), ada.idOf(t, "dan")
	circle := func(of person, name, member string) string {
		made := of.mutate(t, "createCircle", "circle { id }", map[string]any{"name": name})
		of.mutate(t, "addToCircle", "user { id }", map[string]any{"circleId": made, "userId": member})
		return made
	}
	return []privateChange{
		{"a post for circles", func() {
			circle(bob, "Steam", adaID)
			bob.status(t, "#steam #anvil", map[string]any{"kind": "CIRCLES"})
		}},
		{"posts for a list of circles", func() {
			listed := circle(bob, "Friends", adaID)
			for range 4 {
				bob.status(t, "#steam", map[string]any{"kind": "LISTED", "circleIds": []string{listed}})
			}
		}},
		{"posts for nobody", func() {
			for range 3 {
				ada.status(t, "I want #steam", map[string]any{"kind": "ONLY_ME"})
			}
			ada.mutate(t, "createPost", "post { id }", map[string]any{"content": link("https://forge.example/"), "audience": map[string]any{"kind": "ONLY_ME"}})
		}},
		{"circles", func() { circle(ada, "steam", bobID); circle(ada, "anvil", cynID) }},
		{"a follow of somebody who writes nothing in public, and a mute", func() {
			circle(dan, "Close", adaID)
			dan.status(t, "#steam", map[string]any{"kind": "CIRCLES"})
			ada.follow(t, "dan")
			ada.mutate(t, "muteUser", "user { id }", map[string]any{"userId": danID})
		}},
		{"a post that was public", func() {
			was := bob.status(t, "#steam", public)
			bob.mutate(t, "setPostAudience", "post { id }", map[string]any{"postId": was, "audience": map[string]any{"kind": "CIRCLES"}})
		}},
	}
}

// TestSponsoredItemsCostTwoCommands at most, and none where nobody asks for them.
func TestSponsoredItemsCostTwoCommands(t *testing.T) {
	log := &commandLog{}
	p := serveCounted(t, openMongoDB(t, mongoURI(t), mongodb.Options{Monitor: mongotest.WatchRouting(t, mongodb.ShardKeys()).Monitor(log.monitor())}))
	seedNewsAds(t, p.store)
	reader := p.as(t, "reader")
	for range 6 {
		p.as(t, "writer").status(t, "#steam", public)
	}
	reader.follow(t, "writer")
	page := func(edge string) []string {
		query := `{ viewer { news { edges { node { text author { handle } } ` + edge + ` } pageInfo { hasNextPage } } } }`
		fewest := log.during(func() { reader.do(t, query, nil, nil) })
		for range recounts / 2 {
			if again := log.during(func() { reader.do(t, query, nil, nil) }); len(again) < len(fewest) {
				fewest = again
			}
		}
		return fewest
	}
	page("sponsored { id }") // reads the signing key once
	without := page("")
	for _, unasked := range []string{"sponsored @skip(if: true) { id }", "cursor"} {
		if commands := page(unasked); len(commands) != len(without) {
			t.Errorf("with %q a page takes %v, and %v without", unasked, commands, without)
		}
	}
	for _, asked := range []string{"sponsored { headline }", "sponsored { id headline why } again: sponsored { clickUrl }"} {
		if commands := page(asked); len(commands) > len(without)+2 || len(commands) == len(without) {
			t.Errorf("with %q a page takes %v, and %v without: two more are allowed", asked, commands, without)
		}
	}
}

// TestNewsAdsAreOffByDefault asks a server without the flag: nothing is chosen, and nothing is read for it.
func TestNewsAdsAreOffByDefault(t *testing.T) {
	if got := (&serveCommand{NewsAdsEvery: 8}).newsAds(); got.Every != 0 {
		t.Errorf("without a zone news has ads: %+v", got)
	}
	empty := zoneFlag(newsZone)
	if err := empty.UnmarshalText(nil); err != nil || empty != (zoneFlag{}) {
		t.Errorf("an empty zone is %v, %v", empty, err)
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no zone":        {[]string{"--news-ads", "example.org"}, "1 to 64 characters"},
		"a bad zone":     {[]string{"--news-ads", "Example.org/News"}, "1 to 64 characters"},
		"never":          {[]string{"--news-ads", "example.org/news", "--news-ads-every", "0"}, "--news-ads-every must be from 1 to 100"},
		"hardly ever":    {[]string{"--news-ads", "example.org/news", "--news-ads-every", "101"}, "--news-ads-every must be from 1 to 100"},
		"a strange word": {[]string{"--news-ads-every", "often"}, "news-ads-every"},
	} {
		command, _, stderr := plazaCommand(t.Context(), t.TempDir(), append([]string{"serve", "--addr", "127.0.0.1:0"}, c.args...)...)
		if err := command.Run(); err == nil || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%s: %v, and %s, want %q", name, err, stderr, c.want)
		}
	}
}
