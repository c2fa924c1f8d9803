package document

import (
	"cmp"
	"fmt"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"plaza/transport/codes"
)

// Limits bound what a document may request. All are checked before anything runs, and all except
// the cost before validation, because validation itself can be attacked. A zero field means its
// default.
type Limits struct {
	// MaxTokens bounds the lexical tokens of the whole document, comments included. Default 2,000.
	MaxTokens int
	// MaxDepth limits the nesting of fields, with fragments expanded. Introspection has a separate
	// limit (introspectionDepth), so that GraphiQL works even with a lower MaxDepth. Default 16.
	MaxDepth int
	// MaxAliases bounds the aliased fields of the document, fragments expanded. Default 100.
	MaxAliases int
	// MaxFields bounds the fields of the document, fragments expanded. Default 1,000.
	MaxFields int
	// MaxDirectives bounds the directives of the document, fragments expanded. Default 50.
	MaxDirectives int
	// MaxCost limits an operation's requested cost; see [Cost]. Default 50,000: a list of 100 lists
	// of 100 with four fields each, such as a manager of circles, fits, and a list three levels
	// deep does not. Other limits also apply to such an operation: the length of the response, the
	// number of hidden entries that it skips, and the time that it may take.
	MaxCost int
	// DefaultPageSize is the assumed size of a page if the field accepts first, last, count or ids,
	// but the operation gives none of them, or a number below 1. Default 20.
	DefaultPageSize int
	// MaxPageSize is the largest page that is counted: resolvers must reject larger ones
	// themselves, with an error that names the argument. Default 100.
	MaxPageSize int
	// DefaultListSize is the assumed length of a list of objects that has no size argument. Default
	// 10.
	DefaultListSize int
	// Reads is what fields cost in addition because they read much more than they return, by type and
	// field, such as "Viewer.suggestedUsers". Default: nothing.
	Reads map[string]int
	// NoIntrospection rejects __schema and __type, not __typename.
	NoIntrospection bool
}

func (l Limits) withDefaults() Limits {
	l.MaxTokens = cmp.Or(l.MaxTokens, 2000)
	l.MaxDepth = cmp.Or(l.MaxDepth, 16)
	l.MaxAliases = cmp.Or(l.MaxAliases, 100)
	l.MaxFields = cmp.Or(l.MaxFields, 1000)
	l.MaxDirectives = cmp.Or(l.MaxDirectives, 50)
	l.MaxCost = cmp.Or(l.MaxCost, 50_000)
	l.DefaultPageSize = cmp.Or(l.DefaultPageSize, 20)
	l.MaxPageSize = cmp.Or(l.MaxPageSize, 100)
	l.DefaultListSize = cmp.Or(l.DefaultListSize, 10)
	return l
}

func tooComplex(limit string, actual, maximum int) *gqlerror.Error {
	has := fmt.Sprintf("it has %d %s", actual, limit)
	switch limit {
	case "depth", "cost":
		has = fmt.Sprintf("its %s is %d", limit, actual)
	case "fragmentDepth":
		has = fmt.Sprintf("its fragments are nested %d deep", actual)
	case "repeats":
		has = fmt.Sprintf("it has %d pairs of fields with one name, or of fragments, in the same place", actual)
	}
	err := exceeds(limit, has, maximum)
	err.Extensions["actual"] = actual
	return err
}

// exceeds is tooComplex where the parser has stopped counting at the maximum.
func exceeds(limit, has string, maximum int) *gqlerror.Error {
	err := codes.Errorf(codes.QueryTooComplex, "the query is too complex: %s, the maximum is %d", has, maximum)
	err.Extensions["limit"] = limit
	err.Extensions["maximum"] = maximum
	return err
}
