package issuer

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"plaza/fault"
	"plaza/social"
)

const (
	// maxIDTokenAge is how old an ID token may be that signs someone in: front ends use it as soon as
	// they have it.
	maxIDTokenAge = 10 * time.Minute
	// The length of the secret of a sign-in, in characters.
	minSecret = 32
	maxSecret = 255
)

// errNoProvider refuses ID tokens where no provider is configured.
var errNoProvider = fault.Errorf(fault.CodeNotAllowed, "", "No provider signs people in here: sign in with your handle and password.")

// Provider is an OpenID provider whose users can sign in.
type Provider struct {
	Issuer   string
	ClientID string // of the front end
	// CreatesAccounts lets the first sign-in of a user create an account where registration is closed.
	CreatesAccounts bool
}

// Providers verify the ID tokens of OpenID providers. It is safe for concurrent use.
type Providers struct {
	verifiers []*Verifier
	creates   []bool // by the same index
}

// NewProviders creates verifiers for providers. Of the options it uses Algorithms, Claims, Now and
// Logger.
func NewProviders(providers []Provider, o Options) *Providers {
	p := &Providers{}
	for _, each := range providers {
		o.Issuer, o.Audience, o.KeysURL = each.Issuer, each.ClientID, ""
		p.verifiers = append(p.verifiers, New(o))
		p.creates = append(p.creates, each.CreatesAccounts)
	}
	return p
}

// Verify returns what an ID token says (OpenID Connect Core 1.0, section 3.1.3.7), if it was issued
// for a client of this site, in the last ten minutes, for a sign-in that began with a secret: its
// nonce is base64url(SHA-256(secret)), without padding. Errors: BAD_CREDENTIALS, the same for all
// tokens that are refused; NOT_ALLOWED: there is no provider; INVALID, BLANK, TOO_LONG: the secret;
// social.ErrIssuerUnavailable.
func (p *Providers) Verify(ctx context.Context, token, secret string) (social.Assertion, error) {
	if len(p.verifiers) == 0 {
		return social.Assertion{}, errNoProvider
	}
	if err := fault.CheckText("nonce", secret, minSecret, maxSecret); err != nil {
		return social.Assertion{}, err
	}
	reason := errOtherIssuer
	for i, v := range p.verifiers {
		a, err := v.verify(ctx, token, v.idToken(secret))
		if err == nil {
			a.CreatesAccount = p.creates[i]
			return a, nil
		}
		if refused, ok := errors.AsType[refusal](err); !ok {
			return social.Assertion{}, err
		} else if refused != errOtherIssuer && (refused != errOtherAudience || reason == errOtherIssuer) {
			reason = refused // of the provider and client for which the token is
		}
	}
	p.verifiers[0].options.Logger.DebugContext(ctx, "an ID token was refused", "reason", string(reason))
	return social.Assertion{}, social.ErrBadIDToken
}

// idToken checks what an ID token must say besides what every token says.
func (v *Verifier) idToken(secret string) extraCheck {
	return func(header jose.Header, c *claims) error {
		switch party, err := c.text("azp"); {
		case err != nil:
			return err
		case !isJWT(header.ExtraHeaders[jose.HeaderType]):
			return refusal("of another type")
		case party == "" && len(c.Audience) > 1:
			return refusal("for several audiences, without saying which one is the client")
		case party != "" && party != v.options.Audience:
			return refusal("issued to another client")
		case c.IssuedAt == nil || v.options.Now().Sub(c.IssuedAt.Time()) > maxIDTokenAge:
			return refusal("issued too long ago")
		}
		nonce, err := c.text("nonce")
		if err != nil {
			return err
		}
		if subtle.ConstantTimeCompare([]byte(nonce), []byte(NonceOf(secret))) == 0 {
			return refusal("of another sign-in")
		}
		return nil
	}
}

// isJWT reports whether a header's type is that of an ID token: it may be missing, but is never that
// of another kind of token, such as at+jwt (RFC 8725, section 3.11).
func isJWT(kind any) bool {
	text, ok := kind.(string)
	return kind == nil || ok && strings.EqualFold(text, "JWT")
}

// NonceOf is the nonce for a sign-in that begins with a secret.
func NonceOf(secret string) string {
	hash := sha256.Sum256([]byte(secret))
	return base64.RawURLEncoding.EncodeToString(hash[:])
}
