package cli

import (
	"strings"
	"testing"

	"plaza/internal/plazatest"
)

// TestReadingForMembers: a signed-out client can read nothing in any way, and can become a member.
func TestReadingForMembers(t *testing.T) {
	t.Parallel()
	server := plazatest.StartProcess(t, "--reading=members", "--oidc-provider=issuer=https://id.example,client-id=web", "--oidc-provider=issuer=https://id.example,client-id=app", "--drain-delay=0s")
	anyone := plazatest.Person{URL: server.URL(t)}
	var answer struct{ SignUp struct{ Token string } }
	anyone.Do(t, `mutation { signUp(input: {handle: "ada", name: "Ada", password: "analytical engine"}) { token viewer { user { handle } } } }`, nil, &answer)
	ada := plazatest.Person{URL: anyone.URL, Token: answer.SignUp.Token}
	ada.Status(t, "for members", plazatest.Public)
	const wall = `user(handle: "ada") { wall { nodes { text } } }`
	if said := ada.Raw(t, `{ `+wall+` }`); !strings.Contains(said, "for members") {
		t.Errorf("ada reads %s", said)
	}
	for _, query := range []string{
		`{ ` + wall + ` }`, `{ viewer { id } ...a } fragment a on Query { ... { x: ` + wall + ` } }`, `{ ads(site: "a.example", zone: "b") { why } }`,
		`{ node(id: "` + ada.IDOf(t, "ada") + `") { id } }`, `mutation { signOut { userErrors { code } } }`,
		`mutation { recordAdImpression(input: {token: "x"}) { userErrors { code } } }`,
	} {
		if said := anyone.Raw(t, query); !strings.Contains(said, `"UNAUTHENTICATED"`) || strings.Contains(said, `"data"`) {
			t.Errorf("%s: %s", query, said)
		}
	}
	for query, want := range map[string]string{
		`{ viewer { id } registration __typename }`: `"OPEN"`,
		`{ identityProviders { clientId } }`:        `"app"`,
		`mutation { signInWithIdToken(input: {idToken: "a.b.c", nonce: "the secret that a sign-in began with"}) { userErrors { code } } }`: `"BAD_CREDENTIALS"`,
		`{ __schema { queryType { name } } }`: `"Query"`,
		`mutation { signIn(input: {handle: "ada", password: "analytical engine"}) { viewer { user { handle } } } }`: `"ada"`,
	} {
		if said := anyone.Raw(t, query); !strings.Contains(said, want) || strings.Contains(said, "errors") {
			t.Errorf("%s: %s", query, said)
		}
	}
	var created struct{ Public, Writing struct{ Token string } }
	ada.Do(t, `mutation {
		public: createAccessToken(input: {name: "public", scopes: [READ_PUBLIC]}) { token }
		writing: createAccessToken(input: {name: "writing", scopes: [WRITE_POSTS]}) { token } }`, nil, &created)
	if said := (plazatest.Person{URL: ada.URL, Token: created.Public.Token}).Raw(t, `{ `+wall+` }`); !strings.Contains(said, "for members") {
		t.Errorf("a program with READ_PUBLIC reads %s", said)
	}
	if said := (plazatest.Person{URL: ada.URL, Token: created.Writing.Token}).Raw(t, `{ `+wall+` }`); !strings.Contains(said, `"FORBIDDEN"`) {
		t.Errorf("a program without READ_PUBLIC reads %s", said)
	}
	socket := anyone.Connect(t)
	socket.Send("1", "subscribe", map[string]string{"query": `subscription { wallPostAdded(userId: "` + ada.IDOf(t, "ada") + `") { post { text } } }`})
	if m := socket.Next(); m.Type != "error" || !strings.Contains(string(m.Payload), "UNAUTHENTICATED") {
		t.Errorf("a subscription: %s %s", m.Type, m.Payload)
	}
}
