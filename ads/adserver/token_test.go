package adserver

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"plaza/ads"
	"plaza/fault"
	"plaza/id"
)

var (
	testKey  = bytes.Repeat([]byte{7}, keySize)
	otherKey = bytes.Repeat([]byte{8}, keySize)
)

func sampleToken() token {
	return token{
		Kind: ads.Click, Flags: flagStaff, ExpiresAt: time.Unix(1_795_000_000, 0), Cost: 1_234, Choice: ads.ChoiceID{ID: id.New()}, Unit: ads.UnitID{ID: id.New()},
		Campaign: ads.CampaignID{ID: id.New()}, Lease: ads.LeaseID{ID: id.New()}, Profile: ads.ProfileID{ID: id.New()},
		Zone: ads.ZoneID{Site: "example.org", Name: "side-bar_1"}, Matched: "anvil,heavy load", Landing: "https://acme.example/anvils",
		Days: 30, ActionCost: 5_678,
	}
}

func TestTokensRoundTrip(t *testing.T) {
	longest := sampleToken()
	longest.Kind = ads.Impression
	longest.Zone = ads.ZoneID{Site: strings.Repeat("s", ads.MaxZoneName), Name: strings.Repeat("z", ads.MaxZoneName)}
	longest.Matched = strings.Repeat("k", maxMatches)
	longest.Landing = strings.Repeat("l", 4*fault.MaxURLLen)
	shortest := sampleToken()
	shortest.Zone = ads.ZoneID{Site: "s", Name: "z"}
	for _, want := range []token{sampleToken(), longest, shortest} {
		for _, text := range []string{want.sign(testKey), want.seal(testKey)} {
			if got, ok := readToken(testKey, text); !ok || got != want {
				t.Errorf("%q reads as %+v, %v; want %+v", text, got, ok, want)
			}
			if strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
				t.Errorf("%q is not made for addresses", text)
			}
		}
	}
	if n := len(longest.sign(testKey)); n != maxToken {
		t.Errorf("the longest token has %d characters, want %d", n, maxToken)
	}
}

// TestSealedTokensRevealNothing: two tokens of one person have nothing in common that tells so. The
// same token is always the same text.
func TestSealedTokensRevealNothing(t *testing.T) {
	one, two := sampleToken(), sampleToken()
	two.Profile = one.Profile
	var raw [2][]byte
	for i, sealed := range []token{one, two} {
		text := sealed.seal(testKey)
		if text != sealed.seal(testKey) {
			t.Error("a token has two texts")
		}
		var err error
		if raw[i], err = tokenText.DecodeString(text); err != nil {
			t.Fatal(err)
		}
	}
	const few = 6
	for i := range len(raw[0]) - few {
		if part := raw[0][i : i+few]; bytes.Contains(raw[1], part) {
			t.Errorf("both tokens contain %x", part)
		}
	}
	for _, secret := range [][]byte{one.Profile.Bytes(), one.Campaign.Bytes(), []byte(one.Matched)} {
		if bytes.Contains(raw[0], secret) {
			t.Errorf("the token contains %q", secret)
		}
	}
}

// TestTokensFromBeforeAnUpgradeAreAccepted: older tokens lack the attribution window, and even
// older ones the landing page.
func TestTokensFromBeforeAnUpgradeAreAccepted(t *testing.T) {
	want := sampleToken()
	want.Days, want.ActionCost = ads.DefaultAttribution, 0
	payload := want.payload()
	impression := token{Kind: ads.Impression}
	for _, written := range [][]byte{payload, impression.payload()} {
		if written[0] != withoutConversion {
			t.Errorf("a token that says nothing new has version %d: servers of the previous version refuse it", written[0])
		}
	}
	for version, end := range map[byte]int{withoutConversion: len(payload), withoutLanding: len(payload) - 2 - len(want.Landing)} {
		old := append([]byte{version}, payload[1:end]...)
		if version == withoutLanding {
			want.Landing = ""
		} else {
			want.Landing = sampleToken().Landing
		}
		text := tokenText.EncodeToString(append(old, mac(testKey, old)...))
		if got, ok := readToken(testKey, text); !ok || got != want {
			t.Errorf("version %d reads as %+v, %v; want %+v", version, got, ok, want)
		}
	}
}

func TestInvalidTokensAreRefused(t *testing.T) {
	sample := sampleToken()
	for name, write := range map[string]func(*token, []byte) string{"signed": (*token).sign, "sealed": (*token).seal} {
		t.Run(name, func(t *testing.T) { invalidTokensAreRefused(t, write(&sample, testKey), write(&sample, otherKey)) })
	}
}

func invalidTokensAreRefused(t *testing.T, good, ofOtherKey string) {
	t.Helper()
	raw, err := tokenText.DecodeString(good)
	if err != nil {
		t.Fatal(err)
	}
	bad := map[string]string{
		"empty":            "",
		"another key":      ofOtherKey,
		"no signature":     tokenText.EncodeToString(raw[:len(raw)-macSize]),
		"short signature":  tokenText.EncodeToString(raw[:len(raw)-1]),
		"only a signature": tokenText.EncodeToString(mac(testKey, nil)),
		"longer":           tokenText.EncodeToString(append(bytes.Clone(raw), 0)),
		"a line break":     good[:10] + "\n" + good[10:],
		"a carriage":       good + "\r",
		"padding":          good + "=",
		"too long":         strings.Repeat("A", maxToken+1),
		"a megabyte":       strings.Repeat("A", 1<<20),
		"NUL":              good[:5] + "\x00" + good[6:],
		"broken UTF-8":     good[:5] + "\xff" + good[6:],
	}
	for i := range good {
		for _, c := range "AZaz09-_" {
			if edited := good[:i] + string(c) + good[i+1:]; edited != good {
				bad["edited at "+string(c)+" "+edited] = edited
			}
		}
	}
	for name, text := range bad {
		if got, ok := readToken(testKey, text); ok {
			t.Errorf("%s: %q was taken for %+v", name, text, got)
		}
	}
}

// TestSignedPayloadIsStillChecked signs payloads that this version of the server never writes.
func TestSignedPayloadIsStillChecked(t *testing.T) {
	good := sampleToken()
	payload := good.payload()
	change := func(at int, to byte) []byte {
		changed := bytes.Clone(payload)
		changed[at] = to
		return changed
	}
	for name, bad := range map[string][]byte{
		"empty":                   {},
		"only a head":             payload[:headSize],
		"longer than it says":     append(bytes.Clone(payload), 'x'),
		"another version":         change(0, tokenVersion+1),
		"another kind":            change(1, 'x'),
		"a site beyond the end":   change(headSize, 200),
		"no site":                 change(headSize, 0),
		"no zone":                 change(headSize, byte(len(payload)-headSize-1)),
		"a name that no zone has": change(headSize+1, '/'),
	} {
		text := tokenText.EncodeToString(append(bytes.Clone(bad), mac(testKey, bad)...))
		if got, ok := readToken(testKey, text); ok {
			t.Errorf("%s: taken for %+v", name, got)
		}
	}
}

func FuzzReadToken(f *testing.F) {
	sample := sampleToken()
	f.Add(sample.sign(testKey))
	f.Add(sample.sign(otherKey))
	f.Add("")
	f.Add("AA==")
	f.Fuzz(func(t *testing.T, text string) {
		if got, ok := readToken(testKey, text); ok && got.sign(testKey) != text {
			t.Errorf("%q was read, but is written %q", text, got.sign(testKey))
		}
	})
}

// FuzzParsePayload fuzzes what the signature protects, which a fuzzer of whole tokens never
// reaches.
func FuzzParsePayload(f *testing.F) {
	sample := sampleToken()
	f.Add(sample.payload())
	f.Add(sample.payload()[:headSize+1])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, payload []byte) {
		got, ok := parsePayload(payload)
		if ok && payload[0] == got.version() && !bytes.Equal(got.payload(), payload) {
			t.Errorf("%x was read, but is written %x", payload, got.payload())
		}
	})
}
