package api

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"plaza/internal/plazatest"
	"plaza/internal/testtime"
)

// TestFrontendsGuide runs the operations of docs/frontends.md.
func TestFrontendsGuide(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../../docs/frontends.md")
	if err != nil {
		t.Fatal(err)
	}
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Serve(t, e.Open(t))
		ada := plaza.As(t, "ada")
		post := ada.Status(t, "shown", plazatest.Public)
		values := map[string]map[string]any{
			"React": {"id": post}, "News": {}, "NewsSince": {"after": nil}, "Shown": {"ids": []string{post}}, "Notified": {"after": nil},
		}
		plaza.Notify(t)
		for _, block := range regexp.MustCompile("(?s)\n```graphql\n(.*?)\n```\n").FindAllSubmatch(document, -1) {
			operation := string(block[1])
			kind, rest, _ := strings.Cut(operation, " ")
			name, _, _ := strings.Cut(rest, " ")
			name, _, _ = strings.Cut(name, "(")
			variables, ok := values[name]
			if !ok {
				t.Errorf("no variables for %s", operation)
				continue
			}
			delete(values, name)
			if kind != "subscription" {
				ada.Do(t, operation, variables, nil)
				continue
			}
			mustDeliver(t, plaza, ada, name, operation, variables)
		}
		if len(values) > 0 {
			t.Errorf("the document lacks %v", values)
		}
	})
}

// mustDeliver subscribes, posts, makes someone follow, and expects an item without errors.
func mustDeliver(t *testing.T, plaza *plazatest.Plaza, p plazatest.Person, name, operation string, variables map[string]any) {
	t.Helper()
	socket := p.Connect(t)
	socket.Send(name, "subscribe", map[string]any{"query": operation, "variables": variables})
	testtime.Eventually(t, name+" begins", func() bool { return plaza.Server.Hub.Subscriptions() > 0 })
	p.Status(t, "to deliver", plazatest.Public)
	plaza.As(t, "fan_of_"+strings.ToLower(name)).Follow(t, "ada")
	message := socket.Next()
	socket.Send(name, "complete", nil)
	testtime.Eventually(t, name+" ends", func() bool { return plaza.Server.Hub.Subscriptions() == 0 })
	var item struct {
		Data   map[string]struct{ Post, Notification struct{ ID string } }
		Errors []any
	}
	if err := json.Unmarshal(message.Payload, &item); err != nil || message.Type != "next" || len(item.Errors) > 0 {
		t.Fatalf("%s: %s %s %v", name, message.Type, message.Payload, err)
	}
	for field, delivered := range item.Data {
		if delivered.Post.ID+delivered.Notification.ID == "" {
			t.Errorf("%s: nothing in %s", field, message.Payload)
		}
	}
}
