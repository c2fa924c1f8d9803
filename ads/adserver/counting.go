package adserver

import (
	"context"
	"errors"
	"sync"
	"time"

	"plaza/ads"
)

const (
	// maxUncounted is how many uncounted recordings of a campaign a server remembers. It finds any
	// others in the database.
	maxUncounted = 100 * ads.MaxCounted
	// countTimeout limits one transaction.
	countTimeout = 15 * time.Second
	// othersCount is how long a server leaves recordings to the server that stored them, before it
	// counts them itself.
	othersCount = 10 * time.Second
)

// counting counts recordings. Transactions on one campaign cannot run side by side, so the
// recordings that arrive during one transaction go into the next one together: a campaign waits for
// the disk once per transaction, not once per recording.
type counting struct {
	store   ads.Recorder
	now     func() time.Time
	spawn   func(func())
	counted func([]ads.Receipt) // called with all receipts

	mu      sync.Mutex
	waiting map[ads.CampaignID][]ads.RecordingKey // each campaign in it has a goroutine that counts its recordings
	closed  bool
	running sync.WaitGroup
}

func newCounting(store ads.Recorder, now func() time.Time, counted func([]ads.Receipt), spawn func(func())) *counting {
	return &counting{store: store, now: now, spawn: spawn, counted: counted, waiting: map[ads.CampaignID][]ads.RecordingKey{}}
}

// add schedules a stored recording to be counted.
func (c *counting) add(r *ads.Recording) {
	if c.queue(r.Campaign, r.Key()) {
		c.spawn(func() {
			defer c.running.Done()
			c.run(r.Campaign)
		})
	}
}

// queue reports whether the caller must start counting the campaign's recordings.
func (c *counting) queue(campaign ads.CampaignID, key ads.RecordingKey) (first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	waiting, running := c.waiting[campaign]
	if c.closed || len(waiting) >= maxUncounted {
		return false
	}
	c.waiting[campaign] = append(waiting, key)
	if !running {
		c.running.Add(1)
	}
	return !running
}

// take removes the next recordings of a campaign. If it returns none, the goroutine must end.
func (c *counting) take(campaign ads.CampaignID) []ads.RecordingKey {
	c.mu.Lock()
	defer c.mu.Unlock()
	waiting := c.waiting[campaign]
	if len(waiting) == 0 || c.closed {
		delete(c.waiting, campaign)
		return nil
	}
	n := min(len(waiting), ads.MaxCounted)
	c.waiting[campaign] = waiting[n:]
	return waiting[:n]
}

// run counts a campaign's recordings until none is waiting. countDue finds failed ones in the
// database later.
func (c *counting) run(campaign ads.CampaignID) {
	for keys := c.take(campaign); len(keys) > 0; keys = c.take(campaign) {
		ctx, cancel := context.WithTimeout(context.Background(), countTimeout)
		_ = c.count(ctx, keys)
		cancel()
	}
}

// count counts recordings together. If that fails, it counts them one by one, so that a bad
// recording does not block the others.
func (c *counting) count(ctx context.Context, keys []ads.RecordingKey) error {
	receipts, err := c.store.Count(ctx, keys, c.now())
	c.counted(receipts)
	if err == nil || len(keys) == 1 || errors.Is(err, ads.ErrUnavailable) || ctx.Err() != nil {
		return err
	}
	faults := make([]error, len(keys))
	for i := range keys {
		faults[i] = c.count(ctx, keys[i:i+1])
	}
	return errors.Join(faults...)
}

// drain waits for the transactions that are under way. The remaining recordings stay in the
// database.
func (c *counting) drain() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.running.Wait()
}

// countDue counts all recordings in the database that were due at the given time, whichever server
// stored them.
func (c *counting) countDue(ctx context.Context, due time.Time) error {
	for {
		waiting, err := c.store.Waiting(ctx, due)
		if err != nil || len(waiting) == 0 {
			return err
		}
		ofCampaign := map[ads.CampaignID][]ads.RecordingKey{}
		for _, w := range waiting {
			ofCampaign[w.Campaign] = append(ofCampaign[w.Campaign], w.RecordingKey)
		}
		var faults []error
		for _, keys := range ofCampaign {
			faults = append(faults, c.count(ctx, keys))
		}
		if err := errors.Join(faults...); err != nil || len(waiting) < ads.MaxCounted {
			return err
		}
	}
}

// handleReceipts adds valid impressions to the traffic, and makes the wallet read the ledgers of
// campaigns that have paid for clicks or conversions again.
func (s *Service) handleReceipts(receipts []ads.Receipt) {
	for i := range receipts {
		switch r := &receipts[i]; {
		case r.Kind == ads.Impression && r.Invalid == "":
			s.counter.shown(r.Zone)
		case r.Kind != ads.Impression && r.Billed > 0:
			s.wallet.spent(r.Campaign)
		}
	}
}

// countRecordings counts what other servers have not counted, and what was postponed.
func (s *Service) countRecordings(ctx context.Context) error {
	return s.counting.countDue(ctx, s.now().Add(-othersCount))
}
