package importer_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plaza/id"
	"plaza/importer"
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

func load(t *testing.T, st storage.Store, n *importer.Networks) importer.Summary {
	t.Helper()
	summary, err := importer.Load(t.Context(), st, n, importer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return summary
}

// personalData is a person's data in the store.
type personalData struct {
	User                 social.User
	Followers, Following []string            // handles, sorted
	Circles              []string            // names, in their order
	Members              map[string][]string // of the circles: handles, sorted
}

const everything = 10_000

// look reads people's data from the store.
func look(t *testing.T, st storage.Store, people []importer.Person) map[string]personalData {
	t.Helper()
	handles := make([]string, len(people))
	for i, p := range people {
		handles[i] = importer.Handle(p)
	}
	users, err := st.UsersByHandle(t.Context(), handles)
	if err != nil {
		t.Fatal(err)
	}
	names := map[social.UserID]string{}
	for handle, user := range users {
		names[user.ID] = handle
	}
	networks := map[string]personalData{}
	for handle, user := range users {
		networks[handle] = lookAt(t, st, user, names)
	}
	return networks
}

func lookAt(t *testing.T, st storage.Store, user *social.User, names map[social.UserID]string) personalData {
	t.Helper()
	n := personalData{User: *user, Members: map[string][]string{}}
	list := social.List[social.UserID]{Of: user.ID, Page: social.Page{Limit: everything}}
	followers, err := st.Followers(t.Context(), []social.List[social.UserID]{list})
	if err != nil {
		t.Fatal(err)
	}
	following, err := st.Following(t.Context(), []social.List[social.UserID]{list})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range followers[list] {
		n.Followers = append(n.Followers, names[e.From])
	}
	for _, e := range following[list] {
		n.Following = append(n.Following, names[e.To])
	}
	slices.Sort(n.Followers)
	slices.Sort(n.Following)
	circles, err := st.CirclesOf(t.Context(), user.ID, list.Page)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range circles {
		members := social.List[social.CircleID]{Of: c.ID, Page: list.Page}
		in, err := st.Members(t.Context(), []social.List[social.CircleID]{members})
		if err != nil {
			t.Fatal(err)
		}
		n.Circles = append(n.Circles, c.Name)
		for _, member := range in[members] {
			n.Members[c.Name] = append(n.Members[c.Name], names[member.To])
		}
		slices.Sort(n.Members[c.Name])
		if c.MembersCount != len(n.Members[c.Name]) {
			t.Errorf("%s of %s counts %d members, and lists %d", c.Name, user.Handle, c.MembersCount, len(n.Members[c.Name]))
		}
	}
	if user.FollowersCount != len(n.Followers) || user.FollowingCount != len(n.Following) {
		t.Errorf("%s counts %d followers and %d followed, and lists %d and %d",
			user.Handle, user.FollowersCount, user.FollowingCount, len(n.Followers), len(n.Following))
	}
	return n
}

func TestLoad(t *testing.T) {
	for name, open := range engines {
		t.Run(name, func(t *testing.T) {
			st := open(t)
			n, _ := readFolder(t, folder(t, small))
			want := importer.Summary{
				Users: importer.Count{Total: 6, Added: 6}, Follows: importer.Count{Total: 14, Added: 14},
				Circles: importer.Count{Total: 2, Added: 2}, Memberships: importer.Count{Total: 3, Added: 3},
			}
			if diff := cmp.Diff(want, load(t, st, n)); diff != "" {
				t.Errorf("summary (-want +got):\n%s", diff)
			}
			loaded := look(t, st, n.People)
			if len(loaded) != 6 {
				t.Fatalf("%d users, want 6", len(loaded))
			}
			friends := []string{"fb2", "fb3", "fb4", "fb5"}
			wantEgo := personalData{
				User: social.User{
					ID: importer.UserID(1), Handle: "fb1", Name: "User 1", WallPolicy: social.WallEveryone, FollowersCount: 4, FollowingCount: 4,
				},
				Followers: friends, Following: friends,
				Circles: []string{social.DefaultCircleName, "circle0", "circle10"},
				Members: map[string][]string{social.DefaultCircleName: friends, "circle0": {"fb2", "fb3"}, "circle10": {"fb4"}},
			}
			if diff := cmp.Diff(wantEgo, loaded["fb1"]); diff != "" {
				t.Errorf("user 1 (-want +got):\n%s", diff)
			}
			if lone := loaded["fb6"]; lone.Followers != nil || lone.Following != nil {
				t.Errorf("user 6 has followers %v and follows %v", lone.Followers, lone.Following)
			}
		})
	}
}

func TestLoadAgainChangesNothing(t *testing.T) {
	for name, open := range engines {
		t.Run(name, func(t *testing.T) {
			st := open(t)
			n, _ := readFolder(t, folder(t, small))
			load(t, st, n)
			before := look(t, st, n.People)
			again := load(t, st, n)
			for _, c := range []importer.Count{again.Users, again.Follows, again.Circles, again.Memberships} {
				if c.Added != 0 || c.Existing() != c.Total {
					t.Errorf("a second run has added something: %+v", again)
				}
			}
			if diff := cmp.Diff(before, look(t, st, n.People)); diff != "" {
				t.Errorf("a second run has changed (-before +after):\n%s", diff)
			}
		})
	}
}

// clique returns a network of user 0 with n friends who all know each other, and a circle of half
// of them.
func clique(n int) *importer.Networks {
	c := &importer.Networks{Count: 1, Circles: []importer.Circle{{Name: "circle0"}}}
	for a := range importer.Person(n + 1) {
		c.People = append(c.People, a)
		if a%2 == 1 {
			c.Circles[0].Members = append(c.Circles[0].Members, a)
		}
		for b := a + 1; b <= importer.Person(n); b++ {
			c.Friendships = append(c.Friendships, importer.Friendship{Low: a, High: b})
		}
	}
	return c
}

func TestLoadResumesWhereItWasStopped(t *testing.T) {
	for name, open := range engines {
		t.Run(name, func(t *testing.T) {
			st := open(t)
			n := clique(70) // 4,970 follows: 5 batches
			stops, last := 0, 0
			for {
				ctx, stop := context.WithCancel(t.Context())
				_, err := importer.Load(ctx, st, n, importer.Options{Progress: func(p importer.Progress) {
					if p.Done > last { // a new batch, the last one of this run
						last = p.Done
						stop()
					}
				}})
				stop()
				if err == nil {
					break
				}
				if !errors.Is(err, context.Canceled) {
					t.Fatalf("after %d stops: %v", stops, err)
				}
				stops++
			}
			if want := 7; stops != want {
				t.Errorf("stopped %d times, want %d: after the users, the circle, and 5 batches of follows", stops, want)
			}
			whole := openSQLite(t)
			load(t, whole, n)
			if diff := cmp.Diff(look(t, whole, n.People), look(t, st, n.People)); diff != "" {
				t.Errorf("it differs from an import that ran through (-whole +pieces):\n%s", diff)
			}
		})
	}
}

func TestLoadAddsWhatIsMissing(t *testing.T) {
	st := openSQLite(t)
	n, _ := readFolder(t, folder(t, small))
	load(t, st, n)
	service := network.New(st, network.Options{})
	if err := service.Unfollow(t.Context(), importer.UserID(1), importer.UserID(2)); err != nil {
		t.Fatal(err)
	}
	again := load(t, st, n)
	if again.Follows.Added != 1 || again.Memberships.Added != 1 {
		t.Errorf("after an unfollow: %+v, want 1 follow and 1 membership added", again)
	}
}

// TestLoadKeepsEarlierBuiltInCircles: an earlier version gave them other ids.
func TestLoadKeepsEarlierBuiltInCircles(t *testing.T) {
	collected := time.Date(2012, time.December, 3, 12, 0, 0, 0, time.UTC)
	for name, open := range engines {
		t.Run(name, func(t *testing.T) {
			st := open(t)
			n, _ := readFolder(t, folder(t, small))
			earlier := n.People[:3]
			users := make([]social.NewUser, len(earlier))
			for i, p := range earlier {
				user := social.User{ID: importer.UserID(p), Handle: importer.Handle(p), Name: fmt.Sprint("User ", p), WallPolicy: social.WallEveryone}
				users[i] = social.NewUser{User: user, Following: social.NewBuiltInCircle(user.ID)}
				users[i].Following.ID = social.CircleID{ID: id.Derive(collected, fmt.Sprintf("plaza/importer/ego-facebook/user/%d/following", p))}
			}
			if _, err := st.ImportUsers(t.Context(), users); err != nil {
				t.Fatal(err)
			}
			if got := load(t, st, n).Follows; got.Added != 14 || got.Refused != 0 {
				t.Errorf("follows: %+v, want 14 added", got)
			}
			fresh := open(t)
			load(t, fresh, n)
			if diff := cmp.Diff(look(t, fresh, n.People), look(t, st, n.People)); diff != "" {
				t.Errorf("a first import and one over an earlier one (-first +over):\n%s", diff)
			}
			if again := load(t, st, n).Follows; again.Added != 0 || again.Refused != 0 {
				t.Errorf("again: %+v, want nothing added", again)
			}
		})
	}
}

func TestLoadLeavesBlocksAlone(t *testing.T) {
	for name, open := range engines {
		t.Run(name, func(t *testing.T) {
			st := open(t)
			n, _ := readFolder(t, folder(t, small))
			load(t, st, n)
			if _, err := network.New(st, network.Options{}).Block(t.Context(), importer.UserID(2), importer.UserID(1)); err != nil {
				t.Fatal(err)
			}
			again := load(t, st, n)
			if again.Follows != (importer.Count{Total: 14, Refused: 2}) || again.Memberships != (importer.Count{Total: 3, Refused: 1}) {
				t.Errorf("after a block: %+v", again)
			}
			if followers := look(t, st, n.People)["fb1"].Followers; slices.Contains(followers, "fb2") {
				t.Errorf("a person follows someone they block: %v", followers)
			}
		})
	}
}

func TestLoadLeavesDeletedAccountsAlone(t *testing.T) {
	for name, open := range engines {
		t.Run(name, func(t *testing.T) {
			st := open(t)
			n, _ := readFolder(t, folder(t, small))
			first := load(t, st, n)
			if err := network.New(st, network.Options{}).DeleteUser(t.Context(), importer.UserID(2)); err != nil {
				t.Fatal(err)
			}
			again := load(t, st, n)
			if again.Users.Added != 0 || again.Users.Refused != 1 || again.Users.Existing() != first.Users.Total-1 {
				t.Errorf("after a deletion: %+v", again.Users)
			}
		})
	}
}

func TestLoadReportsTakenNames(t *testing.T) {
	for name, open := range engines {
		t.Run(name, func(t *testing.T) {
			st := open(t)
			n, _ := readFolder(t, folder(t, small))
			service := network.New(st, network.Options{})
			if _, _, err := service.SignUp(t.Context(), accounts.SignUpInput{Handle: "fb3", Name: "Another", Password: "a password"}); err != nil {
				t.Fatal(err)
			}
			_, err := importer.Load(t.Context(), st, n, importer.Options{})
			if want := "the handle fb3 belongs to a user outside these networks"; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want one with %q", err, want)
			}
		})
	}
	for name, open := range engines {
		t.Run(name, func(t *testing.T) {
			st := open(t)
			n, _ := readFolder(t, folder(t, small))
			circles := n.Circles
			n.Circles = nil
			load(t, st, n)
			n.Circles = circles
			if _, err := network.New(st, network.Options{}).CreateCircle(t.Context(), importer.UserID(1), "CIRCLE10"); err != nil {
				t.Fatal(err)
			}
			_, err := importer.Load(t.Context(), st, n, importer.Options{})
			if want := `fb1 has made a circle "CIRCLE10"`; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want one with %q", err, want)
			}
		})
	}
}

func TestLoadWithAPassword(t *testing.T) {
	st := openSQLite(t)
	service := network.New(st, network.Options{})
	account, err := service.NewAccount(t.Context(), accounts.SignUpInput{Handle: "x", Name: "x", Password: "for all of them"}, importer.UserID(0))
	if err != nil {
		t.Fatal(err)
	}
	n, _ := readFolder(t, folder(t, small))
	if _, err := importer.Load(t.Context(), st, n, importer.Options{PasswordHash: account.PasswordHash}); err != nil {
		t.Fatal(err)
	}
	for _, p := range n.People {
		session, _, err := service.SignIn(t.Context(), accounts.Credentials{Handle: importer.Handle(p), Password: "for all of them"})
		if err != nil || session.User != importer.UserID(p) {
			t.Errorf("%s signs in as %v, %v", importer.Handle(p), session.User, err)
		}
	}
	if _, _, err := service.SignIn(t.Context(), accounts.Credentials{Handle: "fb1", Password: "something else"}); err == nil {
		t.Error("another password is taken")
	}
}

func TestProgressGrowsToTheTotal(t *testing.T) {
	n := clique(40)
	last := importer.Progress{}
	_, err := importer.Load(t.Context(), openSQLite(t), n, importer.Options{Progress: func(p importer.Progress) {
		if p.Done < last.Done || p.Done > p.Total {
			t.Errorf("progress %v after %v", p, last)
		}
		last = p
	}})
	if err != nil {
		t.Fatal(err)
	}
	if want := (importer.Progress{Done: 41 + 1640 + 1 + 20, Total: 41 + 1640 + 1 + 20}); last != want {
		t.Errorf("the last progress is %v, want %v", last, want)
	}
}

func ExampleFault() {
	fmt.Println(importer.Fault{File: "data/107.edges", Line: 7, Reason: `"x" is not a number`})
	// Output: data/107.edges:7: "x" is not a number
}
