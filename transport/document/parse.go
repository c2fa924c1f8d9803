package document

import (
	"cmp"
	"errors"
	"regexp"
	"strings"
	"unicode/utf8"

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
		return nil, codes.Complete(codes.ParseFailed, gqlerror.List{explained(query, cause)})[0]
	}
	if len(doc.Operations) == 0 {
		return nil, codes.Errorf(codes.ParseFailed, "the document contains no operation")
	}
	if err := checkSurrogates(query); err != nil {
		return nil, err
	}
	return doc, nil
}

// explained returns a parser's error in words that help.
func explained(query string, err *gqlerror.Error) *gqlerror.Error {
	switch {
	case strings.Contains(err.Message, lexer.Invalid.String()): // the lexer knows why
		return cmp.Or(lexerError(query), err)
	case err.Message == nothingBefore+lexer.BraceR.String():
		err.Message = "Expected at least one field between { and }"
	case err.Message == nothingBefore+lexer.ParenR.String():
		err.Message = "Expected at least one argument or variable between ( and )"
	}
	return err
}

const nothingBefore = "expected at least one definition, found "

func lexerError(query string) *gqlerror.Error {
	tokens := lexer.New(&ast.Source{Input: query})
	for {
		token, err := tokens.ReadToken()
		if cause, ok := errors.AsType[*gqlerror.Error](err); ok {
			if strings.HasPrefix(cause.Message, "Invalid character escape") { // it is located one behind
				cause.Locations[0].Column--
			}
			return cause
		}
		if token.Kind == lexer.EOF || token.Kind == lexer.Invalid {
			return nil
		}
	}
}

// checkSurrogates rejects string literals with the escape of half a surrogate pair, which the parser
// would store as U+FFFD. A pair (\ud83d\ude00) is one character.
func checkSurrogates(query string) *gqlerror.Error {
	if !strings.Contains(strings.ToLower(query), `\ud`) {
		return nil
	}
	characters := []rune(query) // which positions count
	tokens := lexer.New(&ast.Source{Input: query})
	token, err := tokens.ReadToken()
	for ; err == nil && token.Kind != lexer.EOF; token, err = tokens.ReadToken() {
		if token.Kind != lexer.String {
			continue
		}
		text := string(characters[token.Pos.Start+1 : token.Pos.End-1])
		if at, found := halfPair(text); found {
			refusal := codes.Errorf(codes.ParseFailed, "a string contains the escape of half a surrogate pair (\\ud800 to \\udfff)")
			refusal.Locations = []gqlerror.Location{{Line: token.Pos.Line, Column: token.Pos.Column + utf8.RuneCountInString(text[:at])}}
			return refusal
		}
	}
	return nil // other errors are the parser's
}

// halfPair finds the escape of a surrogate without the other one.
func halfPair(text string) (at int, found bool) {
	for _, escape := range escapes.FindAllStringSubmatchIndex(text, -1) {
		if half := escape[2]; half >= 0 {
			return half, true
		}
	}
	return 0, false
}

// escapes matches pairs of surrogates, surrogates (as the group), and all other escapes.
var escapes = regexp.MustCompile(`(?i)\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|(\\ud[89a-f][0-9a-f]{2})|\\.`)
