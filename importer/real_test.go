package importer_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"plaza/importer"
	"plaza/storage"
)

// realData is the folder of the networks, beside the repository.
const realData = "../../shared/data/ego-facebook"

// plainCount counts the contents of the files independently, in the simplest way.
type plainCount struct {
	users       map[string]bool
	friendships map[[2]string]bool
	circles     int
	memberships int
}

func (c *plainCount) addFriendship(a, b string) {
	c.users[a], c.users[b] = true, true
	if len(a) > len(b) || len(a) == len(b) && a > b {
		a, b = b, a
	}
	c.friendships[[2]string{a, b}] = true
}

func countPlainly(t *testing.T, dir string) *plainCount {
	t.Helper()
	c := &plainCount{users: map[string]bool{}, friendships: map[[2]string]bool{}}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		ego, ending, _ := strings.Cut(filepath.Base(path), ".")
		for line := range strings.Lines(string(content)) {
			fields := strings.Fields(line)
			if ending == "circles" {
				c.circles++
				fields = fields[1:]
				c.memberships += len(fields)
			} else {
				c.addFriendship(fields[0], fields[1])
			}
			for _, friend := range fields {
				c.addFriendship(ego, friend)
			}
		}
	}
	return c
}

func needRealData(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(realData); err != nil {
		t.Skipf("\n*** SKIPPED: the real networks are not at %s: %v", realData, err)
	}
}

func TestRealNetworksAreRead(t *testing.T) {
	needRealData(t)
	want := countPlainly(t, realData)
	n, faults := readFolder(t, realData)
	if len(faults) > 0 {
		t.Errorf("faults in the real networks: %v", faults)
	}
	if n.Count != 10 || len(n.Circles) != 193 {
		t.Errorf("%d networks with %d circles, want 10 with 193", n.Count, len(n.Circles))
	}
	if len(n.People) != len(want.users) || len(n.Friendships) != len(want.friendships) || len(n.Circles) != want.circles {
		t.Errorf("%d people, %d friendships, %d circles; want %d, %d, %d",
			len(n.People), len(n.Friendships), len(n.Circles), len(want.users), len(want.friendships), want.circles)
	}
}

// someNetworks returns a folder with the smaller half of the real networks.
func someNetworks(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"348", "414", "686", "698", "3980"} {
		for _, ending := range []string{".edges", ".circles"} {
			from, err := filepath.Abs(filepath.Join(realData, name+ending))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(from, filepath.Join(dir, name+ending)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

func TestRealNetworksAreStored(t *testing.T) {
	needRealData(t)
	dir := realData
	if raced {
		dir = someNetworks(t)
		t.Log("*** with the race detector only the five smallest networks are stored")
	}
	want := countPlainly(t, dir)
	n, _ := readFolder(t, dir)
	st := openSQLite(t)
	summary := load(t, st, n)
	for what, c := range map[string]struct{ got, want int }{
		"users":       {summary.Users.Added, len(want.users)},
		"follows":     {summary.Follows.Added, 2 * len(want.friendships)},
		"circles":     {summary.Circles.Added, want.circles},
		"memberships": {summary.Memberships.Added, want.memberships},
	} {
		if c.got != c.want {
			t.Errorf("%d %s were added, want %d", c.got, what, c.want)
		}
	}
	followers := map[string]int{}
	for f := range want.friendships {
		followers[f[0]]++
		followers[f[1]]++
	}
	compareFollowers(t, st, n, followers)
	if again := load(t, st, n); again.Users.Added+again.Follows.Added+again.Circles.Added+again.Memberships.Added != 0 {
		t.Errorf("a second run has added something: %+v", again)
	}
	t.Logf("%d users, %d friendships, %d circles, %d memberships", len(want.users), len(want.friendships), want.circles, want.memberships)
}

// compareFollowers compares counts and lists of followers with the plain count, for everyone.
func compareFollowers(t *testing.T, st storage.Store, n *importer.Networks, want map[string]int) {
	t.Helper()
	for handle, person := range look(t, st, n.People) { // which compares counts with lists
		number := strings.TrimPrefix(handle, "fb")
		if _, err := strconv.Atoi(number); err != nil || len(person.Followers) != want[number] || len(person.Following) != want[number] {
			t.Errorf("%s has %d followers and follows %d, want %d", handle, len(person.Followers), len(person.Following), want[number])
		}
	}
}
