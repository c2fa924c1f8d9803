package cli

import (
	"strings"
	"testing"
	"time"
)

// TestPublishHookSettings: what cannot work is refused with the flag's name, and without the secret.
func TestPublishHookSettings(t *testing.T) {
	t.Parallel()
	good := func() publishHookFlags {
		return publishHookFlags{URL: "https://site.example/hook", Secret: "0123456789abcdef", Timeout: 2 * time.Second}
	}
	for name, c := range map[string]struct {
		change func(*publishHookFlags)
		wrong  string // the flag that the error names; "": none
	}{
		"all that is needed": {func(*publishHookFlags) {}, ""},
		"nothing":            {func(f *publishHookFlags) { *f = publishHookFlags{} }, ""},
		"a secret alone":     {func(f *publishHookFlags) { f.URL = "" }, "--publish-hook-url"},
		"no secret":          {func(f *publishHookFlags) { f.Secret = "" }, "--publish-hook-secret"},
		"a short secret":     {func(f *publishHookFlags) { f.Secret = "0123456789abcde" }, "--publish-hook-secret"},
		"no address":         {func(f *publishHookFlags) { f.URL = "hook" }, "--publish-hook-url"},
		"another protocol":   {func(f *publishHookFlags) { f.URL = "ftp://site.example" }, "--publish-hook-url"},
		"a user name":        {func(f *publishHookFlags) { f.URL = "https://ada:0123456789abcdef@site.example" }, "--publish-hook-url"},
		"no time":            {func(f *publishHookFlags) { f.Timeout = 0 }, "--publish-hook-timeout"},
		"too much time":      {func(f *publishHookFlags) { f.Timeout = time.Minute }, "--publish-hook-timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := good()
			c.change(&f)
			err := f.check()
			if (err == nil) != (c.wrong == "") || err != nil && (!strings.Contains(err.Error(), c.wrong) || strings.Contains(err.Error(), "0123456789")) {
				t.Errorf("%v", err)
			}
		})
	}
}
