package social

import (
	"regexp"
	"strings"
)

var handlePattern = regexp.MustCompile(`^[A-Za-z0-9_]{1,30}$`)

// NormalHandle returns the stored form of a handle, and false if it is not valid.
func NormalHandle(text string) (string, bool) {
	return strings.ToLower(text), handlePattern.MatchString(text)
}
