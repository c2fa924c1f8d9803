package api

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"plaza/id"
	"plaza/internal/plazatest"
	"plaza/social"
	"plaza/storage"
)

// TestDeletedIsMissing requests objects of a deleted account, before and after background work has
// removed them. The answers are the same as for objects that never existed: the same bytes, by the
// same commands.
func TestDeletedIsMissing(t *testing.T) {
	requireCleanLog(t)
	forEachCounted(t, deletedIsMissing)
}

func deletedIsMissing(t *testing.T, st storage.Store, sent *commands) {
	resting := plazatest.NewResting(st)
	s := &secrets{newWorld(t, plazatest.ServeCounted(t, resting)), sent, map[string]secret{}}
	s.leaveThingsBehind(t)
	close(resting.Rest)
	for _, handle := range []string{"gil", "hal"} {
		s.act(t, handle, fmt.Sprintf(`mutation { deleteAccount(input: {password: "password of %s"}) { deletedUserId userErrors { code } } }`, handle))
	}
	t.Run("before the removal", s.deletedAreMissing)
	unblock := `mutation($in: UnblockUserInput!) { unblockUser(input: $in) { user { id } userErrors { code message path } } }`
	of := func(user string) map[string]any { return map[string]any{"in": map[string]any{"userId": user}} }
	blocked, _ := s.ask(t, s.ada, unblock, of(s.ids["hal"]))
	missing, _ := s.ask(t, s.ada, unblock, of(missingID("user")))
	if blocked != missing {
		t.Errorf("unblocking a deleted user:\n%s\nand one who never existed:\n%s", blocked, missing)
	}
	if err := social.WorkOff(t.Context(), st); err != nil {
		t.Fatal(err)
	}
	t.Run("after the removal", s.deletedAreMissing)
}

// leaveThingsBehind lets gil and hal do things that will be hidden.
func (s *secrets) leaveThingsBehind(t *testing.T) {
	t.Helper()
	for _, handle := range []string{"gil", "hal"} {
		s.add(t, handle, handle, `{ viewer { user { id } } }`)
	}
	s.hidden["gil"] = secret{kind: "user", signedOut: true}
	s.add(t, "gilCircle", "gil", `mutation { createCircle(input: {name: "Friends"}) { circle { id } } }`)
	s.hidden["gilCircle"] = secret{kind: "circle", signedOut: true}
	s.act(t, "gil", `mutation { a: followUser(input: {userId: "$ada"}) { userErrors { code } } b: setProfileProperty(input: {key: "city", value: "Oslo"}) { userErrors { code } } }`)
	s.act(t, "ada", `mutation { a: followUser(input: {userId: "$gil"}) { userErrors { code } } b: blockUser(input: {userId: "$hal"}) { userErrors { code } } }`)
	poll := `mutation { createPost(input: {content: {poll: {question: "secret", options: ["a", "b"]}}, audience: {kind: PUBLIC}%s}) { post { id } } }`
	s.post(t, "gils", "gil", fmt.Sprintf(poll, ""), true)
	s.post(t, "gilsOnAdasWall", "gil", fmt.Sprintf(poll, `, wallOwnerId: "$ada"`), true)
	s.comment(t, "adasOnGils", "ada", "gils", true)
	s.comment(t, "gilsComment", "gil", "post", true)
}

func (s *secrets) deletedAreMissing(t *testing.T) {
	t.Helper()
	s.hiddenAreMissing(t, "gil", "password of gil")
	cities := `{ users(where: [{key: "city", equals: "Oslo"}]) { nodes { id } } viewer { news { nodes { author { handle } } } wall { nodes { author { handle } } }
		user { followers { nodes { handle } } following { nodes { handle } } } circles { nodes { members { nodes { handle } } } } blockedUsers { nodes { handle } } } }`
	if answer := s.ada.Raw(t, cities); strings.Contains(answer, "gil") || strings.Contains(answer, "hal") || strings.Contains(answer, "secret") {
		t.Errorf("the deleted user is in the answer: %s", answer)
	}
}

// hiddenAreMissing checks that the answers about all that is hidden, about gil, and to a sign-in
// are those about what never existed.
func (s *secrets) hiddenAreMissing(t *testing.T, handle, password string) {
	t.Helper()
	signedOut := plazatest.Person{URL: s.plaza.URL}
	for _, name := range slices.Sorted(maps.Keys(s.hidden)) {
		for _, q := range s.questions(t, s.hidden[name].kind, s.ids[name]) {
			s.mustBeAlike(t, s.ada, q)
		}
		for _, q := range s.queries(s.hidden[name].kind, s.ids[name]) {
			s.mustBeAlike(t, signedOut, q)
		}
	}
	signIn := `mutation($of: String!) { signIn(input: {handle: $of, password: "` + password + `"}) { token userErrors { code message path } } }`
	for name, asked := range map[string]struct{ operation, hidden string }{
		"handle":  {`query($of: String!) { user(handle: $of) { id followersCount wall { nodes { id } } posts { nodes { id } } } }`, "gil"},
		"name":    {`query($of: String!) { usersByName(startsWith: $of) { nodes { id } pageInfo { endCursor hasNextPage } } }`, "gil"},
		"sign-in": {signIn, handle},
	} {
		for _, p := range []plazatest.Person{s.ada, signedOut} {
			s.mustBeAlike(t, p, question{name, asked.operation, map[string]any{"of": asked.hidden}, map[string]any{"of": "unknown"}})
		}
	}
}

// leaving is a store where users delete their accounts right before they are read.
type leaving struct {
	storage.Store

	who atomic.Pointer[social.UserID]
}

// Users implements social.Users.
func (s *leaving) Users(ctx context.Context, ids []social.UserID) (map[social.UserID]*social.User, error) {
	if err := s.leave(ctx, ids); err != nil {
		return nil, err
	}
	return s.Store.Users(ctx, ids)
}

// People implements social.Graph.
func (s *leaving) People(ctx context.Context, viewer social.UserID, ids []social.UserID) (map[social.UserID]social.Person, error) {
	if err := s.leave(ctx, ids); err != nil {
		return nil, err
	}
	return s.Store.People(ctx, viewer, ids)
}

func (s *leaving) leave(ctx context.Context, ids []social.UserID) error {
	who := s.who.Load()
	if who == nil || !slices.Contains(ids, *who) || !s.who.CompareAndSwap(who, nil) {
		return nil
	}
	return s.DeleteUser(ctx, *who, social.Event{ID: social.EventID{ID: id.New()}, Kind: social.EventUserDeleted, Target: *who})
}

// TestAuthorIsDeletedWhileAPageIsRead checks that the page keeps the posts of all other authors.
func TestAuthorIsDeletedWhileAPageIsRead(t *testing.T) {
	t.Parallel()
	st := &leaving{Store: plazatest.Engines[0].Open(t)}
	plaza := plazatest.ServeUncached(t, st)
	ada := plaza.As(t, "ada")
	for i, handle := range []string{"ben", "cyn", "dan"} {
		author := plaza.As(t, handle)
		ada.Follow(t, handle)
		author.Status(t, fmt.Sprint("hello ", i), plazatest.Public)
	}
	goes := func(handle string) {
		t.Helper()
		users, err := st.UsersByHandle(t.Context(), []string{handle})
		if err != nil || users[handle] == nil {
			t.Fatal(users, err)
		}
		st.who.Store(&users[handle].ID)
	}
	goes("cyn")
	answer := ada.Raw(t, `{ viewer { news { nodes { author { handle } } edges { cursor sponsored { id } node { author { handle } } } } } }`)
	if strings.Contains(answer, "errors") || strings.Contains(answer, `"cyn"`) || strings.Count(answer, `"ben"`) != 2 || strings.Count(answer, `"dan"`) != 2 {
		t.Errorf("the page: %s", answer)
	}
	var one struct {
		Viewer struct {
			News struct{ Nodes []struct{ ID string } }
		}
	}
	ada.Do(t, `{ viewer { news(first: 1) { nodes { id } } } }`, nil, &one)
	goes("dan")
	answer = ada.Raw(t, fmt.Sprintf(`{ node(id: %q) { ... on Post { author { handle } } } }`, one.Viewer.News.Nodes[0].ID))
	if !strings.Contains(answer, `"NOT_FOUND"`) || strings.Contains(answer, `"dan"`) {
		t.Errorf("the post: %s", answer)
	}
}
