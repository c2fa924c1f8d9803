package accounts

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"plaza/fault"
	"plaza/social"
)

// handlesFor returns the handles that the account of an identity may get, best first: the handle
// that the user has elsewhere, as far as it is valid here, and then the same with a number. None is
// reserved. The longer numbers are random, so the handles cannot all be taken before the user
// comes.
func handlesFor(called string, key [32]byte) []string {
	stem := handleStem(called)
	var handles []string
	add := func(handle string) {
		if checkReserved(handle) == nil {
			handles = append(handles, handle)
		}
	}
	if stem == "" {
		stem = "member"
	} else {
		add(stem)
	}
	const digits = 4
	stem = stem[:min(len(stem), social.MaxHandleLen-2*digits-1)]
	const short = 16 // bytes of short numbers
	numbers := key
	_, _ = rand.Read(numbers[short:]) // never fails: crypto/rand.Read
	for i := 0; i+4 <= len(numbers); i += 4 {
		number := binary.BigEndian.Uint32(numbers[i:])
		if i < short {
			add(fmt.Sprintf("%s_%0*d", stem, digits, number%10_000))
		} else {
			add(fmt.Sprintf("%s_%0*d", stem, 2*digits, number%100_000_000))
		}
	}
	return handles
}

// handleStem converts a text to a handle: it removes accents, and replaces characters that a handle
// can't contain by underscores. Of an e-mail address it keeps the part before the @.
func handleStem(text string) string {
	text, _, _ = strings.Cut(text, "@")
	var stem strings.Builder
	for _, r := range norm.NFKD.String(strings.ToLower(text)) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			stem.WriteRune(r)
		case unicode.Is(unicode.Mn, r):
		default:
			if s := stem.String(); s != "" && !strings.HasSuffix(s, "_") {
				stem.WriteByte('_')
			}
		}
		if stem.Len() == social.MaxHandleLen {
			break
		}
	}
	return strings.TrimRight(stem.String(), "_")
}

// nameFor returns the display name for a user with that name elsewhere, cut to social.MaxNameLen; the
// handle if there is no usable name.
func nameFor(called, handle string) string {
	name := strings.TrimSpace(called)
	if utf8.RuneCountInString(name) > social.MaxNameLen {
		name = strings.TrimSpace(string([]rune(name)[:social.MaxNameLen]))
	}
	if fault.CheckLine("name", name, 1, social.MaxNameLen) != nil {
		return handle
	}
	return name
}

// avatarFor returns the address of the picture that a user has elsewhere; "" if it is not valid
// here.
func avatarFor(url string) string {
	if fault.CheckURL("avatarUrl", url) != nil {
		return ""
	}
	return url
}
