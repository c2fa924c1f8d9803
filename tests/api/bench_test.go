package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"plaza/bench/measure"
	"plaza/internal/plazatest"
	"plaza/social"
	"plaza/storage/mongodb/mongotest"
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

// BenchmarkResume subscribes to a thread after its first comment, and reads the 10,000 that follow.
// It reports the CPU time of this process (the server, SQLite and a client that parses nothing)
// and of mongod.
func BenchmarkResume(b *testing.B) {
	const missed = 10_000
	for _, e := range plazatest.Engines {
		b.Run(e.Name, func(b *testing.B) {
			plaza := plazatest.Start(b, e)
			ada := plaza.As(b, "ada")
			post := ada.Status(b, "talk", plazatest.Public)
			ada.Comment(b, post, "0")
			subscription := fmt.Sprintf(`subscription { commentAdded(postId: %q, after: %q) { cursor event comment { id text author { handle } } } }`,
				post, threadCursor(b, ada, post, "OLDEST"))
			fillThread(b, plaza, post, ada.IDOf(b, "ada"), missed)
			meter := newMeter(b)
			before := readMeter(b, meter)
			for b.Loop() {
				s := ada.Connect(b)
				s.Send("1", "subscribe", map[string]string{"query": subscription})
				for range missed {
					_, message, err := s.Conn.ReadMessage()
					if err != nil || !bytes.Contains(message, []byte(`"ADDED"`)) {
						b.Fatalf("got %s, %v", message, err)
					}
				}
				_ = s.Conn.Close()
			}
			after := readMeter(b, meter)
			b.ReportMetric(float64((after.Server-before.Server).Milliseconds())/float64(b.N), "cpu-ms/op")
			b.ReportMetric(float64((after.Mongod-before.Mongod).Milliseconds())/float64(b.N), "mongod-ms/op")
		})
	}
}

// fillThread stores comments on a post.
func fillThread(b *testing.B, plaza *plazatest.Plaza, post, author string, comments int) {
	b.Helper()
	on, err := social.ParsePostID(post)
	if err != nil {
		b.Fatal(err)
	}
	by, err := social.ParseUserID(author)
	if err != nil {
		b.Fatal(err)
	}
	for range comments {
		if err := plaza.Store.InsertComment(b.Context(), plazatest.NewComment(on, by), plazatest.CommentAdded()); err != nil {
			b.Fatal(err)
		}
	}
}

// newMeter measures this process, and the mongod of the tests.
func newMeter(b *testing.B) *measure.Meter {
	b.Helper()
	meter, err := measure.NewMeter(b.Context(), mongotest.Connect(b, mongotest.URI(b)).Client())
	if err != nil {
		b.Fatal(err)
	}
	return meter
}

func readMeter(b *testing.B, meter *measure.Meter) measure.Reading {
	b.Helper()
	reading, err := meter.Read(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return reading
}
