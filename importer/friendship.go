package importer

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
)

// Friendship is between two people: each follows the other.
type Friendship struct {
	Low, High Person // Low < High
}

// friends returns the one Friendship of two people, in either order.
func friends(a, b Person) Friendship { return Friendship{min(a, b), max(a, b)} }

// compare orders friendships by their first person, then by their second.
func (f Friendship) compare(other Friendship) int {
	return cmp.Or(cmp.Compare(f.Low, other.Low), cmp.Compare(f.High, other.High))
}

var errOwnFriend = errors.New("a person cannot be their own friend")

// parseFriendship reads "a b".
func parseFriendship(text []byte) (Friendship, error) {
	fields := bytes.Fields(text)
	if len(fields) != 2 {
		return Friendship{}, fmt.Errorf("a friendship must have 2 fields, not %d", len(fields))
	}
	a, err := parsePerson(fields[0])
	if err != nil {
		return Friendship{}, err
	}
	b, err := parsePerson(fields[1])
	if err != nil {
		return Friendship{}, err
	}
	if a == b {
		return Friendship{}, errOwnFriend
	}
	return friends(a, b), nil
}
