package fault_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"plaza/fault"
)

func TestErrorsSayWhereAndWhy(t *testing.T) {
	err := fault.NotFound("audience.circleIds", "circle")
	if got, want := err.Error(), "NOT_FOUND: audience.circleIds: There is no such circle."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := err.Path(); len(got) != 2 || got[1] != "circleIds" {
		t.Errorf("the path is %q", got)
	}
	err.Field, err.Cause = "", fault.ErrNotFound
	if err.Path() != nil || !errors.Is(err, fault.ErrNotFound) {
		t.Errorf("%v: the path is %q", err, err.Path())
	}
}

// TestRateLimitsSayWhen to try again, in whole seconds, and not too early.
func TestRateLimitsSayWhen(t *testing.T) {
	err := fault.RateLimited("sign-ups", 57*time.Second+time.Millisecond)
	if got, want := err.Error(), "RATE_LIMITED: Too many attempts: try again in 58 s."; got != want || err.RetrySeconds() != 58 {
		t.Errorf("%q and %d, want %q", got, err.RetrySeconds(), want)
	}
}

func TestIsRefusal(t *testing.T) {
	full := fault.Refusal("full")
	if !fault.IsRefusal(fmt.Errorf("add: %w", full)) || errors.Is(full, fault.Refusal("full")) {
		t.Error("a refusal is found in what wraps it, and is itself alone")
	}
	if fault.IsRefusal(fault.ErrUnavailable) || fault.IsRefusal(nil) {
		t.Error("what failed was not refused")
	}
}

func TestChecks(t *testing.T) {
	text := func(field, text string) error { return fault.CheckText(field, text, 2, 5) }
	line := func(field, text string) error { return fault.CheckLine(field, text, 0, 5) }
	for _, c := range []struct {
		check func(field, text string) error
		text  string
		code  fault.Code
	}{
		{text, "a\nb", ""},
		{text, "äöüßé", ""},
		{text, "a", fault.CodeInvalid},
		{text, "", fault.CodeBlank},
		{text, " \u00a0 ", fault.CodeBlank},
		{text, "\u200b\u202e\ufeff", fault.CodeBlank},
		{text, "\u3164\ufe0f", fault.CodeBlank},
		{text, "\u200ba", ""},
		{text, "❤\ufe0f", ""},
		{text, "123456", fault.CodeTooLong},
		{text, "a\x00b", fault.CodeInvalid},
		{text, "a\xff", fault.CodeInvalid},
		{line, "", ""},
		{line, "a b", ""},
		{line, "a\nb", fault.CodeInvalid},
		{line, "a\u2028b", fault.CodeInvalid},
		{fault.CheckURL, "https://bücher.example:8443/ü?ö=ä#x", ""},
		{fault.CheckURL, "", fault.CodeBlank},
		{fault.CheckURL, "https://a.example/" + strings.Repeat("x", fault.MaxURLLen), fault.CodeTooLong},
		{fault.CheckURL, "javascript:alert(1)", fault.CodeInvalid},
		{fault.CheckURL, "http:a.example", fault.CodeInvalid},
		{fault.CheckURL, "https://:443/", fault.CodeInvalid},
		{fault.CheckURL, "https://a@b.example/", fault.CodeInvalid},
		{fault.CheckURL, "https://a.example/a b", fault.CodeInvalid},
		{fault.CheckURL, "https://a.example:65535/\u0645\u06cc\u200c\u0634\u0648\u062f", ""},
		{fault.CheckURL, "https://[::1]:/", ""},
		{fault.CheckURL, "https://127.0.0.1/", ""},
		{fault.CheckURL, "https://1.example./", ""},
		{fault.CheckURL, "https://1.2.3.4.5/", fault.CodeInvalid},
		{fault.CheckURL, "https://a.0xF/", fault.CodeInvalid},
		{fault.CheckURL, "https://256.1.1.1./", fault.CodeInvalid},
		{fault.CheckURL, "https://a.example:65536/", fault.CodeInvalid},
		{fault.CheckURL, "https://a.example:99999999999999999999/", fault.CodeInvalid},
		{fault.CheckURL, "https://moc.\u202eelpmaxe/", fault.CodeInvalid},
		{fault.CheckURL, "https://moc.%E2%80%AEelpmaxe/", fault.CodeInvalid},
		{fault.CheckURL, "https://a.example/\u2067x", fault.CodeInvalid},
		{fault.CheckURL, "https://a\u200b.example/", fault.CodeInvalid},
		{fault.CheckURL, "https://a\u00a0.example/", fault.CodeInvalid},
	} {
		err := c.check("field", c.text)
		mistake, _ := errors.AsType[*fault.Error](err)
		if c.code == "" {
			if err != nil {
				t.Errorf("%q: %v", c.text, err)
			}
		} else if mistake == nil || mistake.Code != c.code || mistake.Field != "field" {
			t.Errorf("%q: %v, want %s", c.text, err, c.code)
		}
	}
}

func TestOneCharacterIsSingular(t *testing.T) {
	err := fault.CheckText("field", "a", 2, 5)
	if mistake, ok := errors.AsType[*fault.Error](err); !ok || mistake.Message != "This has 1 character; at least 2 are needed." {
		t.Error(err)
	}
}

func TestAllMistakesOfAnInput(t *testing.T) {
	broken := errors.New("the database is broken")
	name, again, text := fault.Invalidf("name", "first"), fault.Errorf(fault.CodeBlank, "name", "second"), fault.Invalidf("text", "third")
	for _, c := range []struct {
		found []error
		want  string
	}{
		{nil, ""},
		{[]error{nil, nil}, ""},
		{[]error{nil, name}, "INVALID: name: first"},
		{[]error{name, again}, "INVALID: name: first"},
		{[]error{again, nil, fault.All(name, text)}, "BLANK: name: second; INVALID: text: third"},
		{[]error{name, broken, text}, "the database is broken"},
	} {
		err := fault.All(c.found...)
		if got := fmt.Sprint(err); got != c.want && (err != nil || c.want != "") {
			t.Errorf("%v: got %v, want %s", c.found, err, c.want)
		}
	}
	if err := fault.All(name, text); !errors.Is(err, text) || len(fault.Mistakes(err)) != 2 {
		t.Errorf("%v has %v", err, fault.Mistakes(err))
	}
	if fault.Mistakes(broken) != nil {
		t.Error("a failure is no mistake")
	}
}

func TestRefusedAddressesSayWhy(t *testing.T) {
	for text, want := range map[string]string{
		"ftp://a.example/":        "begins with http",
		"https://":                "no host",
		"http://a.example/ b":     "must be escaped",
		"http://me:pw@a.example/": "user name",
	} {
		if err := fault.CheckURL("field", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
