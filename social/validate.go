package social

import (
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// checkLine checks a text of one line.
func checkLine(field, text string, minLen, maxLen int) error {
	if err := checkText(field, text, minLen, maxLen); err != nil {
		return err
	}
	if strings.ContainsAny(text, "\n\r\t\u2028\u2029") {
		return errorf(CodeInvalid, field, "This must be a single line.")
	}
	return nil
}

// checkText checks a text of any number of lines: its length in characters, and that every one of them can be shown.
// With a minLen above 0 white space alone is blank.
func checkText(field, text string, minLen, maxLen int) error {
	if !utf8.ValidString(text) {
		return errorf(CodeInvalid, field, "This is not valid UTF-8.")
	}
	if n := utf8.RuneCountInString(text); n > maxLen {
		return errorf(CodeTooLong, field, "This has %d characters; at most %d are allowed.", n, maxLen)
	}
	if strings.ContainsFunc(text, isForbidden) {
		return errorf(CodeInvalid, field, "This holds a control character.")
	}
	if minLen > 0 && strings.TrimSpace(text) == "" {
		return errorf(CodeBlank, field, "This must not be empty.")
	}
	if n := utf8.RuneCountInString(text); n < minLen {
		return errorf(CodeInvalid, field, "This has %d characters; at least %d are needed.", n, minLen)
	}
	return nil
}

func isForbidden(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' }

// checkURL checks an absolute http(s) address.
func checkURL(field, text string) error {
	if err := checkLine(field, text, 1, MaxURLLen); err != nil {
		return err
	}
	u, err := url.Parse(text)
	if err != nil || strings.ContainsAny(text, " \"<>\\^`{|}") || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.User != nil {
		return errorf(CodeInvalid, field, "This must be an address that begins with http:// or https://.")
	}
	return nil
}

var handlePattern = regexp.MustCompile(`^[A-Za-z0-9_]{1,30}$`)

// normalHandle is how a handle is stored and looked up; false where it can be nobody's.
func normalHandle(text string) (string, bool) {
	return strings.ToLower(text), handlePattern.MatchString(text)
}
