package api

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plaza/internal/app"
	"plaza/internal/plazatest"
	"plaza/internal/testtime"
)

// program decides what is published: it refuses what contains "advert", and fails on what contains
// "crash".
type program struct {
	mu        sync.Mutex
	asked     []string // kind, audience and text of each request
	meanwhile func()   // runs once, while it decides; may be nil
}

// while lets something happen while the program decides the next time.
func (p *program) while(something func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.meanwhile = something
}

func (p *program) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q struct{ Kind, Audience, Text string }
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil || r.Header.Get("Plaza-Signature") == "" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	p.mu.Lock()
	p.asked = append(p.asked, q.Kind+" "+q.Audience+" "+q.Text)
	meanwhile := p.meanwhile
	p.meanwhile = nil
	p.mu.Unlock()
	if meanwhile != nil {
		meanwhile()
	}
	answer := `{"decision": "allow"}`
	switch {
	case strings.Contains(q.Text, "advert"):
		answer = `{"decision": "refuse", "reason": "No adverts\u0007 here"}`
	case strings.Contains(q.Text, "crash"):
		w.WriteHeader(http.StatusInternalServerError)
	}
	_, _ = w.Write([]byte(answer))
}

// questions returns what was asked since the last call.
func (p *program) questions() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	asked := p.asked
	p.asked = nil
	return asked
}

// reviewed starts a server whose publications the program decides about.
func reviewed(t *testing.T, e plazatest.Engine, hook app.PublishHook) (*plazatest.Plaza, *program) {
	t.Helper()
	p := &program{}
	listener := httptest.NewServer(p)
	t.Cleanup(listener.Close)
	hook.URL, hook.Secret, hook.Timeout = listener.URL, "a secret of tests", testtime.Patience()
	return plazatest.ServeReviewed(t, e.Open(t), hook), p
}

// publish sends a mutation, and returns its errors: code and message of the only one, or "".
func publish(t *testing.T, p plazatest.Person, mutation string) string {
	t.Helper()
	var answer struct {
		Data map[string]struct {
			UserErrors []struct{ Code, Message string }
		}
		Errors []struct {
			Message    string
			Extensions struct{ Code string }
		}
	}
	raw := p.Raw(t, "mutation { it: "+mutation+" { userErrors { code message } } }")
	if err := json.Unmarshal([]byte(raw), &answer); err != nil {
		t.Fatal(raw)
	}
	for _, e := range answer.Errors {
		return e.Extensions.Code + ": " + e.Message
	}
	for _, e := range answer.Data["it"].UserErrors {
		return e.Code + ": " + e.Message
	}
	return ""
}

const (
	rejected    = "REJECTED: No adverts here"
	unavailable = "UNAVAILABLE: This site can't publish anything at the moment; try again."
)

// TestPublishHook: the program decides about public posts and the comments on them, whenever their
// texts or audiences change. What it refuses is not stored.
func TestPublishHook(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza, hook := reviewed(t, e, app.PublishHook{})
		ada := plaza.As(t, "ada")
		post, private := ada.Status(t, "bread", plazatest.Public), ada.Status(t, "advert", map[string]any{"kind": "ONLY_ME"})
		comment := ada.Comment(t, post, "rye")
		ada.Comment(t, private, "advert")
		want := []string{"post.create PUBLIC bread", "comment.create PUBLIC rye"}
		if diff := cmp.Diff(want, hook.questions()); diff != "" {
			t.Errorf("the program is asked (-want +got):\n%s", diff)
		}
		before := ada.Raw(t, `{ viewer { user { posts { nodes { text editedAt audience { kind } commentCount comments { nodes { text editedAt } } } } } } }`)
		for _, c := range []struct{ mutation, want, asked string }{
			{`createPost(input: {content: {status: {text: "advert"}}, audience: {kind: PUBLIC}})`, rejected, "post.create PUBLIC advert"},
			{`createPost(input: {content: {status: {text: "crash"}}, audience: {kind: PUBLIC}})`, unavailable, "post.create PUBLIC crash"},
			{`createPost(input: {content: {status: {text: " "}}, audience: {kind: PUBLIC}})`, "BLANK", ""},
			{`editPost(input: {postId: "` + post + `", content: {status: {text: "advert"}}})`, rejected, "post.edit PUBLIC advert"},
			{`setPostAudience(input: {postId: "` + private + `", audience: {kind: PUBLIC}})`, rejected, "post.audience PUBLIC advert"},
			{`addComment(input: {postId: "` + post + `", text: "advert"})`, rejected, "comment.create PUBLIC advert"},
			{`editComment(input: {commentId: "` + comment + `", text: "advert"})`, rejected, "comment.edit PUBLIC advert"},
			{`editComment(input: {commentId: "` + comment + `", text: "crash"})`, unavailable, "comment.edit PUBLIC crash"},
		} {
			if got := publish(t, ada, c.mutation); !strings.HasPrefix(got, c.want) {
				t.Errorf("%s: %q, want %q", c.mutation, got, c.want)
			}
			if got := strings.Join(hook.questions(), "; "); got != c.asked {
				t.Errorf("%s: the program is asked %q, want %q", c.mutation, got, c.asked)
			}
		}
		after := ada.Raw(t, `{ viewer { user { posts { nodes { text editedAt audience { kind } commentCount comments { nodes { text editedAt } } } } } } }`)
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("something was stored (-before +after):\n%s", diff)
		}
		for _, mutation := range []string{
			`editPost(input: {postId: "` + post + `", content: {status: {text: "rolls"}}})`,
			`setPostAudience(input: {postId: "` + post + `", audience: {kind: CIRCLES}})`,
			`editPost(input: {postId: "` + post + `", content: {status: {text: "advert"}}})`,
		} {
			if got := publish(t, ada, mutation); got != "" {
				t.Errorf("%s: %q", mutation, got)
			}
		}
		if diff := cmp.Diff([]string{"post.edit PUBLIC rolls"}, hook.questions()); diff != "" {
			t.Errorf("the program is asked (-want +got):\n%s", diff)
		}
	})
}

// TestPublishHookSettings: the program may see what is for a few, too, and its failures may let
// everything pass, but not its refusals.
func TestPublishHookSettings(t *testing.T) {
	t.Parallel()
	plaza, hook := reviewed(t, plazatest.Engines[0], app.PublishHook{AllAudiences: true, PublishUnreviewed: true})
	ada := plaza.As(t, "ada")
	for text, want := range map[string]string{"crash": "", "advert": rejected, "bread": ""} {
		for _, audience := range []string{"ONLY_ME", "PUBLIC"} {
			if got := publish(t, ada, `createPost(input: {content: {status: {text: "`+text+`"}}, audience: {kind: `+audience+`}})`); got != want {
				t.Errorf("%s %s: %q, want %q", audience, text, got, want)
			}
			if got := strings.Join(hook.questions(), "; "); got != "post.create "+audience+" "+text {
				t.Errorf("the program is asked %q", got)
			}
		}
	}
}

// TestPlacesCloseDuringReviews: what the program decides about is not stored if it may not be
// written there any more when the answer comes.
func TestPlacesCloseDuringReviews(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza, hook := reviewed(t, e, app.PublishHook{})
		mia := plaza.As(t, "mia")
		plazatest.Grant(t, plaza, "GRANT: moderate mia")
		for name, c := range map[string]struct {
			mutation  string // by ben; $post is ada's, $own ben's
			meanwhile string // by ada
			hides     string // what mia hides
			want      string
		}{
			"the post is hidden":      {mutation: `addComment(input: {postId: "$post", text: "hi"})`, hides: "$post", want: "NOT_FOUND"},
			"the own post is hidden":  {mutation: `addComment(input: {postId: "$own", text: "hi"})`, hides: "$own", want: "NOT_ALLOWED"},
			"and a comment is edited": {mutation: `editComment(input: {commentId: "$comment", text: "hi"})`, hides: "$own", want: "NOT_ALLOWED"},
			"a block":                 {mutation: `addComment(input: {postId: "$post", text: "hi"})`, meanwhile: `blockUser(input: {userId: "$ben"})`, want: "NOT_FOUND"},
			"a reply policy":          {mutation: `addComment(input: {postId: "$post", text: "hi"})`, meanwhile: `setReplyPolicy(input: {postId: "$post", replies: {kind: NOBODY}})`, want: "NOT_ALLOWED"},
			"an audience":             {mutation: `addComment(input: {postId: "$post", text: "hi"})`, meanwhile: `setPostAudience(input: {postId: "$post", audience: {kind: ONLY_ME}})`, want: "NOT_FOUND"},
			"a wall policy": {
				mutation:  `createPost(input: {wallOwnerId: "$ada", content: {status: {text: "hi"}}, audience: {kind: PUBLIC}})`,
				meanwhile: `updateProfile(input: {wallPolicy: NOBODY})`, want: "NOT_ALLOWED",
			},
		} {
			tag := strings.ReplaceAll(name, " ", "_")
			ada, ben := plaza.As(t, "ada_"+tag), plaza.As(t, "ben_"+tag)
			own := ben.Status(t, "own", plazatest.Public)
			ids := strings.NewReplacer("$post", ada.Status(t, "post", plazatest.Public), "$own", own, "$comment", ben.Comment(t, own, "rye"),
				"$ada", mia.IDOf(t, "ada_"+tag), "$ben", mia.IDOf(t, "ben_"+tag))
			hook.while(func() {
				if c.meanwhile != "" {
					if got := publish(t, ada, ids.Replace(c.meanwhile)); got != "" {
						t.Errorf("%s: %s", name, got)
					}
				}
				if c.hides != "" {
					reportAbuse(t, ada, ids.Replace(c.hides))
					if c.hides == "$post" {
						reportAbuse(t, ben, ids.Replace(c.hides))
					}
					decide(t, mia, ids.Replace(c.hides), "HIDE")
				}
			})
			if got := publish(t, ben, ids.Replace(c.mutation)); !strings.HasPrefix(got, c.want) {
				t.Errorf("%s: %q, want %s", name, got, c.want)
			}
		}
	})
}
