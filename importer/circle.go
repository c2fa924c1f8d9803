package importer

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"plaza/social"
)

// Circle is a circle that its owner made by hand.
type Circle struct {
	Owner   Person
	Name    string
	Members []Person // ascending; never the owner
}

// parseCircle reads "name<TAB>member<TAB>member…".
func parseCircle(owner Person, text []byte) (Circle, error) {
	fields := bytes.Split(bytes.TrimRight(text, "\t "), []byte{'\t'})
	if len(fields) < 2 {
		return Circle{}, errors.New("a circle must have a name and at least one member, separated by tabs")
	}
	c := Circle{Owner: owner, Name: string(fields[0])}
	if err := checkCircleName(c.Name); err != nil {
		return Circle{}, err
	}
	for _, field := range fields[1:] {
		member, err := parsePerson(field)
		if err != nil {
			return Circle{}, err
		}
		if member == owner {
			return Circle{}, fmt.Errorf("%d owns the circle and cannot be in it", owner)
		}
		c.Members = append(c.Members, member)
	}
	slices.Sort(c.Members)
	c.Members = slices.Compact(c.Members)
	return c, nil
}

func checkCircleName(name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return errors.New("the circle has no name")
	case utf8.RuneCountInString(name) > social.MaxCircleNameLen:
		return fmt.Errorf("the circle's name is longer than %d characters", social.MaxCircleNameLen)
	case strings.ContainsFunc(name, unprintable):
		return errors.New("the circle's name contains a control character")
	case social.NameKey(name) == social.NameKey(social.DefaultCircleName):
		return fmt.Errorf("%q is the name of everyone's built-in circle", social.DefaultCircleName)
	default:
		return nil
	}
}

// unprintable reports whether a character is not allowed in a name of one line.
func unprintable(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

// key returns the same text for names that the owner could not give to two circles.
func (c Circle) key() string { return social.NameKey(c.Name) }
