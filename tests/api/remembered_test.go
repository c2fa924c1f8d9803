package api

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"plaza/internal/plazatest"
	"plaza/social"
	"plaza/storage"
)

// meanwhile is a store in which something happens once, before news is read.
type meanwhile struct {
	storage.Store

	do atomic.Pointer[func()]
}

func (m *meanwhile) News(ctx context.Context, viewer social.UserID, p social.Page) ([]*social.Post, error) {
	if do := m.do.Swap(nil); do != nil {
		(*do)()
	}
	return m.Store.News(ctx, viewer, p)
}

// TestNewPostsUseCurrentRelations: bob takes ada out of his circles while a request by her is
// running, and then writes to his circles. The server must not judge that post by the relation that
// it remembered when the request began.
func TestNewPostsUseCurrentRelations(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		st := &meanwhile{Store: e.Open(t)}
		plaza := plazatest.Serve(t, st)
		ada, bob := plaza.As(t, "ada"), plaza.As(t, "bob")
		circles := map[string]any{"kind": "CIRCLES"}
		bob.Follow(t, "ada")
		ada.Follow(t, "bob")
		bob.Status(t, "for ada, too", circles)
		const query = `{ viewer { news { nodes { text } } } }`
		if answer := ada.Raw(t, query); !strings.Contains(answer, "for ada, too") {
			t.Fatalf("before: %s", answer)
		}
		id := bob.IDOf(t, "ada")
		happens := func() {
			bob.Mutate(t, "unfollowUser", "user { id }", map[string]any{"userId": id})
			bob.Status(t, "not for ada", circles)
		}
		st.do.Store(&happens)
		if answer := ada.Raw(t, query); strings.Contains(answer, "not for ada") {
			t.Errorf("ada reads %s", answer)
		}
	})
}

// TestHiddenEntriesTakeNoReads: once people are in memory, a wall takes the same commands with a
// hidden post among visible ones and without it.
func TestHiddenEntriesTakeNoReads(t *testing.T) {
	forEachCounted(t, func(t *testing.T, st storage.Store, sent *commands) {
		s := newSecrets(t, plazatest.ServeCounted(t, st), sent)
		for _, owner := range []string{"hal", "ivy"} {
			s.add(t, owner, owner, `{ viewer { user { id } } }`)
			s.add(t, "on "+owner, "bob", `mutation { createPost(input: {content: {status: {text: "x"}}, audience: {kind: PUBLIC}, wallOwnerId: "$`+owner+`"}) { post { id } } }`)
		}
		s.add(t, "hidden", "fay", `mutation { createPost(input: {content: {status: {text: "hidden"}}, audience: {kind: PUBLIC}, wallOwnerId: "$hal"}) { post { id } } }`)
		for _, fields := range []string{"id", "id author { name }"} {
			query := `query($handle: String!) { user(handle: $handle) { wall { nodes { ` + fields + ` } } } }`
			var with, without []string
			for n := range recounts {
				_, with = s.ask(t, s.ada, query, map[string]any{"handle": "hal"})
				_, without = s.ask(t, s.ada, query, map[string]any{"handle": "ivy"})
				if n > 0 && len(with) == len(without) {
					break
				}
			}
			if len(with) != len(without) {
				t.Errorf("{ %s }: with a hidden post %v, without %v", fields, with, without)
			}
		}
	})
}
