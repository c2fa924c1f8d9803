package app

import "testing"

// TestMailsLeadToTheApp, unless the operator names other pages, or there is no app.
func TestMailsLeadToTheApp(t *testing.T) {
	t.Parallel()
	own := Config{PublicURL: "https://plaza.example/"}
	own.Social.Accounts.Mails.ResetURL = "https://site.example/reset"
	for name, c := range map[string]struct {
		config         Config
		reset, confirm string
	}{
		"the app":        {Config{PublicURL: "https://plaza.example/"}, "https://plaza.example/app/reset-password", "https://plaza.example/app/confirm-email"},
		"one other page": {own, "https://site.example/reset", "https://plaza.example/app/confirm-email"},
		"no app":         {Config{PublicURL: "https://plaza.example", NoApp: true}, "", ""},
		"no public URL":  {Config{}, "", ""},
		"below a path":   {Config{PublicURL: "https://site.example/plaza/"}, "", ""},
	} {
		if mails := c.config.mails(); mails.ResetURL != c.reset || mails.ConfirmURL != c.confirm {
			t.Errorf("%s: %+v", name, mails)
		}
	}
}
