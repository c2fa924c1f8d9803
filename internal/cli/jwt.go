package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"

	"plaza/issuer"
)

// jwtFlags say which tokens of another site a server accepts.
type jwtFlags struct {
	Issuer      string   `help:"Accept the JSON Web Tokens that this site issues to its users (the claim iss). A user's first token creates an account. Default: none." env:"PLAZA_JWT_ISSUER" placeholder:"URL"`
	Audience    string   `help:"Required with --jwt-issuer: accept only tokens whose claim aud contains this name." env:"PLAZA_JWT_AUDIENCE" placeholder:"NAME"`
	KeysURL     string   `help:"Where the issuer publishes its keys (JWKS); default: the address in ISSUER/.well-known/openid-configuration." env:"PLAZA_JWT_KEYS_URL" name:"keys-url" placeholder:"URL"`
	Algorithms  []string `help:"Accepted signature algorithms, out of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512 and EdDSA." env:"PLAZA_JWT_ALGORITHMS" default:"RS256,PS256,ES256,EdDSA" placeholder:"NAME"`
	HandleClaim string   `help:"The claim that suggests a new user's handle." env:"PLAZA_JWT_HANDLE_CLAIM" name:"handle-claim" default:"preferred_username" placeholder:"CLAIM"`
	NameClaim   string   `help:"The claim that contains a new user's name." env:"PLAZA_JWT_NAME_CLAIM" name:"name-claim" default:"name" placeholder:"CLAIM"`
	AvatarClaim string   `help:"The claim that contains the address of a new user's picture." env:"PLAZA_JWT_AVATAR_CLAIM" name:"avatar-claim" default:"picture" placeholder:"CLAIM"`
}

// check rejects settings that cannot work, or would accept tokens that are not for Plaza.
func (f *jwtFlags) check() error {
	if f.Issuer == "" {
		if f.Audience != "" || f.KeysURL != "" {
			return errors.New("--jwt-audience and --jwt-keys-url require --jwt-issuer: without it, tokens of other sites are not accepted")
		}
		return nil
	}
	var errs []error
	if f.Audience == "" {
		errs = append(errs, errors.New("--jwt-issuer (PLAZA_JWT_ISSUER) needs --jwt-audience (PLAZA_JWT_AUDIENCE): otherwise tokens that the site has issued for other services would be accepted"))
	}
	if f.KeysURL == "" {
		errs = append(errs, checkKeysURL("--jwt-issuer (without --jwt-keys-url)", f.Issuer))
	} else {
		errs = append(errs, checkKeysURL("--jwt-keys-url", f.KeysURL))
	}
	if len(f.Algorithms) == 0 {
		errs = append(errs, errors.New("--jwt-algorithms must name at least one algorithm"))
	}
	for _, algorithm := range f.Algorithms {
		if !slices.Contains(issuer.Algorithms, algorithm) {
			errs = append(errs, fmt.Errorf("--jwt-algorithms: %q is not one of %s", algorithm, strings.Join(issuer.Algorithms, ", ")))
		}
	}
	return errors.Join(errs...)
}

// options returns the settings for the server; nil if tokens of other sites are not accepted.
func (f *jwtFlags) options() *issuer.Options {
	if f.Issuer == "" {
		return nil
	}
	return &issuer.Options{
		Issuer: f.Issuer, Audience: f.Audience, KeysURL: f.KeysURL, Algorithms: f.Algorithms,
		Claims: issuer.ClaimNames{Handle: f.HandleClaim, Name: f.NameClaim, Avatar: f.AvatarClaim},
	}
}

// checkKeysURL refuses an address that keys can't be read from.
func checkKeysURL(flag, text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("%s must look like https://site.example: %q does not", flag, text)
	}
	return nil
}

// warn logs a warning if keys are read from another machine without encryption: an attacker who can
// change them in transit can sign in as any user.
func (f *jwtFlags) warn(ctx context.Context) {
	from := f.KeysURL
	if from == "" {
		from = f.Issuer
	}
	if u, err := url.Parse(from); err == nil && u.Scheme == "http" && !issuer.IsLoopback(u) {
		slog.WarnContext(ctx, "the issuer's keys are read without TLS: use this only in a network that you trust", "from", u.Host)
	}
}
