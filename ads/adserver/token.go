package adserver

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"

	"plaza/ads"
	"plaza/fault"
	"plaza/id"
)

// The versions of tokens. Pages that were made before an upgrade still contain older ones.
const (
	tokenVersion = 4
	// withoutConversion is the version whose tokens lack the attribution window and the price of
	// conversions.
	withoutConversion = 3
	// withoutLanding is the version whose tokens lack the landing page as well.
	withoutLanding = 2
	// sealedVersion begins the tokens in landing pages, which contain an encrypted payload.
	sealedVersion = 5
)

const (
	macSize = sha256.Size
	idSize  = len(id.ID{})
	// headSize is the size of the version, the kind, the flags, the expiry, the cost and five ids.
	// Three texts follow, each after its length in one byte, and then the landing page after its
	// length in two bytes. Tokens with a conversion end with the days in one byte, and the price.
	headSize       = 3 + 2*8 + 5*idSize
	conversionSize = 1 + 8
	// maxMatches limits the matched keywords in a token: 4 keywords of 50 characters of up to 4
	// bytes would exceed a length of one byte.
	maxMatches = 200
	maxPayload = headSize + 3 + 2*ads.MaxZoneName + maxMatches + 2 + 4*fault.MaxURLLen + conversionSize
)

// maxToken is the length of the longest token's text.
var maxToken = tokenText.EncodedLen(maxPayload + macSize)

// tokenText is base64url without padding (RFC 4648, section 5). It is strict, so that each token
// has only one text.
var tokenText = base64.RawURLEncoding.Strict()

// token lets a client have one impression or click counted.
type token struct {
	Kind      ads.Kind
	Flags     tokenFlags
	ExpiresAt time.Time  // whole seconds
	Cost      ads.Micros // of the recording that the token is good for
	Choice    ads.ChoiceID
	Unit      ads.UnitID
	Campaign  ads.CampaignID
	Lease     ads.LeaseID
	Profile   ads.ProfileID
	Zone      ads.ZoneID
	Matched   string // keywords, separated by commas
	// Landing is the page that a click leads to. The token contains it so that following a click
	// does not need the database. It is empty in impression tokens, and if the page itself contains
	// the token.
	Landing string
	// Days and ActionCost are for the click's conversion: how many days after the click it counts,
	// and what it costs.
	Days       int
	ActionCost ads.Micros
}

// signedKind returns the kind of token that recordings of this kind need.
func signedKind(k ads.Kind) ads.Kind {
	if k == ads.Conversion {
		return ads.Click
	}
	return k
}

// until returns when the token ceases to be valid for recordings of the kind.
func (t *token) until(k ads.Kind) time.Time {
	if k == ads.Conversion {
		return t.ExpiresAt.Add(ads.AttributionWindow(t.Days))
	}
	return t.ExpiresAt
}

// tokenFlags is a set of bits.
type tokenFlags byte

const (
	flagPreview tokenFlags = 1 << iota // counts nothing
	flagStaff                          // chosen for a person who manages ads
)

func (t *token) preview() bool { return t.Flags&flagPreview != 0 }

// sign encodes the token and its HMAC-SHA256 (RFC 2104) under the key, in base64url.
func (t *token) sign(key []byte) string {
	payload := t.payload()
	return tokenText.EncodeToString(append(payload, mac(key, payload)...))
}

// seal encodes the token, and encrypts it by AES-GCM under a key of its own. An advertiser sees it in
// the address of the landing page, and must not learn from it whose click it was. The same token
// always has the same text: the nonce is a hash of the payload, which is different for each choice.
func (t *token) seal(key []byte) string {
	payload, aead := t.payload(), sealer(key)
	nonce := mac(key, payload)[:aead.NonceSize()]
	return tokenText.EncodeToString(aead.Seal(append([]byte{sealedVersion}, nonce...), nonce, payload, nil))
}

func sealer(key []byte) cipher.AEAD {
	block, _ := aes.NewCipher(mac(key, []byte("landing pages"))) // can't fail: a hash has the length of a key
	aead, _ := cipher.NewGCM(block)
	return aead
}

// unseal decrypts what seal has written after the version.
func unseal(key, sealed []byte) (t token, ok bool) {
	aead := sealer(key)
	n := aead.NonceSize()
	if len(sealed) < n {
		return token{}, false
	}
	payload, err := aead.Open(nil, sealed[:n], sealed[n:], nil)
	if err != nil {
		return token{}, false
	}
	return parsePayload(payload)
}

// readToken decodes what sign or seal has written. For every other text ok is false: forged, edited,
// made with another key, or not a token. The caller must check whether the token has expired.
func readToken(key []byte, text string) (t token, ok bool) {
	if len(text) > maxToken {
		return token{}, false
	}
	raw, err := tokenText.DecodeString(text)
	// The decoder ignores line breaks, so the length must be compared.
	if err != nil || tokenText.EncodedLen(len(raw)) != len(text) || len(raw) < macSize {
		return token{}, false
	}
	if raw[0] == sealedVersion {
		return unseal(key, raw[1:])
	}
	payload, sum := raw[:len(raw)-macSize], raw[len(raw)-macSize:]
	if !hmac.Equal(sum, mac(key, payload)) { // in constant time
		return token{}, false
	}
	return parsePayload(payload)
}

func mac(key, payload []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(payload)
	return h.Sum(nil)
}

// version returns the oldest version that can express the whole token, so that servers of the
// previous version can read most tokens during an upgrade.
func (t *token) version() byte {
	if t.ActionCost == 0 && (t.Kind == ads.Impression || t.Days == ads.DefaultAttribution) {
		return withoutConversion
	}
	return tokenVersion
}

func (t *token) payload() []byte {
	p := make([]byte, 0, maxPayload+macSize)
	p = append(p, t.version(), kindByte(t.Kind), byte(t.Flags))
	p = binary.BigEndian.AppendUint64(p, uint64(t.ExpiresAt.Unix()))
	p = binary.BigEndian.AppendUint64(p, uint64(t.Cost))
	for _, each := range []id.ID{t.Choice.ID, t.Unit.ID, t.Campaign.ID, t.Lease.ID, t.Profile.ID} {
		p = append(p, each[:]...)
	}
	for _, text := range []string{t.Zone.Site, t.Zone.Name, t.Matched} {
		p = append(p, byte(len(text)))
		p = append(p, text...)
	}
	p = binary.BigEndian.AppendUint16(p, uint16(len(t.Landing)))
	p = append(p, t.Landing...)
	if t.version() == withoutConversion {
		return p
	}
	p = append(p, byte(t.Days))
	return binary.BigEndian.AppendUint64(p, uint64(t.ActionCost))
}

// parsePayload decodes what payload has written, and nothing else. It trusts no length.
func parsePayload(p []byte) (t token, ok bool) {
	if len(p) <= headSize || p[0] > tokenVersion || p[0] < withoutLanding {
		return token{}, false
	}
	numbers, ids := p[3:], p[3+2*8:]
	t = token{
		Kind: byteKind(p[1]), Flags: tokenFlags(p[2]),
		ExpiresAt: time.Unix(int64(binary.BigEndian.Uint64(numbers)), 0),
		Cost:      ads.Micros(binary.BigEndian.Uint64(numbers[8:])),
		Choice:    ads.ChoiceID{ID: id.ID(ids)},
		Unit:      ads.UnitID{ID: id.ID(ids[idSize:])},
		Campaign:  ads.CampaignID{ID: id.ID(ids[2*idSize:])},
		Lease:     ads.LeaseID{ID: id.ID(ids[3*idSize:])},
		Profile:   ads.ProfileID{ID: id.ID(ids[4*idSize:])},
	}
	rest := p[headSize:]
	for _, text := range []*string{&t.Zone.Site, &t.Zone.Name, &t.Matched} {
		if len(rest) == 0 || len(rest) < 1+int(rest[0]) {
			return token{}, false
		}
		*text, rest = string(rest[1:1+rest[0]]), rest[1+rest[0]:]
	}
	return t, t.readRest(p[0], rest) && t.Kind != "" && t.Zone.Check("", "") == nil
}

// readRest decodes what versions after withoutLanding have added.
func (t *token) readRest(version byte, rest []byte) (ok bool) {
	if version < tokenVersion {
		t.Days = ads.DefaultAttribution
	}
	if version == withoutLanding {
		return len(rest) == 0
	}
	if len(rest) < 2 || len(rest) < 2+int(binary.BigEndian.Uint16(rest)) {
		return false
	}
	rest, end := rest[2:], int(binary.BigEndian.Uint16(rest))
	t.Landing, rest = string(rest[:end]), rest[end:]
	if version == withoutConversion {
		return len(rest) == 0
	}
	if len(rest) != conversionSize {
		return false
	}
	t.Days, t.ActionCost = int(rest[0]), ads.Micros(binary.BigEndian.Uint64(rest[1:]))
	return true
}

func kindByte(k ads.Kind) byte {
	if k == ads.Click {
		return 'c'
	}
	return 'i'
}

func byteKind(b byte) ads.Kind {
	switch b {
	case 'i':
		return ads.Impression
	case 'c':
		return ads.Click
	default:
		return ""
	}
}

// page returns where a click leads, with its token in place of ClickMacro. The token needs no
// escaping: all characters of base64url are unreserved in addresses (RFC 3986, section 2.3).
func (t *token) page(key []byte, landing string) string {
	if !ads.HasClickMacro(landing) {
		return landing
	}
	short := *t
	short.Landing = "" // the token must not contain the page that contains it: it would grow with each click
	return ads.ReplaceClickMacro(landing, short.seal(key))
}
