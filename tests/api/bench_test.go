package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"plaza/internal/plazatest"
)

// BenchmarkNews answers a page of 20 posts with authors, previews and rights, without a network. It
// measures what a request costs the server, and on SQLite also the database.
func BenchmarkNews(b *testing.B) {
	for _, e := range plazatest.Engines {
		b.Run(e.Name, func(b *testing.B) {
			plaza := plazatest.Start(b, e)
			reader := plaza.As(b, "reader")
			fillNews(b, plaza, reader)
			body, err := json.Marshal(map[string]any{"query": `{ viewer { news(first: 20) { nodes { ` + postFields + ` } pageInfo { hasNextPage endCursor } } } }`})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				request := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/graphql", bytes.NewReader(body))
				request.Header.Set("Content-Type", "application/json")
				request.Header.Set("Authorization", "Bearer "+reader.Token)
				answer := httptest.NewRecorder()
				plaza.Server.Handler.ServeHTTP(answer, request)
				if answer.Code != http.StatusOK {
					b.Fatal(answer.Body)
				}
			}
		})
	}
}
