package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2/ast"

	"plaza/fault"
	"plaza/internal/plazatest"
	"plaza/social"
	"plaza/social/accounts"
	"plaza/social/network"
	"plaza/storage"
)

// accessToken is an entry of Viewer.accessTokens, and the program that uses it.
type accessToken struct {
	ID, Name             string
	Scopes               []string
	CreatedAt, ExpiresAt time.Time
	LastUsedAt           *time.Time

	program plazatest.Person
}

func newAccessToken(t testing.TB, p plazatest.Person, scopes ...string) accessToken {
	t.Helper()
	var answer struct {
		CreateAccessToken struct {
			Token       string
			AccessToken accessToken
			UserErrors  []struct{ Message string }
		}
	}
	p.Do(t, `mutation($in: CreateAccessTokenInput!) { createAccessToken(input: $in) {
		token accessToken { id name scopes createdAt expiresAt lastUsedAt } userErrors { message } } }`,
		map[string]any{"in": map[string]any{"name": "robot", "scopes": append([]string{}, scopes...)}}, &answer)
	created := answer.CreateAccessToken
	if !strings.HasPrefix(created.Token, "plaza_") {
		t.Fatalf("the token is %q: %v", created.Token, created.UserErrors)
	}
	created.AccessToken.program = plazatest.Person{URL: p.URL, Token: created.Token}
	return created.AccessToken
}

func accessTokensOf(t *testing.T, p plazatest.Person) []accessToken {
	t.Helper()
	var answer struct {
		Viewer struct{ AccessTokens []accessToken }
	}
	p.Do(t, `{ viewer { accessTokens { id name scopes createdAt expiresAt lastUsedAt } } }`, nil, &answer)
	return answer.Viewer.AccessTokens
}

// openMutations need no scope: they need no session, or are as open to programs as to pages.
var openMutations = []string{"signUp", "signIn", "signInWithIdToken", "recordAdImpression", "recordAdConversion"}

// TestScopesOfAllFields sends every field that has a scope with a token that has all other scopes,
// and with one that has all scopes, also where a document hides the field.
func TestScopesOfAllFields(t *testing.T) {
	t.Parallel()
	w := newWorld(t, plazatest.Start(t, plazatest.Engines[0]))
	without := map[string]plazatest.Person{"": newAccessToken(t, w.ada, allScopes()...).program}
	for _, scope := range allScopes() {
		without[scope] = newAccessToken(t, w.ada, scopesWithout(scope)...).program
	}
	before, inputs := w.dump(t), w.inputs()
	found := 0
	for _, def := range schema.Types {
		isRoot := slices.Contains([]*ast.Definition{schema.Query, schema.Mutation, schema.Subscription}, def)
		for _, f := range def.Fields {
			needs, has := scopeOf(f)
			if !has {
				if isRoot && !slices.Contains(openMutations, f.Name) && !strings.HasPrefix(f.Name, "__") {
					t.Errorf("%s.%s needs @scope", def.Name, f.Name)
				}
				continue
			}
			found++
			if len(def.Interfaces) > 0 || def.Kind != ast.Object {
				t.Errorf("%s.%s is selected through interfaces, which have no scope", def.Name, f.Name)
			}
			variables := map[string]any{}
			if f.Arguments.ForName("input") != nil {
				variables["in"] = inputs[f.Name][0]
			}
			for _, operation := range hiding(t, def, f) {
				mustBeForbidden(t, without[needs], operation, variables)
			}
		}
	}
	if found < 70 {
		t.Errorf("only %d fields have a scope", found)
	}
	w.mustBeAs(t, before)
	const manage = `{ adManager { __typename } }`
	if v := verdictOf(t, without[""], manage, nil, ""); v.code != "" {
		t.Errorf("with all scopes: %+v", v)
	}
	if v := verdictOf(t, newAccessToken(t, w.plaza.As(t, "bob"), "MANAGE_ADS").program, manage, nil, ""); v.code != "FORBIDDEN" {
		t.Errorf("with the scope, and without the right: %+v", v)
	}
}

// scopeOf returns the scope that a field needs; "": no access token may select it. False: every token
// may.
func scopeOf(f *ast.FieldDefinition) (needs string, has bool) {
	scope := f.Directives.ForName("scope")
	if scope == nil {
		return "", false
	}
	if argument := scope.Arguments.ForName("needs"); argument != nil {
		needs = argument.Value.Raw
	}
	return needs, true
}

func allScopes() (all []string) {
	for _, scope := range schema.Types["Scope"].EnumValues {
		all = append(all, scope.Name)
	}
	return all
}

// scopesWithout returns all scopes but one, and those that include it.
func scopesWithout(scope string) []string {
	including := map[string][]string{"READ_PUBLIC": {"READ_FEED", "MODERATE"}, "READ_FEED": {"MODERATE"}}[scope]
	return slices.DeleteFunc(allScopes(), func(other string) bool { return other == scope || slices.Contains(including, other) })
}

// hiding returns operations that select a field, directly, in fragments, and where it is skipped.
func hiding(t *testing.T, def *ast.Definition, f *ast.FieldDefinition) []string {
	t.Helper()
	field := f.Name + argumentsOf(f)
	if schema.Types[f.Type.Name()].IsCompositeType() {
		field += " { __typename }"
	}
	head, tail := "query ", ""
	switch {
	case def == schema.Subscription:
		head = "subscription "
	case def == schema.Mutation && len(f.Arguments) > 0:
		head = "mutation($in: " + f.Arguments[0].Type.String() + ") "
	case def == schema.Mutation:
		head = "mutation "
	case def != schema.Query:
		head, tail = "query { "+rootFieldOf(t, def)+" ", " }"
	}
	operations := []string{
		head + "{ " + field + " }" + tail,
		head + "{ ... { x: " + field + " } }" + tail,
		head + "{ ...a ...a }" + tail + " fragment a on " + def.Name + " { ...b } fragment b on " + def.Name + " { " + field + " }",
	}
	if def == schema.Subscription { // it selects one field, which can't be skipped
		return operations
	}
	return append(operations, head+"{ __typename "+strings.Replace(field, " {", " @skip(if: true) {", 1)+" }"+tail)
}

// argumentsOf returns the arguments that a field requires: the variable $in for an input, and
// otherwise a value of the type.
func argumentsOf(f *ast.FieldDefinition) string {
	var arguments []string
	for _, a := range f.Arguments {
		switch {
		case !a.Type.NonNull || a.DefaultValue != nil:
		case a.Name == "input":
			arguments = append(arguments, "input: $in")
		case a.Type.Elem != nil:
			arguments = append(arguments, a.Name+": []")
		default:
			arguments = append(arguments, a.Name+`: "x"`)
		}
	}
	if len(arguments) == 0 {
		return ""
	}
	return "(" + strings.Join(arguments, ", ") + ")"
}

// rootFieldOf returns the query that leads to an object without arguments.
func rootFieldOf(t *testing.T, def *ast.Definition) string {
	t.Helper()
	for _, f := range schema.Query.Fields {
		if f.Type.Name() == def.Name && len(f.Arguments) == 0 {
			return f.Name
		}
	}
	t.Fatalf("no query leads to %s: how are its fields selected?", def.Name)
	return ""
}

func mustBeForbidden(t *testing.T, p plazatest.Person, operation string, variables map[string]any) {
	t.Helper()
	if strings.HasPrefix(operation, "subscription") {
		socket := p.Connect(t)
		socket.Send("1", "subscribe", map[string]any{"query": operation})
		if m := socket.Next(); m.Type != "error" || !strings.Contains(string(m.Payload), `"FORBIDDEN"`) {
			t.Errorf("%s: %s %s", operation, m.Type, m.Payload)
		}
		return
	}
	if v := verdictOf(t, p, operation, variables, ""); v.code != "FORBIDDEN" {
		t.Errorf("%s: %.300s", operation, v.raw)
	}
}

// TestAccessTokens lets a program act for ada, until each of the ways in which that ends.
func TestAccessTokens(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada, bob := plaza.As(t, "ada"), plaza.As(t, "bob")
		token := newAccessToken(t, ada, "READ_FEED", "WRITE_POSTS")
		if lasts := token.ExpiresAt.Sub(token.CreatedAt); token.LastUsedAt != nil || lasts != 90*24*time.Hour || !slices.Equal(token.Scopes, []string{"READ_FEED", "WRITE_POSTS"}) {
			t.Errorf("a new token: %+v", token)
		}
		post := token.program.Status(t, "beep", map[string]any{"kind": "ONLY_ME"})
		mustBeForbidden(t, token.program, `mutation($in: FollowUserInput!) { deletePost(input: {postId: "`+post+`"}) { userErrors { code } } followUser(input: $in) { userErrors { code } } }`,
			map[string]any{"in": map[string]any{"userId": ada.IDOf(t, "bob")}})
		if posts := postsOf(t, token.program); posts != 1 {
			t.Errorf("the program reads %d of ada's posts", posts)
		}
		listed := accessTokensOf(t, ada)
		if len(listed) != 1 || listed[0].ID != token.ID || listed[0].Name != "robot" || listed[0].LastUsedAt == nil || len(sessionsOf(t, ada)) != 1 {
			t.Errorf("tokens %+v, sessions %+v", listed, sessionsOf(t, ada))
		}
		if len(accessTokensOf(t, bob)) > 0 {
			t.Error("bob sees ada's tokens")
		}

		socket := token.program.Connect(t)
		socket.Subscribe(plaza, "1", plazatest.NewsSubscription)
		ada.Mutate(t, "revokeAccessToken", "revokedAccessTokenId", map[string]any{"accessTokenId": token.ID})
		socket.MustClose()
		mustBeOver(t, token.program, "a revoked token")

		token = newAccessToken(t, ada, "READ_FEED")
		ada.Do(t, `mutation { revokeOtherSessions { userErrors { code } } }`, nil, nil)
		if posts := postsOf(t, token.program); posts != 1 {
			t.Errorf("after revokeOtherSessions the program reads %d posts", posts)
		}
		ada.Mutate(t, "changePassword", "", map[string]any{"currentPassword": "password of ada", "newPassword": "another password"})
		mustBeOver(t, token.program, "a token after a change of the password")
	})
}

// mustBeOver checks that a token is refused.
func mustBeOver(t *testing.T, p plazatest.Person, what string) {
	t.Helper()
	if response, answer := p.Send(t, []byte(`{"query":"{ viewer { id } }"}`)); response.StatusCode != http.StatusUnauthorized {
		t.Errorf("%s: status %d, %s", what, response.StatusCode, answer)
	}
}

// TestTokensAreNotKept: the answer for an idempotency key is stored, but without tokens.
func TestTokensAreNotKept(t *testing.T) {
	t.Parallel()
	ada := plazatest.Start(t, plazatest.Engines[0]).As(t, "ada")
	const create = `mutation { a: createAccessToken(input: {name: "robot", scopes: [READ_PUBLIC]}) { token userErrors { code } } }`
	mustHaveCode(t, keyed(t, ada, "key", create, nil), "", "a token with a key")
	mustHaveCode(t, keyed(t, ada, "key", create, nil), "ALREADY_DONE", "the same request again")
	if tokens := accessTokensOf(t, ada); len(tokens) != 1 {
		t.Errorf("ada has %d tokens, want one", len(tokens))
	}
}

// TestAccessTokensAreLimited tries to create more tokens than a user may have.
func TestAccessTokensAreLimited(t *testing.T) {
	t.Parallel()
	ada := plazatest.Start(t, plazatest.Engines[0]).As(t, "ada")
	for range 50 {
		newAccessToken(t, ada, "READ_PUBLIC")
	}
	v := verdictOf(t, ada, `mutation { createAccessToken(input: {name: "one more", scopes: [READ_PUBLIC]}) { userErrors { code message path } } }`, nil, "createAccessToken")
	if v.code != "LIMIT_REACHED" || len(accessTokensOf(t, ada)) != 50 {
		t.Errorf("the 51st: %+v", v)
	}
}

// ending is a store in which a session ends while it creates an access token.
type ending struct {
	storage.Store
	session social.Session
}

func (s ending) InsertAccessToken(ctx context.Context, token social.Session, most int) error {
	return errors.Join(s.Store.InsertAccessToken(ctx, token, most), s.DeleteSession(ctx, s.session.TokenHash, social.Event{Kind: social.EventSessionEnded}))
}

// TestEndedSessionsLeaveNoAccessToken: a session that is being ended must not leave a token behind.
func TestEndedSessionsLeaveNoAccessToken(t *testing.T) {
	t.Parallel()
	plaza := plazatest.Start(t, plazatest.Engines[0])
	service := network.New(plaza.Store, plazatest.Cheap)
	session, _, err := service.SignUp(t.Context(), accounts.SignUpInput{Handle: "ada", Name: "Ada", Password: "password of ada"})
	if err != nil {
		t.Fatal(err)
	}
	_, token, err := network.New(ending{plaza.Store, session}, plazatest.Cheap).CreateAccessToken(t.Context(), session, accounts.NewAccessToken{Name: "robot", Scopes: []social.Scope{social.ScopeReadFeed}, Days: 1})
	var mistake *fault.Error
	if !errors.As(err, &mistake) || mistake.Code != fault.CodeUnauthenticated {
		t.Errorf("creating a token: %v", err)
	}
	if _, err := service.Authenticate(t.Context(), token); err == nil {
		t.Error("the token is valid")
	}
}
