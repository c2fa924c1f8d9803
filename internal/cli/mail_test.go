package cli

import (
	"strings"
	"testing"
)

// TestMailFlagsThatCannotWorkAreRefused, each with what to do, and without the password.
func TestMailFlagsThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	right := mailFlags{
		SMTPURL: "smtp://ada:secret@mail.site.example", From: "Plaza <plaza@site.example>",
		ResetURL: "https://site.example/reset", ConfirmURL: "https://site.example/confirm",
	}
	for name, flags := range map[string]mailFlags{"all": right, "none": {}, "pages alone": {ResetURL: right.ResetURL}} {
		if mails, err := flags.options(false); err != nil || mails.Mailer == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	withoutPages := mailFlags{SMTPURL: right.SMTPURL, From: right.From}
	if mails, err := withoutPages.options(true); err != nil || mails.Mailer == nil {
		t.Errorf("with the pages of the web app: %v", err)
	}
	for want, change := range map[string]func(*mailFlags){
		"needs --mail-from":                        func(f *mailFlags) { f.From = "" },
		"needs --smtp-url":                         func(f *mailFlags) { f.SMTPURL = "" },
		"needs --password-reset-url":               func(f *mailFlags) { f.ResetURL = "" },
		"needs --email-confirmation-url":           func(f *mailFlags) { f.ConfirmURL = "" },
		"--password-reset-url (PLAZA_PASSWORD_RES": func(f *mailFlags) { f.ResetURL = "/reset" },
		"the sender must be an address":            func(f *mailFlags) { f.From = "a@b.example\r\nBcc: c@d.example" },
		"must look like smtp://":                   func(f *mailFlags) { f.SMTPURL = "https://ada:secret@mail.site.example" },
		"no option except ?tls=off":                func(f *mailFlags) { f.SMTPURL += "?tls=maybe" },
		"sent in plain text":                       func(f *mailFlags) { f.SMTPURL += "?tls=off" },
		"from 1 to 65535":                          func(f *mailFlags) { f.SMTPURL += ":70000" },
	} {
		flags := right
		change(&flags)
		if _, err := flags.options(false); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%+v: %v, not %q", flags, err, want)
		}
	}
}
