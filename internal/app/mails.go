package app

import (
	"cmp"
	"net/url"
	"strings"

	"plaza/social/accounts"
	"plaza/web"
)

// mails returns how mails are sent. Their links lead to the web app, unless they lead elsewhere.
func (c *Config) mails() accounts.Mails {
	mails := c.Social.Accounts.Mails
	if !c.NoApp && HasPages(c.PublicURL) {
		public := strings.TrimSuffix(c.PublicURL, "/")
		mails.ResetURL = cmp.Or(mails.ResetURL, public+web.ResetPasswordPath)
		mails.ConfirmURL = cmp.Or(mails.ConfirmURL, public+web.ConfirmEmailPath)
	}
	return mails
}

// HasPages reports whether people can open the web app at a public URL. It cannot be below a path.
func HasPages(publicURL string) bool {
	u, err := url.Parse(publicURL)
	return err == nil && u.Host != "" && strings.Trim(u.Path, "/") == ""
}
