package importer

import (
	"errors"
	"fmt"
	"strconv"
)

// Person is a user's number in the data.
type Person uint32

// maxPerson is the highest number that is accepted.
const maxPerson = 1 << 31

// parsePerson reads a decimal number of ASCII digits.
func parsePerson(field []byte) (Person, error) {
	n, err := strconv.ParseUint(string(field), 10, 64)
	switch {
	case len(field) > 1 && field[0] == '-' && isNumber(field[1:]):
		return 0, fmt.Errorf("%s is negative", brief(field))
	case errors.Is(err, strconv.ErrRange), err == nil && n > maxPerson:
		return 0, fmt.Errorf("%s is larger than %d", brief(field), maxPerson)
	case err != nil:
		return 0, fmt.Errorf("%s is not a number", brief(field))
	default:
		return Person(n), nil
	}
}

func isNumber(field []byte) bool {
	for _, c := range field {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// brief returns a field in the form for a message: quoted and shortened.
func brief(field []byte) string {
	const most = 24
	if runes := []rune(string(field)); len(runes) > most {
		return strconv.Quote(string(runes[:most])) + "…"
	}
	return strconv.Quote(string(field))
}
