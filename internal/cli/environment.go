package cli

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// checkEnvironment rejects variables that look like Plaza's settings but are not: most of them are
// misspelt.
func checkEnvironment(app *kong.Application, environ []string) error {
	known := settings(app)
	var faults []error
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		if name == "PLAZA_DATA" && value == "" {
			faults = append(faults, errors.New("PLAZA_DATA is empty: name a folder, or remove the setting"))
		}
		if strings.HasPrefix(name, "PLAZA_") && !slices.Contains(known, name) && !ofTools.MatchString(name) && !isServiceLink(name, value) {
			faults = append(faults, fmt.Errorf("there is no setting %s: did you mean %s?", name, nearest(name, known)))
		}
	}
	return errors.Join(faults...)
}

// settings returns the environment variables of all flags.
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

// isServiceLink reports whether Kubernetes or Docker has set a variable for a service called plaza,
// or plaza-something.
func isServiceLink(name, value string) bool {
	return serviceLink.MatchString(name) || strings.HasSuffix(name, "_PORT") && strings.Contains(value, "://")
}

var serviceLink = regexp.MustCompile(`^PLAZA_(.+_)?(SERVICE_(HOST|PORT(_.+)?)|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$`)

// nearest returns the known name that needs the fewest changes of single characters.
func nearest(name string, known []string) string {
	return slices.MinFunc(known, func(a, b string) int { return distance(name, a) - distance(name, b) })
}

// distance returns the Levenshtein distance in bytes: how many must be added, removed or replaced.
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
