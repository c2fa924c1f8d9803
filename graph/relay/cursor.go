package relay

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"plaza/ads"
	"plaza/fault"
	"plaza/id"
	"plaza/paging"
	"plaza/social"
)

// Kind is the type of a cursor's key; it is the first byte of the cursor.
type Kind byte

// What the keys of lists are.
const (
	KindPost         Kind = 'p' // a post's id
	KindEdge         Kind = 'e' // the id of a follow, membership, block or mute
	KindName         Kind = 'n' // a user's NameOrder
	KindProfile      Kind = 's' // a social.ProfilePoint
	KindCircle       Kind = 'c' // a circle's id
	KindComment      Kind = 'm' // a comment's id
	KindTree         Kind = 't' // a comment's TreePath
	KindNotification Kind = 'o' // a notification's Order
	KindCase         Kind = 'r' // a case's Order
	KindDecision     Kind = 'd' // a decision's id
	KindAd           Kind = 'a' // the id of an advertiser, a campaign or an ad unit
	KindAdZone       Kind = 'z' // a zone's site and name
	KindExport       Kind = 'x' // a position in an export, which the reader checks
)

// maxTreePath limits the length of accepted cursors, far above any useful depth limit.
const maxTreePath = 1_024 * id.TextLen

// Cursors encodes the cursors of one list. A cursor is the type of its key, a tag that binds it to
// its list, and the key. The zero value belongs to no list.
type Cursors struct {
	kind Kind
	head string // the kind and the tag
}

// tagLen is short, because the tag only guards against mistakes: a forged cursor is a position, and
// reveals nothing that a page without it would not.
const tagLen = 6

// CursorsOf returns the cursors of the list that these words identify: its contents, owner, order
// and filter, but not the bounds of a page. Lists of the viewer's own include the viewer.
func CursorsOf(kind Kind, identity ...string) Cursors {
	tag := sha256.Sum256(fmt.Appendf(nil, "%q", identity))
	return Cursors{kind, string(append([]byte{byte(kind)}, tag[:tagLen]...))}
}

// Encode returns the cursor of an entry.
func (c Cursors) Encode(key paging.Key) string {
	return base64.RawURLEncoding.EncodeToString([]byte(c.head + string(key)))
}

// Decode parses a cursor argument. Error: INVALID, also for a cursor of another list.
func (c Cursors) Decode(argument string, cursor *string) (paging.Key, error) {
	if cursor == nil {
		return "", nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(*cursor)
	key, bound := strings.CutPrefix(string(raw), c.head)
	if err != nil || !bound || !c.kind.fits([]byte(key)) || c.Encode(paging.Key(key)) != *cursor {
		return "", fault.Invalidf(argument, "This is not a cursor of this list.")
	}
	return paging.Key(key), nil
}

// origin returns the key before all entries of a list in the order of their commits: whatever a
// list gets comes after it, so a client that has read an empty list can continue from there. "":
// the list has another order.
func (k Kind) origin() paging.Key {
	switch k {
	case KindPost, KindComment, KindNotification:
		return paging.Key(id.ID{}.Bytes())
	case KindTree:
		return paging.Key(id.ID{}.String())
	default:
		return ""
	}
}

func (k Kind) fits(key []byte) bool {
	switch k {
	case KindProfile:
		_, ok := social.ParseProfilePoint(paging.Key(key))
		return ok
	case KindName:
		return social.IsNameOrder(paging.Key(key))
	case KindTree:
		return fitsTree(key)
	case KindExport:
		return len(key) > 0
	case KindAdZone:
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
