package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"plaza/social"
)

// client sends GraphQL requests to a handler in this process, without a network.
type client struct {
	handler http.Handler
}

// body encodes a request's body.
func body(query string, variables map[string]any) []byte {
	encoded, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		panic(err) // strings, numbers and maps of them have a JSON form
	}
	return encoded
}

var (
	anError       = []byte(`"errors":`)
	mutationInput = []byte(`"userErrors":`)
	noMistakes    = []byte(`"userErrors":[]`)
)

// do sends a request as a user ("" means signed out), and returns the response. GraphQL errors are
// errors, too.
func (c client) do(ctx context.Context, token string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "/graphql", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer := &recorder{header: http.Header{}, status: http.StatusOK}
	c.handler.ServeHTTP(answer, request)
	said := answer.body.Bytes()
	if answer.status != http.StatusOK || bytes.Contains(said, anError) ||
		bytes.Contains(said, mutationInput) && !bytes.Contains(said, noMistakes) {
		return nil, errors.Join(ctx.Err(), fmt.Errorf("the answer is %d: %.300s", answer.status, said))
	}
	return said, nil
}

// recorder is an http.ResponseWriter that keeps the response.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header               { return r.header }
func (r *recorder) WriteHeader(status int)            { r.status = status }
func (r *recorder) Write(b []byte) (int, error)       { return r.body.Write(b) }
func (r *recorder) WriteString(s string) (int, error) { return r.body.WriteString(s) }

// tokenOf returns the bearer token that signIn stores for a user.
func tokenOf(n int) string { return fmt.Sprintf("bench-token-of-person-%d", n) }

// signIn creates sessions, without the cost of a password's hash.
func signIn(ctx context.Context, store social.Sessions, people []int) error {
	for _, n := range people {
		session := social.Session{
			TokenHash: social.HashToken(tokenOf(n)), User: person(n), ExpiresAt: time.Now().Add(social.SessionLifetime), UsedAt: time.Now(),
		}
		if err := store.InsertSession(ctx, session); err != nil {
			return err
		}
	}
	return nil
}
