package resolvers

import (
	"encoding/base64"

	"plaza/ads"
	"plaza/fault"
	"plaza/id"
	"plaza/social"
)

// cursorKind says what a cursor's key is; it is the first byte of the cursor, so that a cursor of one kind of list is
// refused by another.
type cursorKind byte

const (
	cursorPost    cursorKind = 'p' // a post's id
	cursorEdge    cursorKind = 'e' // the id of a follow, block or mute
	cursorName    cursorKind = 'n' // a user's NameOrder
	cursorProfile cursorKind = 's' // a social.ProfilePoint
	cursorMember  cursorKind = 'u' // a user's id
	cursorCircle  cursorKind = 'c' // a circle's id
	cursorComment cursorKind = 'm' // a comment's id
	cursorTree    cursorKind = 't' // a comment's TreePath
	cursorAd      cursorKind = 'a' // the id of an advertiser, a campaign or an ad unit
	cursorAdZone  cursorKind = 'z' // a zone's site and name
)

// maxTreePath bounds the cursors that are looked at: far above any depth limit that is of use.
const maxTreePath = 1_024 * id.TextLen

func (k cursorKind) encode(key social.Key) string {
	return base64.RawURLEncoding.EncodeToString(append([]byte{byte(k)}, key...))
}

// decode reads a cursor that was given as an argument. Error: INVALID.
func (k cursorKind) decode(argument string, cursor *string) (social.Key, error) {
	if cursor == nil {
		return "", nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(*cursor)
	if err != nil || len(raw) == 0 || !k.fits(raw[1:]) || k.encode(social.Key(raw[1:])) != *cursor {
		return "", fault.Invalidf(argument, "This is not a cursor of this list.")
	}
	return social.Key(raw[1:]), nil
}

func (k cursorKind) fits(key []byte) bool {
	switch k {
	case cursorProfile:
		_, ok := social.ParseProfilePoint(social.Key(key))
		return ok
	case cursorName:
		return social.IsNameOrder(social.Key(key))
	case cursorTree:
		return fitsTree(key)
	case cursorAdZone:
		_, err := ads.ParseZoneID(string(key))
		return err == nil
	default:
		_, err := id.FromBytes(key)
		return err == nil
	}
}

func fitsTree(key []byte) bool {
	if len(key) == 0 || len(key)%id.TextLen != 0 || len(key) > maxTreePath {
		return false
	}
	for ; len(key) > 0; key = key[id.TextLen:] {
		if _, err := id.ParseText(string(key[:id.TextLen])); err != nil {
			return false
		}
	}
	return true
}
