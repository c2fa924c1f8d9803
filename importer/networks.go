package importer

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"plaza/social"
)

// Networks is the content of a folder of ego networks, without duplicates.
type Networks struct {
	Count       int          // how many networks there are
	People      []Person     // ascending
	Friendships []Friendship // ascending
	Circles     []Circle     // by owner, then in the order of the files
}

// The endings of the files that belong to a network.
const (
	edgesEnding   = ".edges"
	circlesEnding = ".circles"
)

// ReadFolder reads all N.edges and N.circles of a folder. It skips invalid lines, and reports each.
// It fails if the folder or a file can't be read, or if there is no file of friendships.
func ReadFolder(dir string, report func(Fault)) (*Networks, error) {
	files, err := list(dir, report)
	if err != nil {
		return nil, err
	}
	r := newReader(report)
	for _, f := range files {
		if err := r.readFile(dir, f); err != nil {
			return nil, err
		}
	}
	return r.networks(), nil
}

// file is one of a network's files.
type file struct {
	name string
	ego  Person
}

func (f file) hasEdges() bool { return strings.HasSuffix(f.name, edgesEnding) }

// list finds the networks' files, the lowest person's first.
func list(dir string, report func(Fault)) ([]file, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("there is no folder %s", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the folder: %w", err)
	}
	var files []file
	for _, entry := range entries {
		ending := filepath.Ext(entry.Name())
		if ending != edgesEnding && ending != circlesEnding {
			continue
		}
		ego, err := parsePerson([]byte(strings.TrimSuffix(entry.Name(), ending)))
		if err != nil {
			report(Fault{File: filepath.Join(dir, entry.Name()), Reason: "the file's name must be a user's number: " + err.Error()})
			continue
		}
		files = append(files, file{entry.Name(), ego})
	}
	if !slices.ContainsFunc(files, file.hasEdges) {
		return nil, fmt.Errorf("%s contains no networks: files such as 107%s and 107%s are expected", dir, edgesEnding, circlesEnding)
	}
	slices.SortStableFunc(files, func(a, b file) int { return int(int64(a.ego) - int64(b.ego)) })
	return files, nil
}

// reader collects facts, each once.
type reader struct {
	report  func(Fault)
	egos    map[Person]bool
	people  map[Person]bool
	friends map[Friendship]bool
	circles []Circle
	named   map[Person]map[string]bool // the keys of each owner's circles
}

func newReader(report func(Fault)) *reader {
	return &reader{
		report: report, egos: map[Person]bool{}, people: map[Person]bool{}, friends: map[Friendship]bool{},
		named: map[Person]map[string]bool{},
	}
}

func (r *reader) readFile(dir string, f file) error {
	path := filepath.Join(dir, f.name)
	content, err := os.Open(path)
	if err != nil {
		return err
	}
	defer content.Close()
	if err := r.read(path, f, content); err != nil {
		return fmt.Errorf("cannot read %s: %w", path, err)
	}
	return nil
}

// read collects the facts of one file.
func (r *reader) read(path string, f file, content io.Reader) error {
	r.egos[f.ego] = true
	r.people[f.ego] = true
	left := func(line int, reason error) { r.report(Fault{path, line, reason.Error()}) }
	use := func(_ int, text []byte) error { return r.circle(f.ego, text) }
	if f.hasEdges() {
		use = func(_ int, text []byte) error { return r.friendship(f.ego, text) }
	}
	return eachLine(content, use, left)
}

// friendship collects a friendship between two friends of ego.
func (r *reader) friendship(ego Person, text []byte) error {
	f, err := parseFriendship(text)
	if err != nil {
		return err
	}
	r.friends[f] = true
	r.addFriendship(ego, f.Low)
	r.addFriendship(ego, f.High)
	return nil
}

// addFriendship collects the friendships of everyone in an ego network with its ego.
func (r *reader) addFriendship(ego, other Person) {
	r.people[other] = true
	if other != ego {
		r.friends[friends(ego, other)] = true
	}
}

// circle collects one of ego's circles. It finds errors that would prevent storing the circle here,
// where the line is known.
func (r *reader) circle(ego Person, text []byte) error {
	c, err := parseCircle(ego, text)
	if err != nil {
		return err
	}
	named := r.named[ego]
	if named == nil {
		named = map[string]bool{}
		r.named[ego] = named
	}
	if named[c.key()] {
		return fmt.Errorf("%d already has a circle %s", ego, brief([]byte(c.Name)))
	}
	if len(named) >= social.MaxCircles-1 { // the built-in one is one of them
		return fmt.Errorf("a person can have at most %d circles", social.MaxCircles)
	}
	named[c.key()] = true
	r.circles = append(r.circles, c)
	for _, member := range c.Members {
		r.addFriendship(ego, member)
	}
	return nil
}

// networks sorts what was collected.
func (r *reader) networks() *Networks {
	n := &Networks{Count: len(r.egos), Circles: r.circles}
	for person := range r.people {
		n.People = append(n.People, person)
	}
	for f := range r.friends {
		n.Friendships = append(n.Friendships, f)
	}
	slices.Sort(n.People)
	slices.SortFunc(n.Friendships, Friendship.compare)
	return n
}
