package ads

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits of an ad unit.
const (
	MaxHeadline  = 100  // characters
	MaxBody      = 500  // characters
	MaxURL       = 2048 // bytes
	MaxUnitZones = 100  // zones that one unit is placed in
)

// Creative is what a viewer gets to see of an ad unit, and where it leads.
type Creative struct {
	Headline   string // 1 to MaxHeadline characters
	Body       string // 0 to MaxBody characters
	ImageURL   string // http(s), or empty: no picture
	LandingURL string // http(s): the page that a click leads to
}

func (c *Creative) check(field string) *Error {
	if err := checkText(field+".headline", c.Headline, 1, MaxHeadline); err != nil {
		return err
	}
	if err := checkText(field+".body", c.Body, 0, MaxBody); err != nil {
		return err
	}
	if c.ImageURL != "" {
		if err := checkURL(field+".imageUrl", c.ImageURL); err != nil {
			return err
		}
	}
	return checkURL(field+".landingUrl", c.LandingURL)
}

// Unit is one advertisement.
type Unit struct {
	ID       UnitID
	Campaign CampaignID
	Creative
	Bid   Bid
	Zones []ZoneID // where it is placed: 1 to MaxUnitZones, each once

	Impressions int64 // recorded in all zones
	Clicks      int64 // recorded in all zones
}

// ECPM is what a thousand impressions of the unit are expected to earn, as the function ECPM has it.
func (u *Unit) ECPM() Micros { return ECPM(u.Bid, u.Impressions, u.Clicks) }

func (u *Unit) check(field string) *Error {
	if u.ID.IsZero() {
		return invalid(field+".id", "A unit needs an id.")
	}
	if u.Campaign.IsZero() {
		return invalid(field+".campaign", "A unit needs a campaign.")
	}
	if err := u.Creative.check(field); err != nil {
		return err
	}
	if err := u.Bid.check(field + ".bid"); err != nil {
		return err
	}
	if u.Impressions != 0 || u.Clicks != 0 {
		return invalid(field, "A new unit has neither impressions nor clicks.")
	}
	return u.checkZones(field + ".zones")
}

func (u *Unit) checkZones(field string) *Error {
	if len(u.Zones) == 0 || len(u.Zones) > MaxUnitZones {
		return invalid(field, fmt.Sprintf("A unit is placed in 1 to %d zones.", MaxUnitZones))
	}
	seen := make(map[ZoneID]bool, len(u.Zones))
	for i, zone := range u.Zones {
		at := fmt.Sprintf("%s.%d", field, i)
		if err := zone.check(at, at); err != nil {
			return err
		}
		if seen[zone] {
			return invalid(at, "A unit is placed in a zone once.")
		}
		seen[zone] = true
	}
	return nil
}

// checkText refuses texts that are no UTF-8, hold control characters, are blank where least is above zero, or
// are too long. Limits are in characters.
func checkText(field, text string, least, most int) *Error {
	switch n := utf8.RuneCountInString(text); {
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return invalid(field, "The text is not plain: it holds control characters or broken UTF-8.")
	case least > 0 && strings.TrimSpace(text) == "":
		return invalid(field, "The text is needed.")
	case n > most:
		return invalid(field, fmt.Sprintf("The text has %d characters; at most %d are taken.", n, most))
	}
	return nil
}

// checkURL takes absolute http and https addresses with a host and without a user's name or password.
func checkURL(field, text string) *Error {
	parsed, err := url.Parse(text)
	switch {
	case len(text) > MaxURL:
		return invalid(field, fmt.Sprintf("The address is longer than %d bytes.", MaxURL))
	case err != nil || !plainURL(text) || parsed.Opaque != "":
		return invalid(field, "This is not a web address.")
	case parsed.Scheme != "http" && parsed.Scheme != "https":
		return invalid(field, "The address must begin with http:// or https://.")
	case parsed.Hostname() == "" || parsed.User != nil:
		return invalid(field, "The address needs a host, and no user name.")
	}
	return nil
}

// plainURL says whether a text has only bytes that programs read alike in a web address (RFC 3986, section 2,
// and UTF-8): no white space, controls, quotes, angle brackets or backslashes.
func plainURL(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) || unicode.IsSpace(r) || strings.ContainsRune("\\\"<>^`{|}", r)
	})
}
