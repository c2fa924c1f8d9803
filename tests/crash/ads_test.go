package crash

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plaza/ads"
	"plaza/id"
	"plaza/internal/plazatest"
	"plaza/internal/testtime"
	"plaza/storage"
	"plaza/storage/mongodb"
)

// adProcess is a server process.
type adProcess struct {
	url     string
	command *exec.Cmd
	gone    chan struct{}
}

var openedAt = regexp.MustCompile(`graphql=(http://\S+)`)

// startAdProcess starts a server whose clock for ads is ahead.
func startAdProcess(t *testing.T, uri string, ahead time.Duration) *adProcess {
	t.Helper()
	p := &adProcess{gone: make(chan struct{})}
	p.command = exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestServerProcess$")
	p.command.Env = append(os.Environ(), envWorkOn+"="+uri, envAdsAhead+"="+ahead.String())
	said := &announcement{opened: make(chan string, 1)}
	p.command.Stdout, p.command.Stderr = said, said
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = p.command.Wait(); close(p.gone) }()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("the server said:\n%s", said.text())
		}
	})
	select {
	case p.url = <-said.opened:
	case <-p.gone:
		t.Fatalf("the server has ended:\n%s", said.text())
	}
	return p
}

// kill sends SIGKILL.
func (p *adProcess) kill() {
	_ = p.command.Process.Kill()
	<-p.gone
}

// announcement waits for the address in the output of a server.
type announcement struct {
	mu     sync.Mutex
	said   bytes.Buffer
	opened chan string
}

func (a *announcement) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	before := openedAt.Match(a.said.Bytes())
	n, err := a.said.Write(p)
	if at := openedAt.FindSubmatch(a.said.Bytes()); !before && at != nil {
		a.opened <- string(at[1])
	}
	return n, err
}

func (a *announcement) text() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.said.String()
}

// adRun is a campaign with a budget for a fixed number of impressions, an ad unit with a cap, and
// two servers.
type adRun struct {
	t        *testing.T
	uri      string
	store    storage.Store
	campaign ads.CampaignID
	funded   ads.UnitID
	capped   ads.UnitID
	client   *http.Client

	mu   sync.Mutex
	both [2]*adProcess
}

const (
	impressionPrice = 1_000 // micros
	fundedTimes     = 600
	cappedTimes     = 5
	askers          = 64
	onLease         = fundedTimes / 200 // impressions on lease at a time
)

func newAdRun(t *testing.T) *adRun {
	t.Helper()
	r := &adRun{t: t, uri: plazatest.PatientURI(t), client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: askers}}}
	t.Cleanup(r.client.CloseIdleConnections)
	r.store = plazatest.OpenMongoDB(t, r.uri, mongodb.Options{Feeds: mongodb.FeedsHybrid, MergeAbove: 1_000_000})
	advertiser := ads.Advertiser{ID: ads.AdvertiserID{ID: id.New()}, Name: "Acme"}
	limited := ads.Campaign{
		ID: ads.CampaignID{ID: id.New()}, Advertiser: advertiser.ID, Name: "Limited", State: ads.Active,
		Budget: ads.Budget{Currency: "EUR", Total: fundedTimes * impressionPrice},
	}
	free := ads.Campaign{ID: ads.CampaignID{ID: id.New()}, Advertiser: advertiser.ID, Name: "Free", State: ads.Active}
	batch := ads.Batch{Advertisers: []ads.Advertiser{advertiser}, Campaigns: []ads.Campaign{limited, free}}
	place := func(name string, c ads.Campaign, caps ...ads.Cap) ads.UnitID {
		zone := ads.Zone{ID: ads.ZoneID{Site: "example.org", Name: name}, Currency: "EUR", Design: ads.ByFrequency}
		u := ads.Unit{
			ID: ads.UnitID{ID: id.New()}, Campaign: c.ID, State: ads.Active, Zones: []ads.ZoneID{zone.ID}, Caps: caps,
			Creative: ads.Creative{Headline: name, LandingURL: "https://acme.example/"},
			Bid:      ads.Bid{Model: ads.CPM, Price: 1_000 * impressionPrice, Currency: "EUR"},
		}
		batch.Zones, batch.Units = append(batch.Zones, zone), append(batch.Units, u)
		return u.ID
	}
	r.campaign, r.funded = limited.ID, place("funded", limited)
	r.capped = place("capped", free, ads.Cap{Count: cappedTimes, Per: ads.Lifetime})
	if _, err := r.store.Ads().Save(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *adRun) start(ahead time.Duration) {
	r.t.Helper()
	var started [2]*adProcess
	for i := range started {
		started[i] = startAdProcess(r.t, r.uri, ahead)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.both = started
}

// restart kills one server, and starts another one in its place.
func (r *adRun) restart(i int, ahead time.Duration) {
	r.server(i).kill()
	again := startAdProcess(r.t, r.uri, ahead)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.both[i] = again
}

func (r *adRun) server(i int) *adProcess {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.both[i%2]
}

// ask sends an operation to one of the servers. It fails while that server is dead.
func (r *adRun) ask(i int, operation string, into any) error {
	body, err := json.Marshal(map[string]string{"query": operation})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.server(i).url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := r.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	var answer struct {
		Data   json.RawMessage
		Errors []struct{ Message string }
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return err
	}
	if len(answer.Errors) > 0 {
		return fmt.Errorf("%v", answer.Errors)
	}
	return json.Unmarshal(answer.Data, into)
}

// choose asks for one ad. The token is empty if there is none.
func (r *adRun) choose(i int, zone string) (token string, err error) {
	var answer struct {
		Ads []struct{ ImpressionToken string }
	}
	err = r.ask(i, fmt.Sprintf(`{ ads(site: "example.org", zone: %q, visitor: "visitor") { impressionToken } }`, zone), &answer)
	for _, ad := range answer.Ads {
		token = ad.ImpressionToken
	}
	return token, err
}

// record reports an impression to several servers, and repeats each report until it is answered.
func (r *adRun) record(token string, times int) (refused string) {
	for i := range times {
		for {
			var answer struct {
				RecordAdImpression struct{ UserErrors []struct{ Message string } }
			}
			err := r.ask(i, fmt.Sprintf(`mutation { recordAdImpression(input: {token: %q}) { userErrors { message } } }`, token), &answer)
			if r.t.Context().Err() != nil {
				return "the test is over"
			}
			if err == nil {
				for _, mistake := range answer.RecordAdImpression.UserErrors {
					refused = mistake.Message
				}
				break
			}
		}
	}
	return refused
}

func (r *adRun) ledger() ads.Ledger {
	found, err := r.store.Ads().Ledgers(r.t.Context(), []ads.CampaignID{r.campaign})
	if err != nil {
		r.t.Error(err)
	}
	return found[r.campaign]
}

func (r *adRun) shown(unit ads.UnitID) int64 {
	units, err := r.store.Ads().Units(r.t.Context(), []ads.UnitID{unit})
	if err != nil || units[unit] == nil {
		r.t.Fatalf("%v, %v", units, err)
	}
	return units[unit].Impressions
}

// drain lets all clients ask both servers in turn, concurrently, until the whole budget is taken
// and no ads are left, and then for the ad with the cap. It passes each ad to served.
func (r *adRun) drain(served func(zone, token string)) {
	var group sync.WaitGroup
	for i := range askers {
		group.Go(func() {
			r.drainOne(i, "capped", func() bool { return true }, served)
			r.drainOne(i, "funded", func() bool { return r.ledger().Taken >= fundedTimes*impressionPrice }, served)
			r.drainOne(i, "capped", func() bool { return true }, served)
		})
	}
	group.Wait()
}

func (r *adRun) drainOne(i int, zone string, empty func() bool, served func(zone, token string)) {
	for none := 0; none < 3 && r.t.Context().Err() == nil; i++ {
		token, err := r.choose(i, zone)
		switch {
		case err != nil: // that server is dead
		case token != "":
			none = 0
			served(zone, token)
		case empty():
			none++
		}
	}
}

// TestKilledBetweenLeaseAndSpend lets 64 clients ask two server processes for ads concurrently,
// kills one of them with SIGKILL while it has budget on lease, and starts another in its place. No
// budget is overspent and no cap exceeded. When leases and reservations have expired, exactly the
// lost ads are served.
func TestKilledBetweenLeaseAndSpend(t *testing.T) {
	t.Parallel()
	r := newAdRun(t)
	r.start(0)
	lost, err := r.choose(0, "funded") // the rest of its lease is lost with the server
	if err != nil || lost == "" {
		t.Fatalf("no ad is chosen: %v", err)
	}
	r.restart(0, 0)
	var count, capped atomic.Int64
	var kill sync.Once
	var unshown sync.Map
	r.drain(func(zone, token string) {
		n := count.Add(1)
		if zone == "capped" {
			capped.Add(1)
		}
		if n >= fundedTimes/3 {
			kill.Do(func() { r.restart(0, 0) })
		}
		if n%3 > 0 && zone == "funded" {
			unshown.Store(token, true) // chosen, and never shown
			return
		}
		if refused := r.record(token, 2); refused != "" {
			t.Errorf("an impression was refused: %s", refused)
		}
	})
	r.countAll()
	ledger, shown, shownCapped := r.ledger(), r.shown(r.funded), r.shown(r.capped)
	if n := count.Load() - capped.Load(); n > fundedTimes-onLease || ledger.Taken != fundedTimes*impressionPrice {
		t.Errorf("%d ads were chosen, up to %d lost, and %d micros taken", n, onLease, ledger.Taken)
	}
	if ledger.Spent != ads.Micros(shown)*impressionPrice || shown == 0 || shown >= fundedTimes {
		t.Errorf("%d impressions were counted, and %d micros spent", shown, ledger.Spent)
	}
	if n := capped.Load(); n > cappedTimes || shownCapped > n {
		t.Errorf("an ad with a cap of %d was chosen %d times, and shown %d times", cappedTimes, n, shownCapped)
	}
	t.Logf("%d of %d were chosen, the others were lost with the server; %d were shown, and %d of %d with the cap", count.Load()-capped.Load(), fundedTimes, shown, shownCapped, cappedTimes)

	for i := range r.both {
		r.both[i].kill()
	}
	r.start(time.Hour)
	awaitAds(t, "the leases to be settled", func() bool { return r.ledger().Taken == ledger.Spent })
	unshown.Range(func(token, _ any) bool {
		if refused := r.record(token.(string), 1); refused != "The token has expired." {
			t.Errorf("the answer for an expired impression is %q", refused)
		}
		return false // one is enough
	})
	var rest, restCapped atomic.Int64
	r.drain(func(zone, token string) {
		if zone == "capped" {
			restCapped.Add(1)
		} else {
			rest.Add(1)
		}
		if refused := r.record(token, 1); refused != "" {
			t.Errorf("an impression was refused: %s", refused)
		}
	})
	r.countAll()
	if n := rest.Load(); n != fundedTimes-shown || r.shown(r.funded) != fundedTimes || r.ledger().Spent != fundedTimes*impressionPrice {
		t.Errorf("%d ads were left, and %d were served: %d were shown, and %d micros spent", fundedTimes-shown, n, r.shown(r.funded), r.ledger().Spent)
	}
	if n := restCapped.Load(); n != cappedTimes-shownCapped || r.shown(r.capped) != cappedTimes {
		t.Errorf("the ad with the cap was left %d times, and served %d times", cappedTimes-shownCapped, n)
	}
}

// countAll counts all waiting recordings, including those that a killed server has left.
func (r *adRun) countAll() {
	r.t.Helper()
	store, now := r.store.Ads(), time.Now().Add(2*time.Hour) // ahead of the servers
	for {
		waiting, err := store.Waiting(r.t.Context(), now)
		if err != nil {
			r.t.Fatal(err)
		}
		if len(waiting) == 0 {
			return
		}
		keys := make([]ads.RecordingKey, len(waiting))
		for i := range waiting {
			keys[i] = waiting[i].RecordingKey
		}
		if _, err := store.Count(r.t.Context(), keys, now); err != nil {
			r.t.Fatal(err)
		}
	}
}

// awaitAds waits for a condition.
func awaitAds(t *testing.T, what string, condition func() bool) {
	t.Helper()
	testtime.Eventually(t, what, condition)
}
