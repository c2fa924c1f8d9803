package api

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
	"golang.org/x/sync/errgroup"

	"plaza/ads"
	"plaza/id"
	"plaza/internal/plazatest"
	"plaza/social"
	"plaza/social/network"
	"plaza/storage"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// commandLog records the commands that a MongoDB driver sends, except for those of the change
// stream, of background work and of heartbeats.
type commandLog struct {
	mu       sync.Mutex
	commands []string
}

func (l *commandLog) monitor() *event.CommandMonitor {
	return &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
		if e.CommandName == "getMore" && e.Command.Lookup("collection").StringValue() == "events" {
			return
		}
		collection, _ := e.Command.Lookup(e.CommandName).StringValueOK()
		if collection == "jobs" || mongotest.IsHeartbeat(e) {
			return
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.commands = append(l.commands, e.CommandName+" "+collection)
	}}
}

// withoutQuestions leaves out the questions about changes of people in memory. Requests that ask at
// the same time share one question, so their number depends on timing.
func withoutQuestions(commands []string) []string {
	return slices.DeleteFunc(slices.Clone(commands), func(command string) bool { return command == "find changes" })
}

// mostQuestions limits the questions about changes that a page may take, whatever its size.
const mostQuestions = 8

// mustTake checks that pages of both sizes take at most this many commands and mostQuestions, and,
// if exact is set, equally many commands. See recounts.
func (l *commandLog) mustTake(t *testing.T, what string, most int, exact bool, sizes [2]int, do func(first int)) {
	t.Helper()
	var small, large []string
	few, alike := false, false
	for n := 0; n < recounts && (!few || !alike); n++ {
		small, few = l.within(most, func() { do(sizes[0]) })
		var fewInLarge bool
		large, fewInLarge = l.within(most, func() { do(sizes[1]) })
		few, alike = few && fewInLarge, !exact || len(withoutQuestions(small)) == len(withoutQuestions(large))
	}
	if !few {
		t.Errorf("%s: want at most %d commands and %d questions; pages of %v take %v and %v", what, most, mostQuestions, sizes, small, large)
	}
	if !alike {
		t.Errorf("%s: a page of %d takes %v, one of %d takes %v", what, sizes[0], small, sizes[1], large)
	}
	t.Logf("%s: %v", what, small)
}

// within returns the commands that do sends, and reports whether they are within the limits.
func (l *commandLog) within(most int, do func()) (commands []string, ok bool) {
	commands = l.during(do)
	n := len(withoutQuestions(commands))
	return commands, n <= most && len(commands)-n <= mostQuestions
}

// during returns the commands that were sent while do ran.
func (l *commandLog) during(do func()) []string {
	l.mu.Lock()
	from := len(l.commands)
	l.mu.Unlock()
	do()
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.commands[from:]...)
}

const postFields = `__typename id text createdAt editedAt commentCount audience { kind }
	author { id handle name avatarUrl } wallOwner { handle }
	latestComments { id text author { handle } }
	reactionCounts { kind count } viewerReaction viewerCanComment viewerIsMutingThread commentOrder viewerCanEdit viewerCanDelete`

// plainFields are the fields with which other servers were measured.
const plainFields = `__typename id text createdAt commentCount author { id handle name } latestComments { id text author { handle name } }`

// mostForNews and mostForWall are the numbers of commands that a page may take on each layout.
var (
	mostForNews = map[string]int{mongodb.FeedsRead: 3, mongodb.FeedsCache: 3, mongodb.FeedsHybrid: 2, mongodb.FeedsBucket: 2, mongodb.FeedsMonth: 3}
	mostForWall = map[string]int{mongodb.FeedsRead: 4, mongodb.FeedsCache: 4, mongodb.FeedsHybrid: 4, mongodb.FeedsBucket: 4, mongodb.FeedsMonth: 6}
)

// TestCommandCounts checks the number of MongoDB commands of each page, whatever its size.
func TestCommandCounts(t *testing.T) {
	layouts := []string{mongodb.FeedsRead, mongodb.FeedsCache, mongodb.FeedsHybrid, mongodb.FeedsBucket}
	if _, all := os.LookupEnv("PLAZA_ALL_LAYOUTS"); all {
		layouts = append(layouts, mongodb.FeedsMonth)
	}
	for _, layout := range layouts {
		t.Run(layout, func(t *testing.T) { countCommands(t, layout) })
	}
}

func countCommands(t *testing.T, layout string) {
	t.Helper()
	log := &commandLog{}
	plaza := plazatest.ServeCounted(t, plazatest.OpenMongoDB(t, mongotest.Reused(t), mongodb.Options{Monitor: mongotest.WatchRouting(t, mongodb.ShardKeys()).Monitor(log.monitor()), Feeds: layout}))
	reader := plaza.As(t, "reader")
	post := fillNews(t, plaza, reader)
	reader.Do(t, `{ viewer { news(first: 1) { nodes { id } } } }`, nil, nil) // builds the list in layouts that keep one
	for _, c := range []struct {
		name, query string
		most        int  // commands
		exact       bool // the same for every page size; otherwise nested lists may take a few batches
	}{
		{"news", `query($first: Int!) { viewer { news(first: $first) { nodes { ` + postFields + ` } pageInfo { hasNextPage endCursor } } } }`, mostForNews[layout] + 1, layout != mongodb.FeedsMonth},
		{"news as others have it", `query($first: Int!) { viewer { news(first: $first) { nodes { ` + plainFields + ` } pageInfo { hasNextPage endCursor } } } }`, mostForNews[layout], layout != mongodb.FeedsMonth},
		{"wall", `query($first: Int!) { user(handle: "author0") { name wall(first: $first) { edges { cursor node { ` + postFields + ` } } } } }`, mostForWall[layout], layout != mongodb.FeedsMonth},
		{"posts by a user", `query($first: Int!) { user(handle: "author0") { name posts(first: $first) { edges { cursor node { ` + postFields + ` } } pageInfo { hasNextPage } } } }`, 3, true},
		{"incoming", `query($first: Int!) { viewer { incoming(first: $first) { nodes { ` + postFields + ` } } } }`, 3, true},
		{"thread", `query($first: Int!, $post: ID!) { post(id: $post) { text comments(first: $first, order: THREADED) { nodes { slug text depth author { handle viewerFollows } viewerCanDelete viewerCanReply } } } }`, 2, true},
		{"comments by a user", `query($first: Int!) { user(handle: "author1") { comments(first: $first) { nodes { text author { handle } post { text author { handle } } viewerCanReply viewerCanDelete } pageInfo { hasNextPage } } } }`, 3, true},
		{"comments by the followed", `query($first: Int!) { viewer { user { following(first: $first) { nodes { handle comments(first: 3) { nodes { text } } } } } } }`, 10, false},
		{"posts by the followed", `query($first: Int!) { viewer { user { following(first: $first) { nodes { handle viewerFollows posts(first: 3) { nodes { text author { handle } } } } } } } }`, 8, false},
		{"walls of the followed", `query($first: Int!) { viewer { user { following(first: $first) { nodes { handle viewerFollows wall(first: 3) { nodes { text author { handle } } } } } } } }`, 9, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			log.mustTake(t, c.name, c.most, c.exact, [2]int{20, 100}, func(first int) {
				reader.Do(t, c.query, map[string]any{"first": first, "post": post}, nil)
			})
		})
	}
}

// TestCommandCountsOfAds checks the number of commands of the lists that people who manage ads see,
// whatever the size of the page.
func TestCommandCountsOfAds(t *testing.T) {
	log := &commandLog{}
	plaza := plazatest.ServeCounted(t, plazatest.OpenMongoDB(t, mongotest.Reused(t), mongodb.Options{Monitor: log.monitor()}))
	ada := plaza.As(t, "ada")
	plazatest.Grant(t, plaza, "GRANT: ads:manage ada")
	advertiser := ads.Advertiser{ID: ads.AdvertiserID{ID: id.New()}, Name: "Acme"}
	batch := ads.Batch{
		Advertisers: []ads.Advertiser{advertiser},
		Zones:       []ads.Zone{{ID: ads.ZoneID{Site: "acme.example", Name: "top"}, Currency: "EUR", Design: ads.ByKeywords}},
	}
	for range 40 {
		batch.Campaigns = append(batch.Campaigns, ads.Campaign{ID: ads.CampaignID{ID: id.New()}, Advertiser: advertiser.ID, Name: "Spring", State: ads.Active})
		batch.Units = append(batch.Units, ads.Unit{
			ID: ads.UnitID{ID: id.New()}, Campaign: batch.Campaigns[0].ID, State: ads.Active, Zones: []ads.ZoneID{batch.Zones[0].ID},
			Creative: ads.Creative{Headline: "Anvils", LandingURL: "https://acme.example/"}, Bid: ads.Bid{Model: ads.CPM, Price: 1_000, Currency: "EUR"},
		})
	}
	if _, err := plaza.Store.Ads().Save(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		query string
		most  int // commands
	}{
		"campaigns": {`query($first: Int!, $id: ID!) { adManager { campaigns(advertiserId: $id, first: $first) { nodes { name spent budget { total } } pageInfo { hasNextPage } } } }`, 3},
		"units":     {`query($first: Int!, $of: ID!) { adManager { units(campaignId: $of, first: $first) { nodes { headline preview { headline why } } } } }`, 4},
		"nodes":     {`query($ids: [ID!]!) { nodes(ids: $ids) { ... on AdCampaign { spent } ... on AdUnit { headline preview { why } } } }`, 8},
		"refunds":   {`query($first: Int!, $of: ID!) { adManager { refunds(campaignId: $of, first: $first) { nodes { count } } } }`, 2},
		"charges":   {`query($first: Int!, $of: ID!) { adManager { charges(campaignId: $of) { count newest { at } } zones(first: $first) { nodes { zone } } } }`, 11},
		"forecast":  {`query($first: Int!) { adManager { forecast(site: "acme.example", zone: "top") { booked } zones(first: $first) { nodes { zone } } } }`, 6},
	} {
		variables := map[string]any{"first": 5, "id": advertiser.ID.String(), "of": batch.Campaigns[0].ID.String(), "ids": []string{batch.Units[0].ID.String()}}
		ada.Do(t, c.query, variables, nil) // reads the signing key once
		log.mustTake(t, name, c.most, true, [2]int{5, 40}, func(first int) {
			var ids []string
			for i := range first {
				ids = append(ids, batch.Campaigns[i].ID.String(), batch.Units[i].ID.String())
			}
			variables["first"], variables["ids"] = first, ids
			ada.Do(t, c.query, variables, nil)
		})
	}
}

// TestCommandCountsOfNotifications checks the number of commands of a page of notifications,
// whatever its size.
func TestCommandCountsOfNotifications(t *testing.T) {
	log := &commandLog{}
	plaza := plazatest.ServeCounted(t, plazatest.OpenMongoDB(t, mongotest.Reused(t), mongodb.Options{Monitor: log.monitor()}))
	reader := plaza.As(t, "reader")
	f := newFiller(t, plaza.Store)
	owner, err := social.ParseUserID(reader.IDOf(t, "reader"))
	f.ok(err)
	notices := make([]social.Notice, 120)
	f.follow(owner, len(notices))
	f.together(len(notices), func(i int) error {
		post, err := f.service.CreatePost(t.Context(), owner, network.NewPost{
			Content: social.Content{Status: &social.Status{Text: "mine"}}, Audience: social.Audience{Kind: social.AudiencePublic},
		})
		if err != nil {
			return err
		}
		comment, err := f.service.AddComment(t.Context(), f.authors[i], network.NewComment{Post: post.ID, Text: "to you"})
		if err != nil {
			return err
		}
		group := social.NotificationGroup{To: owner, Kind: social.NotifyComment, Post: post.ID}
		notices[i] = social.Notice{NotificationGroup: group, Act: social.Act{Actor: f.authors[i], Comment: comment.ID}}
		return nil
	})
	_, _, err = plaza.Store.LeaseNotifier(t.Context(), "test", time.Hour)
	f.ok(err)
	f.ok(plaza.Store.Notify(t.Context(), "test", time.Hour, "1", notices))
	page := `query($first: Int!) { viewer { notifications(first: $first) { nodes {
		kind actorsCount isRead actors { handle viewerFollows } post { text author { handle } } comment { text author { handle } } } pageInfo { hasNextPage } } } }`
	log.mustTake(t, "notifications", 3, true, [2]int{20, 100}, func(first int) {
		reader.Do(t, page, map[string]any{"first": first}, nil)
	})
	log.mustTake(t, "unread notifications", 3, true, [2]int{20, 100}, func(int) {
		reader.Do(t, `{ viewer { unreadNotificationsCount } }`, nil, nil)
	})
}

// TestCommandCountsOfMentions reads a thread in which every comment mentions two people.
func TestCommandCountsOfMentions(t *testing.T) {
	log := &commandLog{}
	plaza := plazatest.ServeCounted(t, plazatest.OpenMongoDB(t, mongotest.Reused(t), mongodb.Options{Monitor: log.monitor()}))
	reader := plaza.As(t, "reader")
	f := newFiller(t, plaza.Store)
	owner, err := social.ParseUserID(reader.IDOf(t, "reader"))
	f.ok(err)
	f.follow(owner, 110)
	post, err := social.ParsePostID(reader.Status(t, "the thread", plazatest.Public))
	f.ok(err)
	for i := range 110 {
		_, err := f.service.AddComment(t.Context(), f.authors[i], network.NewComment{Post: post, Text: fmt.Sprintf("@author%d and @reader", i)})
		f.ok(err)
	}
	page := `query($id: ID!, $first: Int!) { post(id: $id) { comments(first: $first) { nodes { text entities { start end ... on MentionEntity { user { handle } } } } } } }`
	log.mustTake(t, "mentions", 5, true, [2]int{20, 100}, func(first int) {
		reader.Do(t, page, map[string]any{"id": post.String(), "first": first}, nil)
	})
}

// TestCommandCountsOfSuggestions: the number of commands grows neither with the follows that are
// read nor with the suggestions.
func TestCommandCountsOfSuggestions(t *testing.T) {
	log := &commandLog{}
	plaza := plazatest.ServeCounted(t, plazatest.OpenMongoDB(t, mongotest.Reused(t), mongodb.Options{Monitor: log.monitor()}))
	reader := plaza.As(t, "reader")
	for i := range 7 {
		followed := plaza.As(t, fmt.Sprint("followed", i))
		reader.Follow(t, fmt.Sprint("followed", i))
		for j := range 5 {
			plaza.As(t, fmt.Sprintf("stranger%d_%d", i, j)).Status(t, "Hello", plazatest.Public)
			followed.Follow(t, fmt.Sprintf("stranger%d_%d", i, j))
		}
	}
	log.mustTake(t, "suggestions", 6, false, [2]int{5, 50}, func(count int) {
		reader.Do(t, `query($count: Int!) { viewer { suggestedUsers(count: $count) { user { handle viewerFollows isFollowingViewer } followedBy { name } } } }`, map[string]any{"count": count}, nil)
	})
}

// TestCommandCountsOfNewPosts: a new post is stored, and returned without reading it.
func TestCommandCountsOfNewPosts(t *testing.T) {
	log := &commandLog{}
	plaza := plazatest.ServeCounted(t, plazatest.OpenMongoDB(t, mongotest.Reused(t), mongodb.Options{Monitor: log.monitor()}))
	author := plaza.As(t, "author")
	author.Do(t, `{ viewer { user { handle } } }`, nil, nil)
	const stored = 4 // the id, the post, its event, and the commit
	commands, few := log.within(stored, func() {
		author.Do(t, `mutation { createPost(input: {content: {status: {text: "Hello."}}, audience: {kind: PUBLIC}}) { post { `+plainFields+` } newsEdge { cursor } } }`, nil, nil)
	})
	if !few {
		t.Errorf("a post takes %v, more than %d", commands, stored)
	}
}

// fillNews creates 110 followed authors, 120 posts with comments in the reader's news, some of them
// on the reader's wall, and a long thread. It returns the post of that thread. It bypasses the API,
// because requests are what the test counts.
func fillNews(t testing.TB, plaza *plazatest.Plaza, reader plazatest.Person) (post string) {
	t.Helper()
	f := newFiller(t, plaza.Store)
	owner, err := social.ParseUserID(reader.IDOf(t, "reader"))
	f.ok(err)
	f.follow(owner, 110)
	posts := make([]social.PostID, 120)
	f.together(len(posts), func(i int) (err error) {
		posts[i], err = f.post(i, owner)
		return err
	})
	last := posts[len(posts)-1]
	for j := range 110 { // of one thread, so they would only wait for each other
		f.ok(f.comment(j, last, fmt.Sprint("more ", j)))
	}
	f.ok(social.Settle(t.Context(), plaza.Store))
	return last.String()
}

type newsFiller struct {
	t       testing.TB
	store   storage.Store
	service *network.Service
	authors []social.UserID
}

func newFiller(t testing.TB, st storage.Store) *newsFiller {
	t.Helper()
	return &newsFiller{t: t, store: st, service: network.New(st, plazatest.Cheap)}
}

func (f *newsFiller) ok(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// together makes n calls concurrently: writes that arrive together share a transaction.
func (f *newsFiller) together(n int, call func(i int) error) {
	f.t.Helper()
	var group errgroup.Group
	for i := range n {
		group.Go(func() error { return call(i) })
	}
	f.ok(group.Wait())
}

// follow creates the accounts of n authors. The reader follows them.
func (f *newsFiller) follow(reader social.UserID, n int) {
	f.t.Helper()
	circles, err := f.store.CirclesOf(f.t.Context(), reader, social.Page{Limit: 1})
	f.ok(err)
	users, memberships, edges := make([]social.NewUser, n), make([]social.Membership, n), make([]social.EdgeID, n)
	for i := range users {
		author, handle := social.UserID{ID: id.New()}, fmt.Sprintf("author%d", i)
		users[i] = social.NewUser{
			User:      social.User{ID: author, Handle: handle, Name: handle, WallPolicy: social.WallEveryone},
			Following: social.NewBuiltInCircle(author),
		}
		memberships[i], edges[i] = social.Membership{Circle: circles[0].ID, Owner: reader, Member: author}, social.EdgeID{ID: id.New()}
		f.authors = append(f.authors, author)
	}
	_, err = f.store.ImportUsers(f.t.Context(), users)
	f.ok(err)
	_, err = f.store.ImportMemberships(f.t.Context(), memberships, edges)
	f.ok(err)
}

// post creates a post with four comments, which the reader likes. Every third post is on the
// reader's wall.
func (f *newsFiller) post(n int, reader social.UserID) (social.PostID, error) {
	in := network.NewPost{
		Content:  social.Content{Status: &social.Status{Text: fmt.Sprint("post ", n)}},
		Audience: social.Audience{Kind: social.AudiencePublic},
	}
	if n%3 == 0 {
		in.WallOwner = reader
	}
	post, err := f.service.CreatePost(f.t.Context(), f.authors[n%10], in)
	if err != nil {
		return social.PostID{}, err
	}
	for j := range 4 {
		if err := f.comment((n+j)%len(f.authors), post.ID, fmt.Sprint("comment ", j)); err != nil {
			return social.PostID{}, err
		}
	}
	return post.ID, f.service.React(f.t.Context(), reader, post.ID, social.ReactionLike)
}

func (f *newsFiller) comment(author int, post social.PostID, text string) error {
	_, err := f.service.AddComment(f.t.Context(), f.authors[author], network.NewComment{Post: post, Text: text})
	return err
}
