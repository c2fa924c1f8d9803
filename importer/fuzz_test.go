package importer

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"plaza/social"
)

// readBoth reads both files of network 1, and counts the lines that were left out.
func readBoth(edges, circles []byte) (n *Networks, faults int) {
	r := newReader(func(Fault) { faults++ })
	edgesErr := r.read("1.edges", file{"1.edges", 1}, bytes.NewReader(edges))
	circlesErr := r.read("1.circles", file{"1.circles", 1}, bytes.NewReader(circles))
	if err := errors.Join(edgesErr, circlesErr); err != nil {
		panic(err) // they are in memory
	}
	return r.networks(), faults
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("1 2\n2 1\n"), []byte("circle0\t2\t3\n"))
	f.Add([]byte("2 2\n-1 5\n99999999999 1\r\n\xff\n"), []byte("Following\t2\nx\nc\t1\n"))
	f.Add([]byte("2147483648 0"), []byte("c\t2\nC\t2\n\t\n"))
	f.Fuzz(func(t *testing.T, edges, circles []byte) {
		n, faults := readBoth(edges, circles)
		if lines := bytes.Count(edges, []byte{'\n'}) + bytes.Count(circles, []byte{'\n'}) + 2; faults > lines {
			t.Errorf("%d faults in %d lines", faults, lines)
		}
		if !slices.IsSorted(n.People) || len(slices.Compact(slices.Clone(n.People))) != len(n.People) {
			t.Errorf("people are out of order or twice: %v", n.People)
		}
		if !slices.IsSortedFunc(n.Friendships, Friendship.compare) || len(slices.Compact(slices.Clone(n.Friendships))) != len(n.Friendships) {
			t.Errorf("friendships are out of order or twice: %v", n.Friendships)
		}
		known := func(p Person) bool { _, ok := slices.BinarySearch(n.People, p); return ok && p <= maxPerson }
		for _, f := range n.Friendships {
			if f.Low >= f.High || !known(f.Low) || !known(f.High) {
				t.Errorf("a friendship %v", f)
			}
		}
		checkCircles(t, n)
	})
}

func checkCircles(t *testing.T, n *Networks) {
	t.Helper()
	names := map[string]bool{}
	for _, c := range n.Circles {
		if c.Owner != 1 || len(c.Members) == 0 || slices.Contains(c.Members, c.Owner) {
			t.Errorf("a circle %v", c)
		}
		if names[strings.ToLower(c.Name)] || !utf8.ValidString(c.Name) || utf8.RuneCountInString(c.Name) > social.MaxCircleNameLen {
			t.Errorf("a circle's name %q", c.Name)
		}
		names[strings.ToLower(c.Name)] = true
		for _, member := range c.Members {
			if _, ok := slices.BinarySearchFunc(n.Friendships, friends(1, member), Friendship.compare); !ok {
				t.Errorf("%d is in a circle, but no friend", member)
			}
		}
	}
}
