package document

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"plaza/transport/internal/testapi"
	"plaza/transport/request"
)

func TestDocumentsAreCached(t *testing.T) {
	admitted := map[int]int{} // by their lengths
	c := NewChecker(testapi.NewExecutableSchema(testapi.Config{}).Schema(), Options{Cached: 2}, func(_ context.Context, bytes int) *gqlerror.Error {
		admitted[bytes]++
		return nil
	})
	ctx := graphql.StartOperationTrace(t.Context())
	parsed := func(query string) bool {
		_, ok := c.parsed.Get(ctx, query)
		return ok
	}
	long := "{viewer}" + strings.Repeat(" ", maxKept)
	for _, query := range []string{"{viewer}", "{nothing}", long, "{a:viewer}", "{b:viewer}"} {
		_, _ = c.Check(ctx, &request.Request{Query: query})
	}
	for query, want := range map[string]bool{"{viewer}": false, "{nothing}": false, long: false, "{a:viewer}": true, "{b:viewer}": true} {
		if parsed(query) != want {
			t.Errorf("%.20s is cached: %t", query, !want)
		}
	}
	for _, query := range []string{"{nothing}", "{b:viewer}"} {
		_, _ = c.Check(ctx, &request.Request{Query: query})
	}
	for query, want := range map[string]int{"{nothing}": 2, long: 1, "{b:viewer}": 2} { // {a:viewer} is as long
		if got := admitted[len(query)]; got != want {
			t.Errorf("%.20s was admitted %d times, want %d", query, got, want)
		}
	}
}

// TestRegisteredDocumentsAreLimited: only the last ones are kept.
func TestRegisteredDocumentsAreLimited(t *testing.T) {
	d := newDocuments(nil, false)
	textOf := func(n int) string { return fmt.Sprintf(`{ n%d: viewer }`, n) }
	for n := range maxPersisted + 7 {
		d.register(t.Context(), &request.Request{Query: textOf(n), DocumentID: hashID(textOf(n))})
	}
	known := 0
	for n := range maxPersisted + 7 {
		if _, err := d.textOf(t.Context(), &request.Request{DocumentID: hashID(textOf(n))}); err == nil {
			known++
		}
	}
	if known != maxPersisted {
		t.Errorf("%d documents are known, want %d", known, maxPersisted)
	}
}
