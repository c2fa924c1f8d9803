package api

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2/ast"
	"golang.org/x/sync/errgroup"

	"plaza/internal/plazatest"
	"plaza/resolvers/gate"
	"plaza/social"
	"plaza/storage"
)

const createPost = `mutation($text: String!) {
	createPost(input: {content: {status: {text: $text}}, audience: {kind: PUBLIC}}) { post { id createdAt } userErrors { code path } } }`

// keyed sends a person's request with an idempotency key.
func keyed(t testing.TB, p plazatest.Person, key, operation string, variables map[string]any) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": operation, "variables": variables})
	if err != nil {
		t.Fatal(err)
	}
	p.Key = key
	return string(p.Post(t, body))
}

// codeOf returns the code of an answer's first error, or of its first userError; "" if it has none.
func codeOf(t testing.TB, answer string) string {
	t.Helper()
	return readVerdict(t, []byte(answer), "createPost").code
}

func mustHaveCode(t testing.TB, answer, code, what string) {
	t.Helper()
	if got := codeOf(t, answer); got != code {
		t.Errorf("%s: code %q, want %q: %s", what, got, code, answer)
	}
}

// postsOf returns the number of posts on a person's wall.
func postsOf(t testing.TB, p plazatest.Person) int {
	t.Helper()
	var answer struct {
		Viewer struct {
			User struct {
				Wall struct{ Nodes []struct{ ID string } }
			}
		}
	}
	p.Do(t, `{ viewer { user { wall(first: 100) { nodes { id } } } } }`, nil, &answer)
	return len(answer.Viewer.User.Wall.Nodes)
}

// TestAKeyCreatesOnePost sends one key a hundred times to two servers, and then with operations
// that differ.
func TestAKeyCreatesOnePost(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		first := plazatest.Start(t, e)
		ada, bob := first.As(t, "ada"), first.As(t, "bob")
		elsewhere := ada
		elsewhere.URL = plazatest.Serve(t, unclosed{first.Store}).URL
		const sends, together = 100, 64
		answers := make([]string, sends)
		var group errgroup.Group
		group.SetLimit(together)
		for i := range answers {
			group.Go(func() error {
				answers[i] = keyed(t, []plazatest.Person{ada, elsewhere}[i%2], "key-1", createPost, map[string]any{"text": "<once> & only"})
				return nil
			})
		}
		_ = group.Wait()
		slices.Sort(answers)
		if different := slices.Compact(answers); len(different) != 1 || codeOf(t, different[0]) != "" {
			t.Fatalf("%d different answers: %s", len(different), strings.Join(different, "\n"))
		}
		mustHaveCode(t, keyed(t, ada, "key-1", createPost, map[string]any{"text": "twice"}), "IDEMPOTENCY_KEY_REUSED", "other variables")
		mustHaveCode(t, keyed(t, ada, "key-1", createPost+" ", map[string]any{"text": "<once> & only"}), "IDEMPOTENCY_KEY_REUSED", "another document")
		if posts := postsOf(t, ada); posts != 1 {
			t.Errorf("ada has %d posts, want one", posts)
		}
		if other := keyed(t, bob, "key-1", createPost, map[string]any{"text": "<once> & only"}); codeOf(t, other) != "" || postsOf(t, bob) != 1 {
			t.Errorf("bob's request with the same key: %s, %d posts", other, postsOf(t, bob))
		}
		overSocket(t, ada, answers[0])
	})
}

// unclosed is a store that another server closes.
type unclosed struct{ storage.Store }

func (unclosed) Close() error { return nil }

func (unclosed) Work(ctx context.Context) { <-ctx.Done() }

// overSocket repeats the post of an answer on a websocket.
func overSocket(t *testing.T, ada plazatest.Person, answer string) {
	t.Helper()
	s := ada.Connect(t)
	s.Send("1", "subscribe", map[string]any{
		"query": createPost, "variables": map[string]any{"text": "<once> & only"}, "extensions": map[string]any{"idempotencyKey": "key-1"},
	})
	if m := s.Next(); m.Type != "next" || string(m.Payload) != answer {
		t.Errorf("over a websocket: %s %s, want %s", m.Type, m.Payload, answer)
	}
}

// TestAKeyCountsOverEvents sends a key twice with one mutation, and then with another document, in
// both modes of server-sent events.
func TestAKeyCountsOverEvents(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		for mode, ask := range map[string]func(*testing.T, plazatest.Person, map[string]any) <-chan string{"distinct": distinctRequest, "single": singleRequest} {
			p := plaza.As(t, mode)
			answer := func(operation string) string {
				request := map[string]any{"query": operation, "variables": map[string]any{"text": "once"}, "extensions": map[string]any{"idempotencyKey": "key"}}
				data := ask(t, p, request)
				defer func() {
					go func() {
						for range data { // until the stream ends with the test
						}
					}()
				}()
				return payloadOf(t, <-data)
			}
			first, second := answer(createPost), answer(createPost)
			mustHaveCode(t, first, "", mode)
			if first != second {
				t.Errorf("%s: the answers are %s and %s", mode, first, second)
			}
			mustHaveCode(t, answer(createPost+" "), "IDEMPOTENCY_KEY_REUSED", mode+": another document")
			if posts := postsOf(t, p); posts != 1 {
				t.Errorf("%s: %d posts, want one", mode, posts)
			}
		}
	})
}

// TestKeysAreRefused sends malformed keys, and keys with operations that cannot have one.
func TestKeysAreRefused(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada := plaza.As(t, "ada")
		text := map[string]any{"text": "never"}
		for what, key := range map[string]string{"too long": strings.Repeat("k", 256), "a space": "a b", "not ASCII": "schlüssel", "empty quotes": `""`, "a tab": "a\tb"} {
			mustHaveCode(t, keyed(t, ada, key, createPost, text), "BAD_USER_INPUT", what)
		}
		for what, extensions := range map[string]any{"a number": 7, "a list": []any{"a"}, "empty": "", "too long": strings.Repeat("k", 256), "NUL": "a\x00", "another key": "b"} {
			body, err := json.Marshal(map[string]any{"query": createPost, "variables": text, "extensions": map[string]any{"idempotencyKey": extensions}})
			if err != nil {
				t.Fatal(err)
			}
			sender := ada
			if what == "another key" {
				sender.Key = "a"
			}
			mustHaveCode(t, string(sender.Post(t, body)), "BAD_USER_INPUT", what)
		}
		mustHaveCode(t, keyed(t, plaza.As(t, "anyone"), "key", createPost, text), "UNAUTHENTICATED", "signed out")
		for _, mutation := range []string{"recordAdImpression", "recordAdConversion"} {
			answer := keyed(t, plaza.As(t, "anyone"), "key", `mutation { `+mutation+`(input: {token: "forged"}) { userErrors { path } } }`, nil)
			if !strings.Contains(answer, `"userErrors":[{"path":["input","token"]}]`) {
				t.Errorf("%s, signed out, with a key: %s", mutation, answer)
			}
		}
		const signIn = `s: signIn(input: {handle: "ada", password: "password of ada"}) { token }`
		mustHaveCode(t, keyed(t, ada, "key", `mutation { ...f } fragment f on Mutation { signOut { userErrors { code } } `+signIn+` }`, nil),
			"BAD_USER_INPUT", "a sign-in and more")
		first, second := keyed(t, ada, "key", `mutation { `+signIn+` }`, nil), keyed(t, ada, "key", `mutation { `+signIn+` }`, nil)
		if codeOf(t, first) != "" || first == second {
			t.Errorf("sign-ins with a key: %s, %s", first, second)
		}
		if posts := postsOf(t, ada); posts != 0 {
			t.Errorf("ada has %d posts", posts)
		}
		if answer := keyed(t, ada, "key", `{ viewer { user { handle } } }`, nil); !strings.Contains(answer, `"ada"`) {
			t.Errorf("a query with a key: %s", answer)
		}
		mustHaveCode(t, keyed(t, ada, `"key"`, createPost, text), "", "a quoted key")
		mustHaveCode(t, keyed(t, ada, "key", createPost, text), "", "the same key without quotes")
		if posts := postsOf(t, ada); posts != 1 {
			t.Errorf("ada has %d posts, want one", posts)
		}
	})
}

// failing is a store that fails to insert posts, or reports a failure after it has inserted one.
type failing struct {
	storage.Store
	before, after atomic.Bool
}

func (s *failing) InsertPost(ctx context.Context, p *social.Post, e social.Event) error {
	if s.before.Swap(false) {
		return social.ErrUnavailable
	}
	err := s.Store.InsertPost(ctx, p, e)
	if s.after.Swap(false) && err == nil {
		return social.ErrUnavailable
	}
	return err
}

// TestTemporaryFailuresAreRetried loses a request on its way to the database, and an answer on
// its way back.
func TestTemporaryFailuresAreRetried(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		store := &failing{Store: e.Open(t)}
		ada := plazatest.Serve(t, store).As(t, "ada")
		create := func(key string) string { return keyed(t, ada, key, createPost, map[string]any{"text": key}) }
		store.before.Store(true)
		mustHaveCode(t, create("1"), "UNAVAILABLE", "a request that is lost")
		created := create("1")
		mustHaveCode(t, created, "", "the same request again")
		if again := create("1"); again != created {
			t.Errorf("the third time: %s, want %s", again, created)
		}
		store.after.Store(true)
		mustHaveCode(t, create("2"), "UNAVAILABLE", "an answer that is lost")
		mustHaveCode(t, create("2"), "ALREADY_DONE", "the same request again")
		if posts := postsOf(t, ada); posts != 2 {
			t.Errorf("ada has %d posts, want 2", posts)
		}
		refused := keyed(t, ada, "3", createPost, map[string]any{"text": " "})
		if again := keyed(t, ada, "3", createPost, map[string]any{"text": " "}); again != refused || !strings.Contains(refused, "BLANK") {
			t.Errorf("a post without text: %s, and again: %s", refused, again)
		}
	})
}

// remembering is a store that remembers the fingerprints of the operations with a key.
type remembering struct {
	storage.Store

	fingerprints [][32]byte
}

func (s *remembering) BeginAttempt(ctx context.Context, a social.Attempt, lease time.Duration) ([]byte, error) {
	s.fingerprints = append(s.fingerprints, a.Fingerprint)
	return s.Store.BeginAttempt(ctx, a, lease)
}

// TestKeysDoNotTellPasswords: what is stored of an operation with a password depends on the user
// and on the key, so it is no fast hash of the operation. Operations without one have such a hash.
func TestKeysDoNotTellPasswords(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		store := &remembering{Store: e.Open(t)}
		plaza := plazatest.Serve(t, store)
		ada, bob := plaza.As(t, "ada"), plaza.As(t, "bob")
		const literal = `mutation { setEmail(input: {currentPassword: "wrong password"}) { userErrors { code } } }`
		const inVariable = `mutation($in: SetEmailInput!) { setEmail(input: $in) { userErrors { code } } }`
		for _, c := range []struct {
			key, operation string
			variables      map[string]any
			different      int
		}{
			{"literal", literal, nil, 3},
			{"variable", inVariable, map[string]any{"in": map[string]any{"currentPassword": "wrong password"}}, 3},
			{"post", createPost, map[string]any{"text": " "}, 1},
		} {
			store.fingerprints = nil
			first := keyed(t, ada, c.key, c.operation, c.variables)
			if again := keyed(t, ada, c.key, c.operation, c.variables); again != first {
				t.Errorf("%s: %s, and again: %s", c.operation, first, again)
			}
			keyed(t, ada, "another-"+c.key, c.operation, c.variables)
			keyed(t, bob, c.key, c.operation, c.variables)
			slices.SortFunc(store.fingerprints, func(a, b [32]byte) int { return slices.Compare(a[:], b[:]) })
			if got := len(slices.Compact(store.fingerprints)); got != c.different {
				t.Errorf("%s: %d different fingerprints, want %d", c.operation, got, c.different)
			}
		}
	})
}

// forgetful is a store of servers that die before they have kept an answer.
type forgetful struct{ storage.Store }

func (s forgetful) BeginAttempt(ctx context.Context, a social.Attempt, _ time.Duration) ([]byte, error) {
	return s.Store.BeginAttempt(ctx, a, time.Millisecond)
}

func (forgetful) EndAttempt(context.Context, social.Attempt, []byte) error {
	return errors.New("the server is dead")
}

// TestNoMutationIsCarriedOutTwice sends each mutation again, as after a server died: everything
// that the mutation stored must have marked its key.
func TestNoMutationIsCarriedOutTwice(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		w := newWorld(t, plazatest.ServeInviting(t, forgetful{e.Open(t)}, 3, time.Now))
		inputs := w.inputs()
		for _, mutation := range mostHarmfulLast() {
			operation, variables := `mutation { `+mutation.Name+` { userErrors { code message path } } }`, map[string]any(nil)
			if len(mutation.Arguments) > 0 {
				operation, variables = mutationText(mutation), map[string]any{"in": inputs[mutation.Name][0]}
			}
			for i, want := range []string{"", "ALREADY_DONE"} {
				ada, _ := signInAgain(t, w.ada, "ada") // it may have ended the session
				ada.Key = mutation.Name
				if got := verdictOf(t, ada, operation, variables, mutation.Name); got.code != want {
					t.Errorf("%s, request %d: %+v, want %q", mutation.Name, i+1, got, want)
				}
			}
		}
	})
}

// mostHarmfulLast returns the mutations that need a key, in an order in which each can be carried
// out. A choice of an ad counts once without a key, the world has no clicks to refund, and a user
// who has deleted or deactivated the account cannot ask again.
func mostHarmfulLast() []*ast.FieldDefinition {
	all := slices.DeleteFunc(slices.Clone(schema.Mutation.Fields), func(mutation *ast.FieldDefinition) bool {
		return strings.HasPrefix(mutation.Name, "__") || strings.HasPrefix(mutation.Name, "recordAd") ||
			slices.Contains([]string{"refundAds", "deactivateAccount", "deleteAccount"}, mutation.Name) || slices.Contains(gate.SignedOut, mutation.Name)
	})
	harm := []string{"blockUser", "remove", "delete", "deletePost", "createCircle", "revoke", "revokeOther", "changePassword"}
	slices.SortStableFunc(all, func(a, b *ast.FieldDefinition) int { return rank(harm, a.Name) - rank(harm, b.Name) })
	return all
}

// rank returns one more than the index of the last prefix that a name has; 0 if it has none.
func rank(prefixes []string, name string) int {
	for i, prefix := range slices.Backward(prefixes) {
		if strings.HasPrefix(name, prefix) {
			return i + 1
		}
	}
	return 0
}
