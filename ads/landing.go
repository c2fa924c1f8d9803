package ads

import (
	"strings"

	"plaza/fault"
)

const (
	// ClickMacro is the placeholder in landing pages that is replaced by the click's token. The
	// page uses the token to report a conversion.
	ClickMacro = "{click_token}"
	// escapedMacro is ClickMacro as some programs escape it.
	escapedMacro = "%7Bclick_token%7D"
)

// checkLanding checks the page that a click leads to. ClickMacro may appear once, in the path, the
// query or the fragment. A token has hundreds of characters, and browsers and proxies limit the
// length of addresses.
func checkLanding(field, text string) error {
	if strings.Count(strings.ToLower(strings.ReplaceAll(text, ClickMacro, escapedMacro)), strings.ToLower(escapedMacro)) > 1 {
		return fault.Invalidf(field, "A landing page may contain %s at most once.", ClickMacro)
	}
	return fault.CheckURL(field, strings.ReplaceAll(text, ClickMacro, escapedMacro))
}

// HasClickMacro reports whether a landing page may contain ClickMacro.
func HasClickMacro(landing string) bool { return strings.Contains(landing, "click_token") }

// ReplaceClickMacro puts a token, which needs no escaping, in place of ClickMacro.
func ReplaceClickMacro(landing, token string) string {
	return strings.NewReplacer(ClickMacro, token, escapedMacro, token, strings.ToLower(escapedMacro), token).Replace(landing)
}
