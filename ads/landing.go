package ads

import (
	"regexp"
	"strings"

	"plaza/fault"
)

// ClickMacro is the placeholder in landing pages that is replaced by the click's token. The page
// uses the token to report a conversion.
const ClickMacro = "{click_token}"

// macros matches ClickMacro, also as programs escape it.
var macros = regexp.MustCompile(`\{click_token\}|%7[Bb]click_token%7[Dd]`)

// escapedMacro takes the place of ClickMacro while an address is checked.
const escapedMacro = "%7Bclick_token%7D"

// checkLanding checks the page that a click leads to. ClickMacro may appear once, in the path, the
// query or the fragment. A token has hundreds of characters, and browsers and proxies limit the
// length of addresses.
func checkLanding(field, text string) error {
	plain := macros.ReplaceAllString(text, escapedMacro)
	switch {
	case strings.Count(plain, escapedMacro) > 1:
		return fault.Invalidf(field, "A landing page may contain %s at most once.", ClickMacro)
	case strings.Contains(origin(plain), escapedMacro):
		return fault.Invalidf(field, "A landing page may contain %s in the path, the query or the fragment, not in the host.", ClickMacro)
	case strings.ContainsAny(plain, "{}"):
		return fault.Invalidf(field, "A landing page may contain braces only for %s, in small letters. Escape others: %%7B and %%7D.", ClickMacro)
	}
	return fault.CheckURL(field, plain)
}

// origin returns the part of an address before its path, query and fragment.
func origin(text string) string {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return ""
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	return scheme + "://" + rest
}

// HasClickMacro reports whether a landing page may contain ClickMacro.
func HasClickMacro(landing string) bool { return strings.Contains(landing, "click_token") }

// ReplaceClickMacro puts a token, which needs no escaping, in place of ClickMacro.
func ReplaceClickMacro(landing, token string) string {
	return macros.ReplaceAllLiteralString(landing, token)
}
