package cli

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// uriFlag names a MongoDB database. An empty value is rejected: otherwise a deployment that has
// lost its secret would start an empty community on SQLite.
type uriFlag string

// UnmarshalText implements encoding.TextUnmarshaler.
func (u *uriFlag) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return errors.New("must not be empty: name a MongoDB database, or leave the setting out for the embedded database")
	}
	*u = uriFlag(text)
	return nil
}

// checkEnvironment rejects variables that look like Plaza's settings but are none: most are
// misspelt.
func checkEnvironment(app *kong.Application, environ []string) error {
	known := settings(app)
	var faults []error
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "PLAZA_") && !slices.Contains(known, name) && !ofTools.MatchString(name) && !isServiceLink(name, value) {
			faults = append(faults, fmt.Errorf("there is no setting %s: did you mean %s?", name, nearest(name, known)))
		}
	}
	return errors.Join(faults...)
}

// settings are the environment variables of all flags.
func settings(app *kong.Application) (names []string) {
	_ = kong.Visit(app, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok {
			names = append(names, flag.Envs...)
		}
		return next(nil)
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// ofTools are the variables of make and of the tests.
var ofTools = regexp.MustCompile(`^PLAZA_(CACHE|ALL_LAYOUTS|(TEST|MODEL|WITHMONGO|MONGOTEST)_.*)$`)

// isServiceLink says whether Kubernetes or Docker has set a variable for a service called plaza, or
// plaza-something.
func isServiceLink(name, value string) bool {
	return serviceLink.MatchString(name) || strings.HasSuffix(name, "_PORT") && strings.Contains(value, "://")
}

var serviceLink = regexp.MustCompile(`^PLAZA_(.+_)?(SERVICE_(HOST|PORT(_.+)?)|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$`)

// nearest is the known name that takes the fewest changes of single characters.
func nearest(name string, known []string) string {
	return slices.MinFunc(known, func(a, b string) int { return distance(name, a) - distance(name, b) })
}

// distance is the Levenshtein distance in bytes: how many must be added, removed or replaced.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

// checkAddresses rejects a public URL and origins that cannot work.
func (c *serveCommand) checkAddresses() error {
	if c.PublicURL != "" && !isPublicURL(c.PublicURL) {
		return fmt.Errorf("--public-url (PLAZA_PUBLIC_URL) must look like https://plaza.example, "+
			"with a path where there is one, and neither a user name nor ? or #: %q does not", c.PublicURL)
	}
	for _, origin := range c.AllowedOrigins {
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

// isOrigin says whether a browser could send the text as an Origin, apart from a * in it.
func isOrigin(text string) bool {
	if text == "*" || text == "null" {
		return true
	}
	u, err := url.Parse(text)
	return err == nil && u.Hostname() != "" && text == u.Scheme+"://"+u.Host && text == strings.ToLower(text)
}
