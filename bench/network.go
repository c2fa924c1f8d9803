package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"plaza/id"
	"plaza/importer"
	"plaza/social"
)

// network has the follows among people, who are numbered from 0.
type network struct {
	name    string
	people  int
	follows [][2]int // from, to; sorted, each once
}

// facebook reads SNAP's ego-facebook networks.
func facebook(dir string) (*network, error) {
	var faults int
	read, err := importer.ReadFolder(dir, func(importer.Fault) { faults++ })
	if err != nil {
		return nil, fmt.Errorf("--networks: %w", err)
	}
	if faults > 0 {
		return nil, fmt.Errorf("--networks: %d lines of %s are invalid", faults, dir)
	}
	number := make(map[importer.Person]int, len(read.People))
	for i, p := range read.People {
		number[p] = i
	}
	n := &network{name: "ego-facebook", people: len(read.People)}
	for _, f := range read.Friendships {
		low, high := number[f.Low], number[f.High]
		n.follows = append(n.follows, [2]int{low, high}, [2]int{high, low})
	}
	n.sort()
	return n, nil
}

const (
	followsEach   = 20   // mean number of follows per person
	medianFollows = 12   // follows added in one batch
	popularity    = 1.15 // exponent of the power law of followers
)

// powerLaw creates a network with about this number of follows: a few people have very many
// followers, and most have few (Zipf). The number of people that a person follows varies as well
// (log-normal).
func powerLaw(edges int, seed uint64) *network {
	dice := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // made-up follows need no secrecy
	n := &network{name: "power law", people: max(edges/followsEach, 30)}
	zipf := rand.NewZipf(dice, popularity, 10, uint64(n.people-1))
	place := dice.Perm(n.people) // the popular people
	seen := make(map[[2]int]bool, edges)
	for len(n.follows) < edges {
		from := dice.IntN(n.people)
		for range logNormal(dice, medianFollows, 1, n.people) {
			follow := [2]int{from, place[zipf.Uint64()]}
			if follow[0] != follow[1] && !seen[follow] && len(n.follows) < edges {
				seen[follow] = true
				n.follows = append(n.follows, follow)
			}
		}
	}
	n.sort()
	return n
}

// add adds a person with the given number of followers, chosen evenly among all, and returns the
// person's number.
func (n *network) add(followers int) int {
	star := n.people
	for i := range followers {
		n.follows = append(n.follows, [2]int{i * n.people / followers, star})
	}
	n.people++
	n.sort()
	return star
}

func (n *network) sort() {
	slices.SortFunc(n.follows, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	n.follows = slices.Compact(n.follows)
}

// following counts the follows of each person.
func (n *network) following() []int {
	counts := make([]int, n.people)
	for _, f := range n.follows {
		counts[f[0]]++
	}
	return counts
}

// followers counts the followers of each person.
func (n *network) followers() []int {
	counts := make([]int, n.people)
	for _, f := range n.follows {
		counts[f[1]]++
	}
	return counts
}

// began is when everyone signed up: two months ago. Ids are the same for all rivals.
var began = time.Now().UTC().Truncate(24 * time.Hour).Add(-history)

// history is how far back the loaded data goes.
const history = 60 * 24 * time.Hour

func derived(at time.Time, kind string, n int) id.ID {
	return id.Derive(at, fmt.Sprintf("bench/%s/%d", kind, n))
}

func person(n int) social.UserID { return social.UserID{ID: derived(began, "user", n)} }

func handle(n int) string { return fmt.Sprintf("person%d", n) }

const inBatch = 1_000

// load stores people and follows.
func (n *network) load(ctx context.Context, store social.Importer, progress func(n int)) error {
	for from := 0; from < n.people; from += inBatch {
		var users []social.NewUser
		for i := from; i < min(from+inBatch, n.people); i++ {
			users = append(users, newPerson(i))
		}
		if _, err := store.ImportUsers(ctx, users); err != nil {
			return err
		}
		progress(len(users))
	}
	for some := range slices.Chunk(n.follows, inBatch) {
		memberships, edges := make([]social.Membership, len(some)), make([]social.EdgeID, len(some))
		for i, f := range some {
			memberships[i] = social.Membership{Circle: social.BuiltInCircleID(person(f[0])), Owner: person(f[0]), Member: person(f[1])}
			edges[i] = social.EdgeID{ID: id.Derive(began, fmt.Sprintf("bench/edge/%d/%d", f[0], f[1]))}
		}
		if _, err := store.ImportMemberships(ctx, memberships, edges); err != nil {
			return err
		}
		progress(len(some))
	}
	return nil
}

func newPerson(n int) social.NewUser {
	return social.NewUser{
		User: social.User{
			ID: person(n), Handle: handle(n), Name: fmt.Sprintf("Person %d", n), WallPolicy: social.WallEveryone,
			AvatarURL: fmt.Sprintf("https://example.com/avatars/%d.jpg", n),
		},
		Following: social.NewBuiltInCircle(person(n)),
	}
}
