package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"plaza/internal/plazatest"
)

// TestTokensReadLikeSignedOutUsers compares the answers for a token without READ_FEED with those for
// signed-out users, in a community in which its owner sees more than they do.
func TestTokensReadLikeSignedOutUsers(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada, bob := plaza.As(t, "ada"), plaza.As(t, "bob")
		plazatest.Grant(t, plaza, "GRANT: ads:manage ada")
		bob.Follow(t, "ada")
		ada.Follow(t, "bob")
		ada.Mutate(t, "muteUser", "", map[string]any{"userId": ada.IDOf(t, "bob")})
		public, diary := ada.Status(t, "public", plazatest.Public), ada.Status(t, "diary", map[string]any{"kind": "ONLY_ME"})
		comment := bob.Comment(t, public, "nice")
		signedOut, reader := plazatest.Person{URL: ada.URL}, newAccessToken(t, ada, "READ_PUBLIC", "WRITE_POSTS", "WRITE_GRAPH", "MANAGE_ADS").program
		var circle struct {
			Viewer struct {
				Circles struct{ Nodes []struct{ ID string } }
			}
		}
		ada.Do(t, `{ viewer { circles { nodes { id } } } }`, nil, &circle)
		for _, query := range []string{
			fmt.Sprintf(`{ nodes(ids: [%q, %q, %q, %q]) { id ... on Post { text viewerCanEdit viewerCanComment viewerReaction } } }`, public, diary, comment, circle.Viewer.Circles.Nodes[0].ID),
			fmt.Sprintf(`{ post(id: %q) { text comments { nodes { text viewerCanDelete author { handle viewerFollows isFollowingViewer viewerIsMuting } } } } }`, public),
			fmt.Sprintf(`{ post(id: %q) { id } }`, diary),
			`{ user(handle: "ada") { followers { nodes { handle } } posts { nodes { text } } wall { nodes { text } } viewerCanPostOnWall } }`,
			`{ usersByName(startsWith: "b") { nodes { handle viewerFollows viewerIsMuting } } }`,
			`query { ...a } fragment a on Query { user(handle: "bob") { comments { nodes { text viewerCanEdit viewerCanReply post { viewerReaction } } } } }`,
		} {
			if got, want := reader.Raw(t, query), signedOut.Raw(t, query); got != want || got == ada.Raw(t, query) || strings.Contains(got, "GRAPHQL_VALIDATION_FAILED") {
				t.Errorf("%s: the token reads %s\nsigned-out users read %s", query, got, want)
			}
		}
		if said := reader.Raw(t, `{ adManager { __typename } user(handle: "bob") { viewerFollows } }`); !strings.Contains(said, `"AdManager"`) || !strings.Contains(said, `"viewerFollows": false`) {
			t.Errorf("ads, next to what is public: %s", said)
		}
		for scopes, reads := range map[string]bool{"WRITE_POSTS": false, "MODERATE": true, "READ_FEED": true} {
			said := newAccessToken(t, ada, scopes).program.Raw(t, fmt.Sprintf(`{ post(id: %q) { text } }`, diary))
			if got := strings.Contains(said, "diary"); got != reads {
				t.Errorf("with %s: %s", scopes, said)
			}
		}
	})
}

// TestTokensWatchLikeSignedOutUsers: a subscription of a token without READ_FEED shows what is public,
// until the token is revoked.
func TestTokensWatchLikeSignedOutUsers(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada := plaza.As(t, "ada")
		diary := ada.Status(t, "diary", map[string]any{"kind": "ONLY_ME"})
		token := newAccessToken(t, ada, "READ_PUBLIC")
		socket := token.program.Connect(t)
		socket.Send("diary", "subscribe", map[string]any{"query": fmt.Sprintf(`subscription { commentAdded(postId: %q) { event } }`, diary)})
		if m := socket.Next(); m.Type != "error" || !strings.Contains(string(m.Payload), `"NOT_FOUND"`) {
			t.Errorf("the comments on a post for ada alone: %s %s", m.Type, m.Payload)
		}
		socket.Subscribe(plaza, "wall", fmt.Sprintf(`subscription { wallPostAdded(userId: %q) { post { text viewerCanEdit } } }`, ada.IDOf(t, "ada")))
		ada.Status(t, "another diary", map[string]any{"kind": "ONLY_ME"})
		ada.Status(t, "public", plazatest.Public)
		if m := socket.Next(); !strings.Contains(string(m.Payload), `{"text":"public","viewerCanEdit":false}`) {
			t.Errorf("want the public post, as signed-out users see it, got %s %s", m.Type, m.Payload)
		}
		ada.Mutate(t, "revokeAccessToken", "revokedAccessTokenId", map[string]any{"accessTokenId": token.ID})
		socket.MustClose()
	})
}

// TestPayloadsShowOnlyIDs selects each field of what the mutations return with a token that may not
// read it, also through fragments: nothing runs, and only ids are allowed.
func TestPayloadsShowOnlyIDs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, plazatest.Start(t, plazatest.Engines[0]))
	writer := newAccessToken(t, w.ada, scopesWithout("READ_FEED")...).program
	before, inputs := w.dump(t), w.inputs()
	tried := 0
	for _, mutation := range schema.Mutation.Fields {
		if needs, _ := scopeOf(mutation); !strings.HasPrefix(needs, "WRITE_") {
			continue
		}
		for _, object := range schema.Types[mutation.Type.Name()].Fields {
			if def := schema.Types[object.Type.Name()]; def.IsCompositeType() && def.Name != "UserError" {
				for _, selection := range beyondIDs(def) {
					tried++
					operation := fmt.Sprintf("mutation($in: %s) { %s(input: $in) { %s %s } } fragment f on Node { ... on Post { text } }",
						mutation.Arguments[0].Type, mutation.Name, object.Name, selection)
					if !strings.Contains(selection, "...f") {
						operation, _, _ = strings.Cut(operation, " fragment")
					}
					mustBeForbidden(t, writer, operation, map[string]any{"in": inputs[mutation.Name][0]})
				}
			}
		}
	}
	if tried < 300 {
		t.Errorf("only %d selections were tried", tried)
	}
	w.mustBeAs(t, before)
	const both = `mutation {
		ads: createAdvertiser(input: {name: "Acme"}) { advertiser { id name } userErrors { code } }
		post: createPost(input: {content: {status: {text: "beep"}}, audience: {kind: PUBLIC}}) { post { ...a id } newsEdge { node { ... on Node { id } } } userErrors { code message path } } }
		fragment a on Node { __typename id }`
	if said := writer.Raw(t, both); !strings.Contains(said, `"Acme"`) || !strings.Contains(said, `"StatusPost"`) || strings.Contains(said, `"errors"`) {
		t.Errorf("ads, and the ids of a post: %s", said)
	}
}

// beyondIDs returns a selection of each field of an object but its id, and selections that hide one.
func beyondIDs(def *ast.Definition) []string {
	if def.Name == "PostEdge" || def.Name == "CommentEdge" || def.Name == "CircleEdge" {
		return []string{"{ node { id createdAt } }", "{ cursor node { ... { ... { id x: createdAt } } } }"}
	}
	var selections []string
	for _, f := range def.Fields {
		if f.Name == "id" || strings.HasPrefix(f.Name, "__") {
			continue
		}
		selection := f.Name + argumentsOf(f)
		if schema.Types[f.Type.Name()].IsCompositeType() {
			selection += " { __typename }"
		}
		selections = append(selections, "{ id "+selection+" }", "{ ... { x: "+strings.Replace(selection, " {", " @skip(if: true) {", 1)+" } }")
	}
	if def.Name == "Post" {
		selections = append(selections, "{ ...f ...f }")
	}
	return selections
}
