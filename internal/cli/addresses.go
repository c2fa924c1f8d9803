package cli

import (
	"fmt"
	"net/url"
	"strings"
)

// checkAddresses rejects a public URL and origins that cannot work.
func checkAddresses(publicURL string, origins []string) error {
	if publicURL != "" && !isPublicURL(publicURL) {
		return fmt.Errorf("--public-url (PLAZA_PUBLIC_URL) must look like https://plaza.example, "+
			"with an optional path, but without a user name, ? or #: %q does not", publicURL)
	}
	for _, origin := range origins {
		if !isOrigin(origin) {
			return fmt.Errorf("--allowed-origin (PLAZA_ALLOWED_ORIGINS) must be *, or look like https://plaza.example or http://localhost:5173, "+
				"in lower case and without a path or a trailing slash: %q does not", origin)
		}
	}
	return nil
}

func isPublicURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil && !strings.ContainsAny(text, "?#")
}

// isOrigin reports whether a browser could send the text as an Origin, apart from a * in it.
func isOrigin(text string) bool {
	if text == "*" || text == "null" {
		return true
	}
	u, err := url.Parse(text)
	return err == nil && u.Hostname() != "" && text == u.Scheme+"://"+u.Host && text == strings.ToLower(text)
}
