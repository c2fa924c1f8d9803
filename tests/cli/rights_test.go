package cli

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plaza/internal/plazatest"
	"plaza/social"
	"plaza/social/accounts"
	"plaza/social/network"
	"plaza/storage"
	"plaza/storage/sqlite"
)

func TestRightsCommands(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	st, err := sqlite.Open(t.Context(), filepath.Join(data, "plaza.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	service := network.New(st, network.Options{})
	ada, _, err := service.SignUp(t.Context(), accounts.SignUpInput{Handle: "ada", Name: "Ada", Password: "analytical engine"})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		out  string
		err  string
	}{
		{[]string{"rights"}, "No user has any rights: plaza grant RIGHT HANDLE grants one.\n", ""},
		{[]string{"revoke", "admin", "ada"}, "ada does not have the right admin.\n", ""},
		{[]string{"grant", "admin", "ada"}, "ada now has the right admin.\n", ""},
		{[]string{"grant", "admin", "Ada"}, "Ada already has the right admin.\n", ""},
		{[]string{"grant", "ads:manage", "ada"}, "ada now has the right ads:manage.\n", ""},
		{[]string{"rights"}, "ada\tadmin\tads:manage\n", ""},
		{[]string{"revoke", "admin", "ada"}, "ada no longer has the right admin.\n", ""},
		{[]string{"grant", "admin", "bob"}, "", "plaza: There is no such user.\n"},
		{[]string{"grant", "root", "ada"}, "", "plaza: The right \"root\" does not exist. The rights are admin, ads:manage, moderate.\n"},
	} {
		command, stdout, stderr := plazatest.Command(t.Context(), data, c.args...)
		err := command.Run()
		if stdout.String() != c.out || stderr.String() != c.err || (err == nil) != (c.err == "") {
			t.Errorf("plaza %q: %v, says %q and %q, want %q and %q", c.args, err, stdout, stderr, c.out, c.err)
		}
	}
	st, err = sqlite.Open(t.Context(), filepath.Join(data, "plaza.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	requireRights(t, network.New(st, network.Options{}), ada.User)
}

// requireRights checks the rights of a user who has only the right to manage ads.
func requireRights(t *testing.T, service *network.Service, user social.UserID) {
	t.Helper()
	for right, want := range map[social.Right]string{
		social.RightManageAds: "",
		social.RightAdmin:     `FORBIDDEN: This needs the right "admin".`,
	} {
		got := ""
		if err := service.RequireRight(t.Context(), user, right); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("RequireRight %s says %q, want %q", right, got, want)
		}
	}
	if _, err := service.GrantRight(t.Context(), "ada", social.RightAdmin); err != nil {
		t.Fatal(err)
	}
	if err := service.RequireRight(t.Context(), user, social.RightManageAds); err != nil {
		t.Errorf("an admin lacks a right: %v", err)
	}
	if err := service.RequireRight(t.Context(), social.UserID{}, social.RightAdmin); err == nil {
		t.Error("a signed-out viewer is an admin")
	}
}

// askedForRights is a store that counts the queries for users with rights, and can make them fail.
type askedForRights struct {
	storage.Store

	asked atomic.Int32
	fails atomic.Bool
}

var errRights = errors.New("rights cannot be read")

func (s *askedForRights) UsersWithRights(ctx context.Context) ([]*social.User, error) {
	s.asked.Add(1)
	if s.fails.Load() {
		return nil, errRights
	}
	return s.Store.UsersWithRights(ctx)
}

// TestHadRight checks that rights, which a server caches for a second, are read once, however many
// requests need them.
func TestHadRight(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		store := &askedForRights{Store: e.Open(t)}
		var clock atomic.Int64
		clock.Store(time.Now().UnixNano())
		service := network.New(store, network.Options{Now: func() time.Time { return time.Unix(0, clock.Load()) }})
		ada, _, err := service.SignUp(t.Context(), accounts.SignUpInput{Handle: "ada", Name: "Ada", Password: "analytical engine"})
		if err != nil {
			t.Fatal(err)
		}
		had := func(want bool) {
			t.Helper()
			if got, err := service.HadRight(t.Context(), ada.User, social.RightManageAds); got != want || err != nil {
				t.Errorf("had the right: %v, %v, want %v", got, err, want)
			}
		}
		var many sync.WaitGroup
		for range 20 {
			many.Go(func() { had(false) })
		}
		many.Wait()
		if _, err := service.GrantRight(t.Context(), "ada", social.RightAdmin); err != nil {
			t.Fatal(err)
		}
		had(false)
		if asked := store.asked.Load(); asked != 1 {
			t.Errorf("the store was asked %d times within a second", asked)
		}
		clock.Add(int64(time.Second))
		had(true)
		clock.Add(-int64(time.Hour)) // the clock was set back
		had(true)
		if asked := store.asked.Load(); asked != 3 {
			t.Errorf("the store was asked %d times, want 3", asked)
		}
		clock.Add(int64(time.Minute))
		store.fails.Store(true)
		if _, err := service.HadRight(t.Context(), ada.User, social.RightManageAds); !errors.Is(err, errRights) {
			t.Errorf("rights that cannot be read: %v", err)
		}
		store.fails.Store(false)
		had(true)
	})
}
