package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
)

// BenchmarkNews answers a page of 20 posts with authors, previews and rights, without a network: what a request costs the
// server (on SQLite the database, too).
func BenchmarkNews(b *testing.B) {
	for _, e := range engines {
		b.Run(e.name, func(b *testing.B) {
			plaza := startPlaza(b, e)
			reader := plaza.as(b, "reader")
			fillNews(b, plaza, reader)
			body, err := json.Marshal(map[string]any{"query": `{ viewer { news(first: 20) { nodes { ` + postFields + ` } pageInfo { hasNextPage endCursor } } } }`})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				request := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/graphql", bytes.NewReader(body))
				request.Header.Set("Content-Type", "application/json")
				request.Header.Set("Authorization", "Bearer "+reader.token)
				answer := httptest.NewRecorder()
				plaza.server.handler.ServeHTTP(answer, request)
				if answer.Code != http.StatusOK {
					b.Fatal(answer.Body)
				}
			}
		})
	}
}
