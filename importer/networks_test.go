package importer_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plaza/importer"
)

// folder writes files into a new folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// readFolder reads a folder and lists its faults, with the names of files only.
func readFolder(t *testing.T, dir string) (*importer.Networks, []string) {
	t.Helper()
	var faults []string
	n, err := importer.ReadFolder(dir, func(f importer.Fault) {
		f.File = filepath.Base(f.File)
		faults = append(faults, f.String())
	})
	if err != nil {
		t.Fatal(err)
	}
	return n, faults
}

// small has two networks with three broken lines. 4 is in a circle alone, and 6 has no friends.
var small = map[string]string{
	"1.edges":   "2 3\n3 2\n2 5\n\n2 2\n",
	"1.circles": "circle0\t2\t3\t2\ncircle10\t4\ncircle2\tx\n",
	"5.edges":   "3\t1\r\n1 3 \n9\n",
	"6.edges":   "",
	"notes.txt": "not ours",
}

var smallNetworks = importer.Networks{
	Count:  3,
	People: []importer.Person{1, 2, 3, 4, 5, 6},
	Friendships: []importer.Friendship{
		{Low: 1, High: 2},
		{Low: 1, High: 3},
		{Low: 1, High: 4},
		{Low: 1, High: 5},
		{Low: 2, High: 3},
		{Low: 2, High: 5},
		{Low: 3, High: 5},
	},
	Circles: []importer.Circle{
		{Owner: 1, Name: "circle0", Members: []importer.Person{2, 3}},
		{Owner: 1, Name: "circle10", Members: []importer.Person{4}},
	},
}

func TestReadFolder(t *testing.T) {
	n, faults := readFolder(t, folder(t, small))
	if diff := cmp.Diff(&smallNetworks, n); diff != "" {
		t.Errorf("networks (-want +got):\n%s", diff)
	}
	want := []string{
		`1.circles:3: "x" is not a number`,
		`1.edges:5: a person cannot be their own friend`,
		`5.edges:3: a friendship must have 2 fields, not 1`,
	}
	if diff := cmp.Diff(want, faults); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

func TestBrokenLines(t *testing.T) {
	long := strings.Repeat("7", 1<<20)
	circles := make([]string, 0, 200)
	for i := range 200 {
		circles = append(circles, fmt.Sprintf("c%d\t2", i))
	}
	for _, c := range []struct{ name, edges, circles, want string }{
		{name: "one field", edges: "2", want: "1.edges:1: a friendship must have 2 fields, not 1"},
		{name: "three fields", edges: "2 3 4", want: "1.edges:1: a friendship must have 2 fields, not 3"},
		{name: "a comment", edges: "# x", want: `1.edges:1: "#" is not a number`},
		{name: "no number", edges: "2 3x", want: `1.edges:1: "3x" is not a number`},
		{name: "a fraction", edges: "2.5 3", want: `1.edges:1: "2.5" is not a number`},
		{name: "a plus", edges: "+2 3", want: `1.edges:1: "+2" is not a number`},
		{name: "underscores", edges: "1_0 3", want: `1.edges:1: "1_0" is not a number`},
		{name: "other digits", edges: "٣ 3", want: `1.edges:1: "٣" is not a number`},
		{name: "a hyphen", edges: "- 3", want: `1.edges:1: "-" is not a number`},
		{name: "negative", edges: "2 -3", want: `1.edges:1: "-3" is negative`},
		{name: "too large", edges: "2 2147483649", want: `1.edges:1: "2147483649" is larger than 2147483648`},
		{name: "far too large", edges: "2 99999999999999999999999999", want: `1.edges:1: "999999999999999999999999"… is larger than 2147483648`},
		{name: "oneself", edges: "2 02", want: "1.edges:1: a person cannot be their own friend"},
		{name: "no UTF-8", edges: "2 \xff", want: "1.edges:1: the line is not valid UTF-8"},
		{name: "NUL", edges: "2 3\x00", want: `1.edges:1: "3\x00" is not a number`},
		{name: "too long", edges: "2 3\n" + long + " 3\n2 4", want: "1.edges:2: the line is longer than 1048576 bytes"},
		{name: "too long, at the end", edges: long + "7", want: "1.edges:1: the line is longer than 1048576 bytes"},
		{name: "no member", circles: "circle0", want: "1.circles:1: a circle must have a name and at least one member, separated by tabs"},
		{name: "no tab", circles: "circle0 2 3", want: "1.circles:1: a circle must have a name and at least one member, separated by tabs"},
		{name: "no name", circles: " \t2", want: "1.circles:1: the circle has no name"},
		{name: "an empty member", circles: "c\t2\t\t3", want: `1.circles:1: "" is not a number`},
		{name: "long name", circles: strings.Repeat("é", 101) + "\t2", want: "1.circles:1: the circle's name is longer than 100 characters"},
		{name: "a control character", circles: "a\x07b\t2", want: "1.circles:1: the circle's name contains a control character"},
		{name: "the built-in name", circles: "FOLLOWING\t2", want: `1.circles:1: "Following" is the name of everyone's built-in circle`},
		{name: "a name twice", circles: "c\t2\nC\t3", want: `1.circles:2: 1 already has a circle "C"`},
		{name: "the owner", circles: "c\t2\t1", want: "1.circles:1: 1 owns the circle and cannot be in it"},
		{name: "too many circles", circles: strings.Join(circles, "\n"), want: "1.circles:200: a person can have at most 200 circles"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, faults := readFolder(t, folder(t, map[string]string{"1.edges": c.edges, "1.circles": c.circles}))
			if diff := cmp.Diff([]string{c.want}, faults); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGoodLines(t *testing.T) {
	for name, edges := range map[string]string{
		"plain":             "2 3\n",
		"tab and CR LF":     "2\t3\r\n",
		"no end":            "2 3",
		"blanks":            "\n  \n 2   3 \n",
		"leading zeros":     "002 3\n",
		"after a long line": strings.Repeat("x", 2<<20) + "\n2 3\n",
		"both ways":         "2 3\n3 2\n2 3\n",
	} {
		t.Run(name, func(t *testing.T) {
			n, _ := readFolder(t, folder(t, map[string]string{"2.edges": edges}))
			want := []importer.Friendship{{Low: 2, High: 3}}
			if diff := cmp.Diff(want, n.Friendships); diff != "" {
				t.Errorf("friendships (-want +got):\n%s", diff)
			}
		})
	}
	n, faults := readFolder(t, folder(t, map[string]string{"0.edges": "2147483648 0\n"}))
	if want := []importer.Person{0, 1 << 31}; !cmp.Equal(n.People, want) || faults != nil {
		t.Errorf("people %v, want %v; faults %v", n.People, want, faults)
	}
}

func TestFilesThatAreNotNetworks(t *testing.T) {
	n, faults := readFolder(t, folder(t, map[string]string{"1.edges": "", "x.edges": "1 2", "-3.circles": "c\t2"}))
	want := []string{
		`-3.circles: the file's name must be a user's number: "-3" is negative`,
		`x.edges: the file's name must be a user's number: "x" is not a number`,
	}
	if diff := cmp.Diff(want, faults); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
	if n.Count != 1 {
		t.Errorf("%d networks, want 1", n.Count)
	}
}

func TestFoldersThatCannotBeRead(t *testing.T) {
	edgesAreAFolder := t.TempDir()
	if err := os.Mkdir(filepath.Join(edgesAreAFolder, "1.edges"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ dir, want string }{
		"none":                {"/no/such/folder", "there is no folder /no/such/folder"},
		"a file":              {filepath.Join(folder(t, map[string]string{"f": ""}), "f"), "cannot read the folder"},
		"no networks":         {folder(t, map[string]string{"1.circles": "c\t2"}), "contains no networks"},
		"a folder for a file": {edgesAreAFolder, "cannot read " + edgesAreAFolder},
	} {
		_, err := importer.ReadFolder(c.dir, func(importer.Fault) {})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
}
