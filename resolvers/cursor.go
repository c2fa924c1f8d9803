package resolvers

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"plaza/ads"
	"plaza/fault"
	"plaza/id"
	"plaza/social"
)

// cursorKind is the type of a cursor's key; it is the first byte of the cursor.
type cursorKind byte

const (
	cursorPost    cursorKind = 'p' // a post's id
	cursorEdge    cursorKind = 'e' // the id of a follow, membership, block or mute
	cursorName    cursorKind = 'n' // a user's NameOrder
	cursorProfile cursorKind = 's' // a social.ProfilePoint
	cursorCircle  cursorKind = 'c' // a circle's id
	cursorComment cursorKind = 'm' // a comment's id
	cursorTree    cursorKind = 't' // a comment's TreePath
	cursorNotice  cursorKind = 'o' // a notification's Order
	cursorAd      cursorKind = 'a' // the id of an advertiser, a campaign or an ad unit
	cursorAdZone  cursorKind = 'z' // a zone's site and name
)

// maxTreePath limits the length of accepted cursors, far above any useful depth limit.
const maxTreePath = 1_024 * id.TextLen

// cursors encodes the cursors of one list. A cursor is the type of its key, a tag that binds it to
// its list, and the key.
type cursors struct {
	kind cursorKind
	head string // the kind and the tag
}

// tagLen is short, because the tag only guards against mistakes: a forged cursor is a position, and
// reveals nothing that a page without it would not.
const tagLen = 6

// cursorsOf returns the cursors of the list that these words identify: its contents, owner, order
// and filter, but not the bounds of a page. Lists of the viewer's own include the viewer.
func cursorsOf(kind cursorKind, identity ...string) cursors {
	tag := sha256.Sum256(fmt.Appendf(nil, "%q", identity))
	return cursors{kind, string(append([]byte{byte(kind)}, tag[:tagLen]...))}
}

func (c cursors) encode(key social.Key) string {
	return base64.RawURLEncoding.EncodeToString([]byte(c.head + string(key)))
}

// decode parses a cursor argument. Error: INVALID, also for a cursor of another list.
func (c cursors) decode(argument string, cursor *string) (social.Key, error) {
	if cursor == nil {
		return "", nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(*cursor)
	key, bound := strings.CutPrefix(string(raw), c.head)
	if err != nil || !bound || !c.kind.fits([]byte(key)) || c.encode(social.Key(key)) != *cursor {
		return "", fault.Invalidf(argument, "This is not a cursor of this list.")
	}
	return social.Key(key), nil
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
