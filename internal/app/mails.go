package app

import (
	"cmp"
	"strings"

	"plaza/social/accounts"
	"plaza/web"
)

// mails returns how mails are sent. Their links lead to the web app, unless they lead elsewhere.
func (c *Config) mails() accounts.Mails {
	mails := c.Social.Accounts.Mails
	if c.PublicURL != "" && !c.NoApp {
		public := strings.TrimSuffix(c.PublicURL, "/")
		mails.ResetURL = cmp.Or(mails.ResetURL, public+web.ResetPasswordPath)
		mails.ConfirmURL = cmp.Or(mails.ConfirmURL, public+web.ConfirmEmailPath)
	}
	return mails
}
