package cli

import (
	"strings"
	"testing"
)

// TestJWTSettings: what cannot work, or would accept too much, is refused with the flag's name.
func TestJWTSettings(t *testing.T) {
	t.Parallel()
	good := func() jwtFlags {
		return jwtFlags{Issuer: "https://site.example", Audience: "plaza", Algorithms: []string{"ES256"}}
	}
	for what, c := range map[string]struct {
		change func(*jwtFlags)
		says   string // "": accepted
	}{
		"all that is needed":         {func(*jwtFlags) {}, ""},
		"keys elsewhere":             {func(f *jwtFlags) { f.Issuer, f.KeysURL = "my site", "http://keys.example/jwks?x=y" }, ""},
		"nothing":                    {func(f *jwtFlags) { *f = jwtFlags{} }, ""},
		"no audience":                {func(f *jwtFlags) { f.Audience = "" }, "--jwt-audience"},
		"an audience alone":          {func(f *jwtFlags) { f.Issuer = "" }, "--jwt-issuer"},
		"keys alone":                 {func(f *jwtFlags) { *f = jwtFlags{KeysURL: "https://keys.example"} }, "--jwt-issuer"},
		"an issuer without keys":     {func(f *jwtFlags) { f.Issuer = "my site" }, "--jwt-issuer"},
		"keys in a file":             {func(f *jwtFlags) { f.KeysURL = "file:///keys" }, "--jwt-keys-url"},
		"no algorithm":               {func(f *jwtFlags) { f.Algorithms = nil }, "--jwt-algorithms"},
		"no signature":               {func(f *jwtFlags) { f.Algorithms = []string{"ES256", "none"} }, "none"},
		"a signature with a secret":  {func(f *jwtFlags) { f.Algorithms = []string{"HS256"} }, "HS256"},
		"an algorithm in small case": {func(f *jwtFlags) { f.Algorithms = []string{"es256"} }, "es256"},
	} {
		f := good()
		c.change(&f)
		err := f.check()
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", what, err)
		}
		if options := f.options(); (options == nil) != (f.Issuer == "") {
			t.Errorf("%s: the options are %+v", what, options)
		}
	}
}
