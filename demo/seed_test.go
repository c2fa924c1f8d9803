package demo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plaza/ads"
	"plaza/id"
	"plaza/internal/testtime"
	"plaza/social"
	"plaza/social/accounts"
	"plaza/social/network"
	"plaza/storage"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
	"plaza/storage/sqlite"
)

func openSQLite(t *testing.T) storage.Store {
	t.Helper()
	st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "plaza.sqlite"))
	return opened(t, st, err)
}

// seededFile is the file of a seeded SQLite database, shared because seeding takes a while.
var seededFile = sync.OnceValues(func() (file []byte, err error) {
	folder, err := os.MkdirTemp("", "plaza-demo-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, "plaza.sqlite")
	st, err := sqlite.Open(context.Background(), path)
	if err != nil {
		return nil, err
	}
	_, err = Seed(context.Background(), st, testURL)
	if err := errors.Join(err, st.Close()); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// openSeeded opens a copy of a seeded SQLite database.
func openSeeded(t *testing.T) storage.Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plaza.sqlite")
	if err := os.WriteFile(path, must(seededFile())(t), 0o600); err != nil {
		t.Fatal(err)
	}
	st, err := sqlite.Open(t.Context(), path)
	return opened(t, st, err)
}

func openMongoDB(t *testing.T) storage.Store {
	t.Helper()
	st, err := mongodb.Open(t.Context(), mongotest.Reused(t), mongodb.Options{Timeout: testtime.Patience(), Lease: testtime.Patience()})
	return opened(t, st, err)
}

func opened(t *testing.T, st storage.Store, err error) storage.Store {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}

// engines open a fresh store each.
var engines = map[string]func(t *testing.T) storage.Store{"sqlite": openSQLite, "mongodb": openMongoDB}

const testURL = "https://plaza.example"

func mustSeed(t *testing.T, st storage.Store) *Community {
	t.Helper()
	community, err := Seed(t.Context(), st, testURL)
	if err != nil {
		t.Fatal(err)
	}
	return community
}

// TestSeed checks one seeding on each engine.
func TestSeed(t *testing.T) {
	for name, open := range engines {
		t.Run(name, func(t *testing.T) {
			st := open(t)
			account := mustSeed(t, st).Account
			t.Run("LetsSignIn", func(t *testing.T) { letsSignIn(t, st, account) })
			t.Run("WhatVisitorsSee", func(t *testing.T) { whatVisitorsSee(t, st) })
			t.Run("WhatAdaSees", func(t *testing.T) { whatAdaSees(t, st) })
			t.Run("SomethingOfEverything", func(t *testing.T) { somethingOfEverything(t, st) })
			t.Run("Ads", func(t *testing.T) { adsAreThere(t, st) })
			t.Run("AgainChangesNothing", func(t *testing.T) { againChangesNothing(t, st, account) })
			t.Run("LifeDoesNotGrow", func(t *testing.T) { lifeDoesNotGrow(t, st) })
			t.Run("AgainLeavesWhatBecameOfIt", func(t *testing.T) { againLeavesWhatBecameOfIt(t, st) })
		})
	}
}

func letsSignIn(t *testing.T, st storage.Store, account Account) {
	t.Helper()
	session, _, err := network.New(st, network.Options{}).SignIn(t.Context(), accounts.Credentials{Handle: account.Handle, Password: account.Password})
	if err != nil {
		t.Fatal(err)
	}
	users, err := st.Users(t.Context(), []social.UserID{session.User})
	if err != nil || users[session.User].Handle != "ada" {
		t.Fatalf("signed in as %v, %v", users[session.User], err)
	}
}

func againChangesNothing(t *testing.T, st storage.Store, account Account) {
	t.Helper()
	before := take(t, st)
	if again := mustSeed(t, st).Account; again != account {
		t.Errorf("the account is %v, and was %v", again, account)
	}
	if diff := cmp.Diff(before, take(t, st)); diff != "" {
		t.Errorf("seeding again has changed (-before +after):\n%s", diff)
	}
}

// Seeding again does not undo people's changes to the community.
func againLeavesWhatBecameOfIt(t *testing.T, st storage.Store) {
	t.Helper()
	service := network.New(st, network.Options{})
	users, err := st.UsersByHandle(t.Context(), []string{"ada", "omar"})
	if err != nil {
		t.Fatal(err)
	}
	ada, omar := users["ada"].ID, users["omar"].ID
	news, err := service.Viewer(ada).News(t.Context(), social.Page{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range news.Items {
		if p.Author == ada {
			if err := service.DeletePost(t.Context(), ada, p.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := service.Unfollow(t.Context(), ada, omar); err != nil {
		t.Fatal(err)
	}
	guest := accounts.SignUpInput{Handle: "guest", Name: "A guest", Password: "another one"}
	if _, _, err := service.SignUp(t.Context(), guest); err != nil {
		t.Fatal(err)
	}
	if err := service.DeleteAccount(t.Context(), users["omar"].ID, new(password)); err != nil {
		t.Fatal(err)
	}
	before := take(t, st)
	mustSeed(t, st)
	if diff := cmp.Diff(before, take(t, st)); diff != "" {
		t.Errorf("seeding again has changed (-before +after):\n%s", diff)
	}
}

// TestSeedAcceptsItsOwnWithoutAda: visitors are likely to delete the account whose password is
// shown.
func TestSeedAcceptsItsOwnWithoutAda(t *testing.T) {
	t.Parallel()
	st := openSeeded(t)
	ada := must(st.UsersByHandle(t.Context(), []string{handle}))(t)[handle]
	if err := network.New(st, network.Options{}).DeleteAccount(t.Context(), ada.ID, new(password)); err != nil {
		t.Fatal(err)
	}
	mustSeed(t, st)
}

// TestSeedRefusesOccupiedDatabases: a database with users that the demo did not create gets no demo
// accounts.
func TestSeedRefusesOccupiedDatabases(t *testing.T) {
	for engine, open := range engines {
		for _, handle := range []string{"ada", "nadia", "visitor"} {
			t.Run(engine+"/"+handle, func(t *testing.T) {
				st := open(t)
				in := accounts.SignUpInput{Handle: handle, Name: "Visitor", Password: "another one"}
				if _, _, err := network.New(st, network.Options{}).SignUp(t.Context(), in); err != nil {
					t.Fatal(err)
				}
				if _, err := Seed(t.Context(), st, testURL); !errors.Is(err, ErrOccupied) {
					t.Errorf("Seed: %v, want %v", err, ErrOccupied)
				}
				users, err := st.UsersNamed(t.Context(), "", social.Page{Limit: everything})
				if err != nil || len(users) != 1 {
					t.Errorf("there are %d users, want 1 (%v)", len(users), err)
				}
			})
		}
	}
}

func TestSeedRefusesOtherPeoplesAds(t *testing.T) {
	st := openSQLite(t)
	zones := ads.Batch{Zones: []ads.Zone{{ID: sidebar, Currency: "JPY", Design: ads.ByZone}}}
	if _, err := st.Ads().Save(t.Context(), zones); err != nil {
		t.Fatal(err)
	}
	_, err := Seed(t.Context(), st, testURL)
	if want := "the demo needs its own database: this one has other ads"; err == nil || err.Error() != want {
		t.Errorf("Seed: %v, want %s", err, want)
	}
}

func TestScriptIsSound(t *testing.T) {
	names := map[string]bool{}
	ids := map[id.ID]string{}
	s := &stage{began: time.Now()}
	for _, st := range script() {
		if names[st.name] {
			t.Errorf("%s is there twice", st.name)
		}
		names[st.name] = true
		made := s.postID(st.name, st.after).ID
		if other := ids[made]; other != "" {
			t.Errorf("%s and %s have one id", st.name, other)
		}
		ids[made] = st.name
		if st.after < time.Hour+10*time.Minute {
			t.Errorf("%s happens before people have come together: %v", st.name, st.after)
		}
		if st.after >= history-opening {
			t.Errorf("%s may lie in the future: %v", st.name, st.after)
		}
	}
}
