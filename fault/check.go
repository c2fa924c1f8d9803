package fault

import (
	"cmp"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxURLLen limits addresses, in characters.
const MaxURLLen = 2_048

// CheckLine checks a text of one line. Its errors are those of CheckText.
func CheckLine(field, text string, minLen, maxLen int) error {
	if err := CheckText(field, text, minLen, maxLen); err != nil {
		return err
	}
	if strings.ContainsAny(text, "\n\r\t\u2028\u2029") {
		return Invalidf(field, "This must be a single line.")
	}
	return nil
}

// CheckText checks a text of any number of lines: its length in characters, and that all characters
// can be displayed. With a minLen above 0, a text that shows nothing is blank. Errors: INVALID,
// BLANK, TOO_LONG.
func CheckText(field, text string, minLen, maxLen int) error {
	if !utf8.ValidString(text) {
		return Invalidf(field, "This is not valid UTF-8.")
	}
	if n := utf8.RuneCountInString(text); n > maxLen {
		return Errorf(CodeTooLong, field, "This has %s; at most %d are allowed.", characters(n), maxLen)
	}
	if strings.ContainsFunc(text, isForbidden) {
		return Invalidf(field, "This contains a control character.")
	}
	if minLen > 0 && !strings.ContainsFunc(text, isVisible) {
		return Errorf(CodeBlank, field, "This must not be empty.")
	}
	if n := utf8.RuneCountInString(text); n < minLen {
		return Invalidf(field, "This has %s; at least %d are needed.", characters(n), minLen)
	}
	return nil
}

func characters(n int) string {
	if n == 1 {
		return "1 character"
	}
	return fmt.Sprintf("%d characters", n)
}

func isForbidden(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' }

// isVisible reports whether a character shows something: it is neither white space nor one that
// Unicode ignores in display (Default_Ignorable_Code_Point), such as a zero-width space.
func isVisible(r rune) bool {
	return !unicode.IsSpace(r) && !unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

func isInvisible(r rune) bool { return !isVisible(r) }

// CheckCount checks how many entries a list has. Errors: INVALID: too few; TOO_LONG.
func CheckCount(field string, n, least, most int) error {
	if n > most {
		return Errorf(CodeTooLong, field, "This has %d entries; at most %d are allowed.", n, most)
	}
	if n < least {
		return Invalidf(field, "This must have %d to %d entries.", least, most)
	}
	return nil
}

// CheckURL checks an absolute http(s) address with a host, and without user information. It shows
// where it leads: it has no characters that change the direction of text (RFC 3987, section 4.1),
// and a host without invisible ones. Its errors are those of CheckText.
func CheckURL(field, text string) error {
	if err := CheckLine(field, text, 1, MaxURLLen); err != nil {
		return err
	}
	if i := strings.IndexAny(text, " \"<>\\^`{|}"); i >= 0 && isWeb(text) {
		return Invalidf(field, "This address contains the character %q, which must be escaped.", text[i])
	}
	u, err := url.Parse(text)
	switch {
	case !isWeb(text):
		return Invalidf(field, "This must be an address that begins with http:// or https://.")
	case err != nil:
		return Invalidf(field, "This is not a valid address.")
	case u.Hostname() == "":
		return Invalidf(field, "This address has no host.")
	case u.User != nil:
		return Invalidf(field, "This address contains a user name: leave it out, and the '@' behind it.")
	}
	if strings.ContainsFunc(text, isBidiControl) || strings.ContainsFunc(u.Hostname(), isInvisible) {
		return Invalidf(field, "This address contains a character that hides where it leads.")
	}
	if _, err := strconv.ParseUint(cmp.Or(u.Port(), "0"), 10, 16); err != nil {
		return Invalidf(field, "This address has a port above 65535.")
	}
	if _, err := netip.ParseAddr(u.Hostname()); err != nil && endsInNumber(u.Hostname()) {
		return Invalidf(field, "The host of this address ends in a number, but is not an IP address.")
	}
	return nil
}

// endsInNumber reports whether browsers take a host for an IPv4 address. They refuse addresses with
// such a host that is not one (WHATWG URL Standard, "ends-in-a-number checker").
func endsInNumber(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	last := host[strings.LastIndexByte(host, '.')+1:]
	digits := "0123456789"
	number, isHex := strings.CutPrefix(last, "0x")
	if isHex {
		digits += "abcdef"
	}
	return last != "" && strings.Trim(number, digits) == ""
}

// isWeb reports whether an address begins with http:// or https://, in any case.
func isWeb(text string) bool {
	scheme, _, ok := strings.Cut(text, "://")
	return ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

func isBidiControl(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }

// Part joins a field's path and the name of one of its parts; field may be empty.
func Part(field, part string) string {
	if field == "" {
		return part
	}
	return field + "." + part
}
