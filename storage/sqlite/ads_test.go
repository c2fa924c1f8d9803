package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"plaza/ads"
	"plaza/id"
	"plaza/storage/sqlite/internal/sqldb"
)

func openAds(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "plaza.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// statementWith returns the one statement that has all these parts.
func statementWith(t *testing.T, parts ...string) (text string) {
	t.Helper()
	for _, st := range sqldb.Statements() {
		if slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(st.String(), part) }) {
			continue
		}
		if text != "" {
			t.Fatalf("%q are in more than one statement", parts)
		}
		text = st.String()
	}
	if text == "" {
		t.Fatalf("no statement has %q", parts)
	}
	return text
}

// TestAdChoiceWalksAnIndex checks SQLite's plan for reading a zone: it must walk the index of
// running units in its order, and read everything else by key.
func TestAdChoiceWalksAnIndex(t *testing.T) {
	s := openAds(t)
	steps := strings.Join(plan(t, connect(t, s.Description().Database), statementWith(t, "FROM ad_placements p", "running = 1")), "\n")
	if !strings.Contains(steps, "SEARCH p USING INDEX ad_placements_running (zone=?)") &&
		!strings.Contains(steps, "SEARCH p USING COVERING INDEX ad_placements_running (zone=?)") {
		t.Errorf("a zone's units are not read by their index:\n%s", steps)
	}
	for _, bad := range []string{"SCAN", "TEMP B-TREE"} {
		if strings.Contains(steps, bad) {
			t.Errorf("reading a zone takes a %s:\n%s", bad, steps)
		}
	}
}

// TestReservationsShareTransactions makes 64 reservations concurrently, and cancels half of them.
// The others must succeed.
func TestReservationsShareTransactions(t *testing.T) {
	s := openAds(t)
	now := time.UnixMilli(1_800_000_000_000).UTC()
	var all sync.WaitGroup
	for i := range 64 {
		ctx, leave := context.WithCancel(t.Context())
		all.Go(func() {
			defer leave()
			scope := ads.ScopeCap{Scope: id.New(), Cap: ads.Cap{Count: 1, Per: ads.Day}}
			r := ads.Reservation{Profile: ads.ProfileID{ID: id.New()}, Count: 1, Now: now, Candidates: []ads.Candidate{{
				Choice: ads.ChoiceID{ID: id.New()}, Advertiser: ads.AdvertiserID{ID: id.New()}, Caps: []ads.ScopeCap{scope},
			}}}
			if i%2 == 0 {
				go leave()
				if _, err := s.Ads().Reserve(ctx, r); err != nil && !errors.Is(err, context.Canceled) {
					t.Errorf("a cancelled reservation gets %v", err)
				}
				return
			}
			chosen, err := s.Ads().Reserve(ctx, r)
			profile, found := s.Ads().Profile(ctx, r.Profile)
			if err != nil || found != nil || !slices.Equal(chosen, []int{0}) || len(profile.Seen) != 1 {
				t.Errorf("a reservation chose %v: %v, %v; %+v", chosen, err, found, profile)
			}
		})
	}
	all.Wait()
}

func TestPausingWalksTheIndexOnCampaign(t *testing.T) {
	steps := strings.Join(plan(t, connect(t, openAds(t).Description().Database), statementWith(t, "UPDATE ad_placements SET running")), "\n")
	if !strings.Contains(steps, "ad_placements_by_campaign (campaign=?)") {
		t.Errorf("a campaign's placements are not found by their index:\n%s", steps)
	}
}

// TestOldAdRecordingsAreForgotten records for three days: recordings that are still needed stay,
// and all others are removed.
func TestOldAdRecordingsAreForgotten(t *testing.T) {
	file := openAds(t)
	store := file.Ads()
	advertiser, campaign := ads.AdvertiserID{ID: id.New()}, ads.CampaignID{ID: id.New()}
	unit, zone := ads.UnitID{ID: id.New()}, ads.ZoneID{Site: "example.org", Name: "top"}
	if _, err := store.Save(t.Context(), ads.Batch{
		Advertisers: []ads.Advertiser{{ID: advertiser}}, Campaigns: []ads.Campaign{{ID: campaign, Advertiser: advertiser, State: ads.Active}},
		Zones: []ads.Zone{{ID: zone, Currency: "EUR"}},
		Units: []ads.Unit{{ID: unit, Campaign: campaign, Bid: ads.Bid{Model: ads.CPM, Price: 1, Currency: "EUR"}, Zones: []ads.ZoneID{zone}}},
	}); err != nil {
		t.Fatal(err)
	}

	start := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	var choices []ads.ChoiceID
	record := func(choice ads.ChoiceID, hour int) bool {
		t.Helper()
		at := start.Add(time.Duration(hour) * time.Hour)
		recorded, err := store.Record(t.Context(), ads.Recording{
			Kind: ads.Impression, Choice: choice, Unit: unit, Zone: zone, At: at, KeepUntil: at.Add(24 * time.Hour),
		})
		if err != nil {
			t.Fatal(err)
		}
		return recorded
	}
	for hour := range 72 {
		choices = append(choices, ads.ChoiceID{ID: id.New()})
		if !record(choices[hour], hour) {
			t.Fatalf("hour %d: not recorded", hour)
		}
	}
	var kept int
	if err := connect(t, file.Description().Database).QueryRow(`SELECT count(*) FROM ad_recordings`).Scan(&kept); err != nil {
		t.Fatal(err)
	}
	if kept != 25 { // of hours 47 to 71
		t.Errorf("%d recordings are kept after three days, want those of the last 24 hours: 25", kept)
	}
	if record(choices[47], 71) {
		t.Error("a recording that had to be remembered was taken twice")
	}
}
