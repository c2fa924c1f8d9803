package ads

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"

	"plaza/id"
)

// TokenLife is how long a token is good for.
const TokenLife = 24 * time.Hour

const (
	tokenVersion = 1
	macSize      = sha256.Size
	idSize       = len(id.ID{})
	// headSize is that of the version, the kind, the expiry, the choice and the unit; a site's length and name and a zone's
	// name follow.
	headSize   = 1 + 1 + 8 + 2*idSize
	maxPayload = headSize + 1 + 2*MaxZoneName
)

// maxToken is the length of the longest token's text.
var maxToken = tokenText.EncodedLen(maxPayload + macSize)

// tokenText is base64url without padding (RFC 4648, section 5). Strict: no two texts stand for one token.
var tokenText = base64.RawURLEncoding.Strict()

// token is what a client holds to have one impression or click counted.
type token struct {
	Kind      Kind
	ExpiresAt time.Time // whole seconds
	Choice    ChoiceID
	Unit      UnitID
	Zone      ZoneID
}

// sign writes the token and its HMAC-SHA256 (RFC 2104) under the key, in base64url.
func (t *token) sign(key []byte) string {
	payload := t.payload()
	return tokenText.EncodeToString(append(payload, mac(key, payload)...))
}

// readToken reads what sign wrote. Every other text is not ok: forged, edited, of another key, or no token at all. Whether the
// token has expired is the caller's to ask.
func readToken(key []byte, text string) (t token, ok bool) {
	if len(text) > maxToken {
		return token{}, false
	}
	raw, err := tokenText.DecodeString(text)
	// The decoder skips line breaks.
	if err != nil || tokenText.EncodedLen(len(raw)) != len(text) || len(raw) < macSize {
		return token{}, false
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

func (t *token) payload() []byte {
	p := make([]byte, 0, maxPayload+macSize)
	p = append(p, tokenVersion, kindByte(t.Kind))
	p = binary.BigEndian.AppendUint64(p, uint64(t.ExpiresAt.Unix()))
	p = append(p, t.Choice.Bytes()...)
	p = append(p, t.Unit.Bytes()...)
	p = append(p, byte(len(t.Zone.Site)))
	p = append(p, t.Zone.Site...)
	return append(p, t.Zone.Name...)
}

// parsePayload reads what payload wrote, and nothing else: no length is trusted.
func parsePayload(p []byte) (t token, ok bool) {
	if len(p) <= headSize || p[0] != tokenVersion {
		return token{}, false
	}
	head, site, names := p[2:headSize], int(p[headSize]), p[headSize+1:]
	if len(names) < site {
		return token{}, false
	}
	t = token{
		Kind:      byteKind(p[1]),
		ExpiresAt: time.Unix(int64(binary.BigEndian.Uint64(head)), 0),
		Choice:    ChoiceID{id.ID(head[8:])},
		Unit:      UnitID{id.ID(head[8+idSize:])},
		Zone:      ZoneID{Site: string(names[:site]), Name: string(names[site:])},
	}
	return t, t.Kind != "" && t.Zone.check("", "") == nil
}

func kindByte(k Kind) byte {
	if k == Click {
		return 'c'
	}
	return 'i'
}

func byteKind(b byte) Kind {
	switch b {
	case 'i':
		return Impression
	case 'c':
		return Click
	default:
		return ""
	}
}
