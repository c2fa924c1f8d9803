package document

import (
	"errors"
	"regexp"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/lexer"
	"github.com/vektah/gqlparser/v2/parser"

	"plaza/transport/codes"
)

// parse reads a document, of at most maxTokens.
func parse(query string, maxTokens int) (*ast.QueryDocument, *gqlerror.Error) {
	doc, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: query}, maxTokens)
	if err != nil {
		var cause *gqlerror.Error
		if !errors.As(err, &cause) {
			return nil, codes.Errorf(codes.ParseFailed, "%v", err)
		}
		switch { // the parser's own limits, for which gqlparser has no type
		case strings.HasPrefix(cause.Message, "exceeded token limit"):
			return nil, exceeds("tokens", "it has too many tokens", maxTokens)
		case strings.HasPrefix(cause.Message, "exceeded maximum nesting depth"):
			return nil, exceeds("depth", "it is nested too deeply", parser.MaxNestingDepth)
		}
		return nil, codes.Complete(codes.ParseFailed, gqlerror.List{cause})[0]
	}
	if len(doc.Operations) == 0 {
		return nil, codes.Errorf(codes.ParseFailed, "the document contains no operation")
	}
	if err := checkSurrogates(query); err != nil {
		return nil, err
	}
	return doc, nil
}

// checkSurrogates rejects string literals with escapes of surrogates (\ud800 to \udfff), which the
// parser would store as U+FFFD.
func checkSurrogates(query string) *gqlerror.Error {
	if !strings.Contains(strings.ToLower(query), `\ud`) {
		return nil
	}
	tokens := lexer.New(&ast.Source{Input: query})
	token, err := tokens.ReadToken()
	for ; err == nil && token.Kind != lexer.EOF; token, err = tokens.ReadToken() {
		if token.Kind == lexer.String && surrogate.MatchString(query[token.Pos.Start:token.Pos.End]) {
			refusal := codes.Errorf(codes.ParseFailed, "a string contains the escape of a surrogate (\\ud800 to \\udfff)")
			refusal.Locations = []gqlerror.Location{{Line: token.Pos.Line, Column: token.Pos.Column}}
			return refusal
		}
	}
	return nil // other errors are the parser's
}

// surrogate matches the escape of a UTF-16 surrogate after an even number of backslashes.
var surrogate = regexp.MustCompile(`(?i)(?:^|[^\\])(?:\\\\)*\\ud[89a-f][0-9a-f]{2}`)
