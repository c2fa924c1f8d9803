package api

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"

	"plaza/internal/plazatest"
	"plaza/internal/testtime"
)

// send sends a request about event streams as a person; the caller closes the body.
func send(t *testing.T, p plazatest.Person, method, target, body string, headers ...string) *http.Response {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testtime.Patience())
	t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, method, p.URL+"/graphql"+target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+p.Token)
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// events returns the data of the events of a stream, one after the other; it is closed at the end.
func events(t *testing.T, stream *http.Response) <-chan string {
	t.Helper()
	if stream.StatusCode != http.StatusOK {
		t.Fatalf("no stream: %d", stream.StatusCode)
	}
	data := make(chan string)
	go func() {
		defer close(data)
		for lines := bufio.NewScanner(stream.Body); lines.Scan(); {
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				data <- text
			}
		}
	}()
	return data
}

// TestEvents: in both modes of server-sent events, a subscription gets a new post, resumes after its
// cursor, and ends when its subscriber signs out.
func TestEvents(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		for mode, subscribe := range map[string]func(*testing.T, plazatest.Person, string) <-chan string{
			"distinct": distinctEvents, "single": singleEvents,
		} {
			t.Run(mode, func(t *testing.T) {
				plaza := plazatest.Start(t, e)
				ada := plaza.As(t, "ada")
				start := func(after string) <-chan string {
					t.Helper()
					want := plaza.Server.Hub.Subscriptions() + 1
					data := subscribe(t, ada, newsAfter(after))
					testtime.Eventually(t, "the subscription starts", func() bool { return plaza.Server.Hub.Subscriptions() >= want })
					return data
				}
				ada.Status(t, "0", plazatest.Public)
				live := start(newsCursor(t, ada))
				ada.Status(t, "1", plazatest.Public)
				item := eventItem(t, <-live)
				if item.Text != "1" || item.Cursor == "" {
					t.Fatalf("a new post: %+v", item)
				}
				ada.Status(t, "2", plazatest.Public)
				again := start(item.Cursor)
				if got := eventItem(t, <-again); got.Text != "2" {
					t.Errorf("resumed: %+v", got)
				}
				ada.Do(t, `mutation { signOut { userErrors { code } } }`, nil, nil)
				for range live {
				}
				for range again {
				}
			})
		}
	})
}

// eventItem reads the item in the data of an event.
func eventItem(t *testing.T, data string) liveItem {
	t.Helper()
	item, ok := itemIn(plazatest.Message{Type: "next", Payload: json.RawMessage(payloadOf(t, data))})
	if !ok {
		t.Fatalf("want an item, got %q", data)
	}
	return item
}

// payloadOf returns the response in the data of an event, in either mode.
func payloadOf(t *testing.T, data string) string {
	t.Helper()
	var single struct{ Payload json.RawMessage }
	if json.Unmarshal([]byte(data), &single) == nil && single.Payload != nil {
		return string(single.Payload)
	}
	return data
}

func distinctEvents(t *testing.T, p plazatest.Person, operation string) <-chan string {
	t.Helper()
	return distinctRequest(t, p, map[string]any{"query": operation})
}

func singleEvents(t *testing.T, p plazatest.Person, operation string) <-chan string {
	t.Helper()
	return singleRequest(t, p, map[string]any{"query": operation})
}

// distinctRequest sends a request whose responses come on a stream of its own.
func distinctRequest(t *testing.T, p plazatest.Person, request map[string]any) <-chan string {
	t.Helper()
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	return events(t, send(t, p, http.MethodPost, "", string(body), "Accept: text/event-stream", "Accept-Encoding: gzip"))
}

// singleRequest sends a request whose responses come on a stream that was reserved before.
func singleRequest(t *testing.T, p plazatest.Person, request map[string]any) <-chan string {
	t.Helper()
	token, err := io.ReadAll(send(t, p, http.MethodPut, "", "").Body)
	if err != nil {
		t.Fatal(err)
	}
	data := events(t, send(t, p, http.MethodGet, "?token="+string(token), "", "Accept: text/event-stream"))
	extensions := map[string]any{"operationId": "1"}
	if more, ok := request["extensions"].(map[string]any); ok {
		maps.Copy(extensions, more)
	}
	body, err := json.Marshal(map[string]any{"query": request["query"], "variables": request["variables"], "extensions": extensions})
	if err != nil {
		t.Fatal(err)
	}
	if got := send(t, p, http.MethodPost, "", string(body), "X-GraphQL-Event-Stream-Token: "+string(token)); got.StatusCode != http.StatusAccepted {
		t.Fatalf("an operation: %d", got.StatusCode)
	}
	return data
}
