package resolvers

import (
	"strings"
	"sync"

	"github.com/vektah/gqlparser/v2/formatter"

	"plaza/graph/generated"
)

// oneOfDirective is part of GraphQL since September 2025. Older tools need its definition, and
// newer ones allow it.
const oneOfDirective = "\"Exactly one field of the input must be given, and must not be null.\"\ndirective @oneOf on INPUT_OBJECT\n\n"

// SDL returns the schema in GraphQL's schema definition language: one document, with all
// descriptions, for tools that generate code.
var SDL = sync.OnceValue(func() string {
	var text strings.Builder
	text.WriteString(oneOfDirective)
	formatter.NewFormatter(&text, formatter.WithIndent("  ")).FormatSchema(generated.NewExecutableSchema(generated.Config{}).Schema())
	return text.String()
})
