package issuer

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"plaza/fault"
	"plaza/social"
)

const (
	// maxToken limits a token, in bytes.
	maxToken = 8 << 10
	// lastMoment is the last second of the year 9999: later times are implausible.
	lastMoment = 253_402_300_799
)

// errRefused is the refusal of all tokens, whatever is wrong with them.
var errRefused = fault.Errorf(fault.CodeUnauthenticated, "", "The token is not valid: sign in again.")

// Algorithms are the signature algorithms that can be allowed. All are asymmetric.
var Algorithms = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}

// ClaimNames are the names of the claims that describe a user.
type ClaimNames struct{ Handle, Name, Avatar string }

// Options configure a Verifier. Issuer, Audience, Algorithms and Logger are required.
type Options struct {
	Issuer     string   // the claim iss
	Audience   string   // must be in the claim aud
	KeysURL    string   // of the JWKS; "": the one in the issuer's openid-configuration
	Algorithms []string // some of Algorithms
	Claims     ClaimNames
	Now        func() time.Time // default: time.Now
	Logger     *slog.Logger
}

// Verifier verifies the tokens of one issuer. It is safe for concurrent use.
type Verifier struct {
	options    Options
	algorithms []jose.SignatureAlgorithm
	keys       *keys
}

// New creates a verifier. It does not read the issuer's keys yet.
func New(o Options) *Verifier {
	if o.Now == nil {
		o.Now = time.Now
	}
	v := &Verifier{options: o, keys: &keys{
		issuer: o.Issuer, url: o.KeysURL, client: newClient(), now: o.Now, logger: o.Logger,
	}}
	for _, algorithm := range o.Algorithms {
		v.algorithms = append(v.algorithms, jose.SignatureAlgorithm(algorithm))
	}
	return v
}

// LooksIssued reports whether a bearer token may be a JWT. Plaza's own tokens contain no dots.
func (*Verifier) LooksIssued(token string) bool { return strings.Contains(token, ".") }

// Verify returns what a token says. ExpiresAt includes social.ClockLeeway. Errors: UNAUTHENTICATED, the same
// for all tokens that are refused; social.ErrIssuerUnavailable.
func (v *Verifier) Verify(ctx context.Context, token string) (social.Assertion, error) {
	a, err := v.verify(ctx, token, nil)
	if reason, ok := errors.AsType[refusal](err); ok {
		v.options.Logger.DebugContext(ctx, "a token of the issuer was refused", "issuer", v.options.Issuer, "reason", string(reason))
		return social.Assertion{}, errRefused
	}
	return a, err
}

// refusal is the reason why a token is refused, for the operators' log. It contains no part of
// the token.
type refusal string

func (r refusal) Error() string { return string(r) }

// Refusals of tokens that are not meant for a verifier. They are apart, because a wrong setting of
// the issuer or of the audience is the usual reason why no token is accepted at first.
const (
	errOtherIssuer   = refusal("of another issuer (claim iss)")
	errOtherAudience = refusal("for another audience (claim aud)")
)

// extraCheck refuses some of the tokens that are for this server and for now.
type extraCheck func(jose.Header, *claims) error

// verify returns what a token says that passes an extra check (nil: none).
func (v *Verifier) verify(ctx context.Context, token string, extra extraCheck) (social.Assertion, error) {
	if len(token) > maxToken {
		return social.Assertion{}, refusal("too long")
	}
	parsed, err := jwt.ParseSigned(token, v.algorithms)
	if err != nil || len(parsed.Headers) != 1 {
		return social.Assertion{}, refusal("malformed, or signed with an algorithm that is not allowed")
	}
	// The claims are checked before the signature, which costs more, and may need keys that have
	// not been read yet. They are not used before the signature is verified.
	var unverified claims
	if err := unverified.read(parsed.UnsafeClaimsWithoutVerification); err != nil {
		return social.Assertion{}, refusal("malformed claims")
	}
	if err := v.check(&unverified); err != nil {
		return social.Assertion{}, err
	}
	header := parsed.Headers[0]
	if extra != nil {
		if err := extra(header, &unverified); err != nil {
			return social.Assertion{}, err
		}
	}
	candidates, err := v.keys.find(ctx, header.KeyID, header.Algorithm)
	if err != nil {
		return social.Assertion{}, err
	}
	for i := range candidates {
		var verified claims
		err := verified.read(func(into ...any) error { return parsed.Claims(candidates[i].Key, into...) })
		if err == nil {
			return v.assertion(&verified)
		}
	}
	if len(candidates) == 0 {
		return social.Assertion{}, refusal("signed with an unknown key")
	}
	return social.Assertion{}, refusal("wrong signature")
}

// claims are the claims of a token.
type claims struct {
	jwt.Claims

	all map[string]any
}

// read decodes the claims with the given function of a token. Claim names are case-sensitive, and a
// duplicate name is refused.
func (c *claims) read(by func(into ...any) error) error { return by(&c.Claims, &c.all) }

// check refuses a token that is for another server, or not valid now.
func (v *Verifier) check(c *claims) error {
	o := &v.options
	err := c.ValidateWithLeeway(jwt.Expected{Issuer: o.Issuer, AnyAudience: jwt.Audience{o.Audience}, Time: o.Now()}, social.ClockLeeway)
	switch {
	case errors.Is(err, jwt.ErrInvalidIssuer):
		return errOtherIssuer
	case errors.Is(err, jwt.ErrInvalidAudience):
		return errOtherAudience
	case errors.Is(err, jwt.ErrExpired):
		return refusal("expired")
	case err != nil:
		return refusal("not valid yet")
	case !isPlausible(c.Expiry) || c.Expiry == nil:
		return refusal("without an expiry time")
	case !isPlausible(c.IssuedAt) || !isPlausible(c.NotBefore):
		return refusal("with an implausible time")
	case fault.CheckLine("sub", c.Subject, 1, social.MaxSubjectLen) != nil:
		return refusal("without a subject, or with one that is too long or contains control characters")
	case strings.ContainsRune(c.Subject, utf8.RuneError):
		// The decoder puts this character in place of each malformed one, so that different
		// subjects become equal.
		return refusal("with a subject that is malformed Unicode")
	}
	return nil
}

func isPlausible(n *jwt.NumericDate) bool { return n == nil || *n > 0 && *n <= lastMoment }

// assertion converts the claims of a verified token.
func (v *Verifier) assertion(c *claims) (social.Assertion, error) {
	a := social.Assertion{Issuer: c.Issuer, Subject: c.Subject, IssuedAt: c.IssuedAt.Time(), ExpiresAt: c.Expiry.Time().Add(social.ClockLeeway)}
	for _, claim := range []struct {
		name string
		to   *string
	}{
		{v.options.Claims.Handle, &a.Handle},
		{v.options.Claims.Name, &a.Name},
		{v.options.Claims.Avatar, &a.AvatarURL},
		{"nonce", &a.Nonce},
	} {
		var err error
		if *claim.to, err = c.text(claim.name); err != nil {
			return social.Assertion{}, err
		}
	}
	return a, nil
}

// text returns a claim that is a line of text; "" if there is none.
func (c *claims) text(name string) (string, error) {
	value, ok := c.all[name]
	if !ok || value == nil {
		return "", nil
	}
	text, ok := value.(string)
	if !ok || fault.CheckLine(name, text, 0, maxToken) != nil {
		return "", refusal("with a claim that is not a line of text")
	}
	return text, nil
}
