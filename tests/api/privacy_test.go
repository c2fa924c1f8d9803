package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gorilla/websocket"
	"go.mongodb.org/mongo-driver/v2/event"

	"plaza/id"
	"plaza/internal/plazatest"
	"plaza/internal/testtime"
	"plaza/storage"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
)

// This file checks that hidden objects are answered like objects that never existed: every
// operation that takes an id, a handle or a slug gives the same status and the same bytes, and on
// MongoDB sends the same commands.

// TestHiddenIsMissing runs each operation twice, as ada and signed out: for objects that the viewer
// may not see, and for objects that do not exist.
func TestHiddenIsMissing(t *testing.T) {
	requireCleanLog(t)
	forEachCounted(t, hiddenIsMissing)
}

// forEachCounted runs a test on a store of each database, and counts the commands on MongoDB.
func forEachCounted(t *testing.T, run func(*testing.T, storage.Store, *commands)) {
	t.Helper()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		sent := &commands{}
		if e.Name == "mongodb" {
			run(t, plazatest.OpenMongoDB(t, mongotest.Reused(t), mongodb.Options{Monitor: sent.monitor(), Unjournaled: true}), sent)
		} else {
			run(t, e.Open(t), sent)
		}
	})
}

func hiddenIsMissing(t *testing.T, st storage.Store, sent *commands) {
	s := newSecrets(t, plazatest.ServeCounted(t, st), sent)
	before := s.dump(t)
	for _, name := range slices.Sorted(maps.Keys(s.hidden)) {
		t.Run(name, func(t *testing.T) {
			for _, q := range s.questions(t, s.hidden[name].kind, s.ids[name]) {
				if !slices.Contains(s.hidden[name].seenBy, q.name) {
					s.mustBeAlike(t, s.ada, q)
				}
			}
			for _, q := range s.queries(s.hidden[name].kind, s.ids[name]) {
				if s.hidden[name].signedOut {
					s.mustBeAlike(t, plazatest.Person{URL: s.plaza.URL}, q)
				}
			}
		})
	}
	s.mustShowNoSecrets(t)
	s.mustBeAs(t, before)
}

// mustShowNoSecrets reads all posts and comments of everyone, as ada and signed out. The lists
// contain nothing from hidden posts or hidden people, not even for the author of a comment there.
func (s *secrets) mustShowNoSecrets(t *testing.T) {
	t.Helper()
	for _, handle := range []string{"ada", "bob", "cyn", "dan", "gil", "eve", "fay"} {
		query := fmt.Sprintf(`{ user(handle: %q) { posts(first: 100) { nodes { id latestComments { id } } } comments(first: 100) { nodes { id post { id } } } } }`, handle)
		toAda, toSignedOut := s.ada.Raw(t, query), plazatest.Person{URL: s.plaza.URL}.Raw(t, query)
		for name, hidden := range s.hidden {
			if strings.Contains(toAda, s.ids[name]) {
				t.Errorf("ada finds %s among what %s wrote", name, handle)
			}
			if hidden.signedOut && strings.Contains(toSignedOut, s.ids[name]) {
				t.Errorf("a signed-out reader finds %s among what %s wrote", name, handle)
			}
		}
	}
}

// secrets is the small community of world, with many objects that ada may not see.
type secrets struct {
	*world
	sent   *commands
	hidden map[string]secret
}

type secret struct {
	kind      string   // of its id
	signedOut bool     // it is hidden from signed-out viewers, too
	seenBy    []string // questions whose answers may differ, because people see the blocks that they made
}

func newSecrets(t *testing.T, plaza *plazatest.Plaza, sent *commands) *secrets {
	t.Helper()
	s := &secrets{newWorld(t, plaza), sent, map[string]secret{}}
	s.unblock(t)
	s.hidePosts(t)
	s.hideComments(t)
	s.hidden["fay"] = secret{kind: "user"}
	s.hidden["eve"] = secret{kind: "user", seenBy: []string{"blockUser.userId", "unblockUser.userId"}}
	s.hidden["bobCircle"] = secret{kind: "circle", signedOut: true}
	for _, owner := range []string{"bob", "eve", "fay"} { // built-in circles have their owners' ids
		s.ids[owner+"Following"] = "circle_" + strings.TrimPrefix(s.ids[owner], "user_")
		s.hidden[owner+"Following"] = secret{kind: "circle", signedOut: true}
	}
	s.add(t, "deletedCircle", "ada", `mutation { createCircle(input: {name: "Gone"}) { circle { id } } }`)
	s.act(t, "ada", `mutation { deleteCircle(input: {circleId: "$deletedCircle"}) { deletedCircleId } }`)
	s.hidden["deletedCircle"] = secret{kind: "circle", signedOut: true}
	s.act(t, "ada", `mutation { blockUser(input: {userId: "$eve"}) { user { id } } }`)
	s.act(t, "fay", `mutation { blockUser(input: {userId: "$ada"}) { user { id } } }`)
	return s
}

// unblock removes the blocks of world, so that ada can see and comment on objects that will be
// hidden later.
func (s *secrets) unblock(t *testing.T) {
	t.Helper()
	s.act(t, "ada", `mutation { unblockUser(input: {userId: "$eve"}) { user { id } } }`)
	s.act(t, "fay", `mutation { unblockUser(input: {userId: "$ada"}) { user { id } } }`)
}

func (s *secrets) hidePosts(t *testing.T) {
	t.Helper()
	poll := func(audience string) string {
		return `mutation { createPost(input: {content: {poll: {question: "secret", options: ["a", "b"]}}, ` + audience + `}) { post { id } } }`
	}
	s.add(t, "gil", "gil", `{ viewer { user { id } } }`)
	s.add(t, "gilCircle", "gil", `mutation { createCircle(input: {name: "Friends"}) { circle { id } } }`)
	s.act(t, "gil", `mutation { addToCircle(input: {circleId: "$gilCircle", userId: "$ada"}) { user { id } } }`)
	s.post(t, "onlyMe", "bob", poll(`audience: {kind: ONLY_ME}`), true)
	s.post(t, "onlyMeOnAWall", "bob", poll(`audience: {kind: ONLY_ME}, wallOwnerId: "$dan"`), true)
	s.post(t, "notListed", "bob", poll(`audience: {kind: LISTED, circleIds: ["$bobCircle"]}`), true)
	s.post(t, "notInCircles", "cyn", poll(`audience: {kind: CIRCLES}`), true)
	s.post(t, "takenOut", "gil", poll(`audience: {kind: LISTED, circleIds: ["$gilCircle"]}`), true)
	s.post(t, "takenOutOfAll", "gil", poll(`audience: {kind: CIRCLES}`), true)
	s.post(t, "closedLater", "bob", poll(`audience: {kind: PUBLIC}`), true)
	s.post(t, "blockedAuthors", "eve", poll(`audience: {kind: PUBLIC}`), false)
	s.post(t, "blockedAuthorsOnAWall", "eve", poll(`audience: {kind: PUBLIC}, wallOwnerId: "$bob"`), false)
	s.post(t, "blockedAuthorsOnAdasWall", "eve", poll(`audience: {kind: PUBLIC}, wallOwnerId: "$ada"`), false)
	s.post(t, "blockingAuthors", "fay", poll(`audience: {kind: PUBLIC}`), false)
	s.post(t, "blockingAuthorsOnAdasWall", "fay", poll(`audience: {kind: PUBLIC}, wallOwnerId: "$ada"`), false)
	s.post(t, "deleted", "bob", poll(`audience: {kind: PUBLIC}`), true)
	for _, seen := range []string{"takenOut", "takenOutOfAll", "closedLater", "blockedAuthors", "blockingAuthors", "deleted"} {
		s.comment(t, seen+"AdasComment", "ada", seen, s.hidden[seen].signedOut)
	}
	s.moderate(t, poll(`audience: {kind: PUBLIC}`), poll(`audience: {kind: PUBLIC}, wallOwnerId: "$ada"`))
	s.act(t, "gil", `mutation { unfollowUser(input: {userId: "$ada"}) { user { id } } }`)
	s.act(t, "bob", `mutation { a: setPostAudience(input: {postId: "$closedLater", audience: {kind: ONLY_ME}}) { post { id } } b: deletePost(input: {postId: "$deleted"}) { deletedPostId } }`)
}

// moderate hides posts by bob, one of them on ada's wall, as a moderator does, removes a comment, and
// hides another.
func (s *secrets) moderate(t *testing.T, post, onAdasWall string) {
	t.Helper()
	s.post(t, "moderated", "bob", post, true)
	s.post(t, "moderatedOnAdasWall", "bob", onAdasWall, true)
	s.comment(t, "moderatedAdasComment", "ada", "moderated", true)
	s.comment(t, "removedComment", "bob", "post", true)
	s.comment(t, "hiddenComment", "bob", "post", true)
	plazatest.Grant(t, s.plaza, "GRANT: moderate mia")
	for name, decision := range map[string]string{"moderated": "HIDE", "moderatedOnAdasWall": "HIDE", "removedComment": "REMOVE", "hiddenComment": "HIDE"} {
		s.act(t, "cyn", `mutation { report(input: {subjectId: "$`+name+`", reason: SPAM}) { reportedId } }`)
		_, rest, _ := strings.Cut(s.ids[name], "_")
		answer := s.act(t, "mia", fmt.Sprintf(`mutation { decideCase(input: {caseId: "case_%s", decision: %s, reason: "x"}) { case { state } userErrors { code } } }`, rest, decision))
		if !strings.Contains(answer, "DECIDED") {
			t.Fatalf("%s of %s: %s", decision, name, answer)
		}
	}
}

// post creates a hidden post, with a comment by its author.
func (s *secrets) post(t *testing.T, name, author, operation string, signedOut bool) {
	t.Helper()
	s.add(t, name, author, operation)
	s.hidden[name] = secret{kind: "post", signedOut: signedOut}
	s.comment(t, name+"Comment", author, name, signedOut)
}

func (s *secrets) comment(t *testing.T, name, author, post string, signedOut bool) {
	t.Helper()
	s.add(t, name, author, `mutation { addComment(input: {postId: "$`+post+`", text: "secret"}) { comment { id } } }`)
	s.hidden[name] = secret{kind: "comment", signedOut: signedOut}
}

// hideComments hides comments on a post that ada sees.
func (s *secrets) hideComments(t *testing.T) {
	t.Helper()
	s.comment(t, "blockedsComment", "eve", "post", false)
	s.comment(t, "blockersComment", "fay", "post", false)
	s.comment(t, "deletedComment", "ada", "post", true)
	s.act(t, "ada", `mutation { deleteComment(input: {commentId: "$deletedComment"}) { deletedCommentId } }`)
}

// question is an operation that is sent twice: for something hidden and for something that never
// existed.
type question struct {
	name            string
	operation       string
	hidden, missing map[string]any
}

func missingID(kind string) string { return kind + "_" + id.New().String() }

// questions returns all queries and mutations that take an id of a kind, as ada sends them.
func (s *secrets) questions(t *testing.T, kind, hidden string) []question {
	t.Helper()
	questions := s.queries(kind, hidden)
	missing := missingID(kind)
	for _, mutation := range schema.Mutation.Fields {
		for i, input := range s.inputs()[mutation.Name] {
			for _, at := range leaves(inputType(mutation), input, nil) {
				if at.field.Type.Name() != "ID" || !slices.Contains(kindsOfArgument(t, at.field.Name), kind) {
					continue
				}
				q := question{name: mutation.Name + "." + strings.Join(at.path, "."), operation: mutationText(mutation)}
				if at.field.Type.Elem != nil {
					q.hidden, q.missing = at.put(input, []any{s.ids["circle"], hidden}), at.put(input, []any{s.ids["circle"], missing})
				} else {
					q.hidden, q.missing = at.put(input, hidden), at.put(input, missing)
				}
				q.hidden, q.missing = map[string]any{"in": q.hidden}, map[string]any{"in": q.missing}
				if i == 0 || mutation.Name != "editPost" || at.field.Name != "postId" {
					questions = append(questions, q)
				}
			}
		}
	}
	if kind == "post" {
		without := map[string]any{"text": "x"}
		with := func(post string) map[string]any {
			input := maps.Clone(without)
			input["postId"] = post
			return map[string]any{"in": input}
		}
		addComment := schema.Mutation.Fields.ForName("addComment")
		questions = append(questions, question{"addComment.postId, not a reply", mutationText(addComment), with(hidden), with(missing)})
	}
	return questions
}

// kindsOfArgument returns the kinds of ids that an argument takes, by its name. New names must be
// added here.
func kindsOfArgument(t *testing.T, name string) (kinds []string) {
	t.Helper()
	for kind, names := range map[string][]string{
		"user": {"userId", "wallOwnerId", "subjectId"}, "circle": {"circleId", "circleIds"}, "post": {"postId", "subjectId"},
		"comment":      {"commentId", "parentId", "subjectId"},
		"ad":           {"advertiserId", "campaignId", "unitId", "choiceId", "person"}, // not private: everyone who manages ads sees them all
		"session":      {"sessionId"},                                                  // TestSessionsAreListedAndRevoked tries one of another user
		"token":        {"accessTokenId"},                                              // the same
		"invitation":   {"invitationId"},                                               // invitations.txtar tries one of another user
		"case":         {"caseId"},                                                     // moderators alone have any: moderation.txtar
		"notification": {"notificationIds"},                                            // notifications.txtar tries one of another user
	} {
		if slices.Contains(names, name) {
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) == 0 {
		t.Fatalf("of what kind is the id %s? Add it to kindsOfArgument", name)
	}
	return kinds
}

// queries returns the queries that take an id of a kind.
func (s *secrets) queries(kind, hidden string) []question {
	missing := missingID(kind)
	one := func(name, operation string) question {
		return question{name, operation, map[string]any{"id": hidden}, map[string]any{"id": missing}}
	}
	queries := []question{
		one("node", `query($id: ID!) { node(id: $id) { __typename id ... on Post { text } ... on User { handle } ... on Circle { name } ... on Comment { says: text } } }`),
		one("nodes", `query($id: ID!) { nodes(ids: [$id]) { __typename id } }`),
		one("nodes with one that is seen", `query($id: ID!) { nodes(ids: [$id, "`+s.ids[map[string]string{
			"user": "bob", "circle": "circle", "post": "bobPost", "comment": "bobComment",
		}[kind]]+`", $id]) { __typename id } }`),
	}
	if kind == "post" {
		queries = append(queries,
			one("post", `query($id: ID!) { post(id: $id) { id text author { handle } comments { nodes { text } } latestComments { text } viewerReaction } }`),
			one("post's comment", `query($id: ID!) { post(id: $id) { comment(slug: "x") { text } } }`))
	}
	return queries
}

// origins matches the cursors of empty lists: those of two lists differ in the part that names the
// list.
var origins = regexp.MustCompile(`"[\w-]{10}A{21}"`)

// mustBeAlike compares the two answers and their costs.
func (s *secrets) mustBeAlike(t *testing.T, p plazatest.Person, q question) {
	t.Helper()
	hidden, hiddenCommands := s.ask(t, p, q.operation, q.hidden)
	missing, missingCommands := s.ask(t, p, q.operation, q.missing)
	hidden, missing = origins.ReplaceAllString(hidden, `"origin"`), origins.ReplaceAllString(missing, `"origin"`)
	if hidden != missing {
		t.Errorf("%s: answers differ:\n hidden: %.600s\nmissing: %.600s", q.name, hidden, missing)
	}
	if !strings.Contains(missing, "NOT_FOUND") && !strings.Contains(missing, "UNAUTHENTICATED") && !strings.Contains(missing, "null") && !strings.Contains(missing, `"origin"`) {
		t.Errorf("%s: this is not how something missing is answered: %.600s", q.name, missing)
	}
	diff := cmp.Diff(missingCommands, hiddenCommands)
	for range recounts {
		if diff == "" {
			return
		}
		_, hiddenCommands = s.ask(t, p, q.operation, q.hidden)
		_, missingCommands = s.ask(t, p, q.operation, q.missing)
		diff = cmp.Diff(missingCommands, hiddenCommands)
	}
	if diff != "" {
		t.Errorf("%s: MongoDB receives different commands (-missing +hidden):\n%s", q.name, diff)
	}
}

// recounts limits how often commands are counted again when the numbers differ: on a busy
// processor, a delayed look-up misses its batch and takes one more command. Real differences
// persist.
const recounts = 10

func (s *secrets) ask(t *testing.T, p plazatest.Person, operation string, variables map[string]any) (answer string, sent []string) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": operation, "variables": variables})
	if err != nil {
		t.Fatal(err)
	}
	s.sent.take()
	return exchange(t, p, body), s.sent.take()
}

// exchange returns the status, the headers that could reveal something, and the body.
func exchange(t *testing.T, p plazatest.Person, body []byte) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.URL+"/graphql", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/graphql-response+json")
	if p.Token != "" {
		request.Header.Set("Authorization", "Bearer "+p.Token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d %s %d\n%s", response.StatusCode, response.Header.Get("Content-Type"), response.ContentLength, answer)
}

// commands records the commands sent to MongoDB, except those of the reader of the event log and of
// sessions.
type commands struct {
	mu   sync.Mutex
	sent []string
}

func (c *commands) monitor() *event.CommandMonitor {
	return &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if mongotest.IsHeartbeat(e) || e.Command.Lookup(e.CommandName).String() == `"jobs"` {
			return // heartbeats, and background work that looks for jobs
		}
		if !slices.Contains([]string{"getMore", "killCursors", "endSessions", "hello", "ping"}, e.CommandName) {
			c.sent = append(c.sent, e.CommandName+" "+e.Command.Lookup(e.CommandName).String())
		}
	}}
}

// take returns the commands that were sent since the last call, sorted, because concurrent reads
// have no order.
func (c *commands) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	sent := c.sent
	c.sent = nil
	slices.Sort(sent)
	return sent
}

// TestHiddenHandles looks people up by handle.
func TestHiddenHandles(t *testing.T) {
	forEachCounted(t, func(t *testing.T, st storage.Store, sent *commands) {
		s := &secrets{world: newWorld(t, plazatest.ServeCounted(t, st)), sent: sent}
		for _, hidden := range []string{"eve", "fay", "EVE"} {
			for _, operation := range []string{
				`query($handle: String!) { user(handle: $handle) { id } }`,
				`query($handle: String!) { user(handle: $handle) { followersCount wall { nodes { id } } } viewer { user { handle } } }`,
			} {
				s.mustBeAlike(t, s.ada, question{hidden, operation, map[string]any{"handle": hidden}, map[string]any{"handle": "unknown"}})
			}
		}
	})
}

// TestHiddenSlugs looks comments up by permalink.
func TestHiddenSlugs(t *testing.T) {
	forEachCounted(t, func(t *testing.T, st storage.Store, sent *commands) {
		s := newSecrets(t, plazatest.ServeCounted(t, st), sent)
		for _, name := range []string{"blockedsComment", "blockersComment"} {
			var answer struct{ Node struct{ Slug string } }
			s.plaza.As(t, "bob").Do(t, `query($id: ID!) { node(id: $id) { ... on Comment { slug } } }`, map[string]any{"id": s.ids[name]}, &answer)
			q := question{
				name, s.named(`query($slug: String!) { post(id: "$post") { text comment(slug: $slug) { id text author { handle } } } }`),
				map[string]any{"slug": answer.Node.Slug},
				map[string]any{"slug": "00000000"},
			}
			s.mustBeAlike(t, s.ada, q)
		}
	})
}

// TestHiddenSubscriptions subscribes to the threads of posts over a websocket.
func TestHiddenSubscriptions(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		s := newSecrets(t, plazatest.Start(t, e), &commands{})
		want := subscribe(t, s.ada, missingID("post"))
		if !strings.Contains(want, "NOT_FOUND") {
			t.Errorf("this is not how something missing is answered: %s", want)
		}
		for name, secret := range s.hidden {
			if secret.kind != "post" {
				continue
			}
			if got := subscribe(t, s.ada, s.ids[name]); got != want {
				t.Errorf("%s: answers differ:\n hidden: %s\nmissing: %s", name, got, want)
			}
			if !secret.signedOut {
				continue
			}
			if got := subscribe(t, plazatest.Person{URL: s.plaza.URL}, s.ids[name]); got != want {
				t.Errorf("%s, signed out: answers differ:\n hidden: %s\nmissing: %s", name, got, want)
			}
		}
		for _, malformed := range malformedIDs("post") {
			if text, _ := malformed.value.(string); len(text) < 1_000 {
				if got := subscribe(t, s.ada, text); !strings.Contains(got, "BAD_USER_INPUT") || !strings.Contains(got, `"argument":"postId"`) {
					t.Errorf("commentAdded(postId: %s): %s", malformed.why, got)
				}
			}
		}
	})
}

// subscribe subscribes to a post's new comments over graphql-transport-ws, and returns the first
// message.
func subscribe(t *testing.T, p plazatest.Person, post string) string {
	t.Helper()
	dialer := websocket.Dialer{Subprotocols: []string{"graphql-transport-ws"}}
	socket, response, err := dialer.DialContext(t.Context(), strings.Replace(p.URL, "http://", "ws://", 1)+"/graphql", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close(); _ = socket.Close() }()
	_ = socket.SetReadDeadline(time.Now().Add(testtime.Patience()))
	payload := map[string]any{}
	if p.Token != "" {
		payload["Authorization"] = "Bearer " + p.Token
	}
	for _, message := range []map[string]any{
		{"type": "connection_init", "payload": payload},
		{"type": "subscribe", "id": "1", "payload": map[string]any{
			"query": `subscription($id: ID!) { commentAdded(postId: $id) { cursor comment { text } } }`, "variables": map[string]any{"id": post},
		}},
	} {
		if err := socket.WriteJSON(message); err != nil {
			t.Fatal(err)
		}
	}
	if _, ack, err := socket.ReadMessage(); err != nil || !strings.Contains(string(ack), "connection_ack") {
		t.Fatalf("no connection_ack: %s %v", ack, err)
	}
	_, answer, err := socket.ReadMessage()
	if err != nil {
		t.Fatalf("%s: no answer: %v", post, err)
	}
	return string(answer)
}
