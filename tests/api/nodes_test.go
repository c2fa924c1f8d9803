package api

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"plaza/internal/plazatest"
)

// noNodes are the types with an id that are not a Node, and why.
var noNodes = map[string]string{
	"AdChoice":           "each request makes a new one",
	"AdRefund":           "it is read with its campaign's",
	"AuditEntry":         "its id is that of a decision, of which its author sees a part",
	"ModerationDecision": "the same",
	"ReportedUser":       "its id is the user's",
	"PollOption":         "it is a part of its post",
	"Viewer":             "its id is for clients' caches",
}

// TestTypesWithAnIDAreNodes, unless they say in the description of the id why they are not.
func TestTypesWithAnIDAreNodes(t *testing.T) {
	t.Parallel()
	for _, def := range schema.Types {
		if def.Kind != ast.Object || def.Fields.ForName("id") == nil || def.Fields.ForName("id").Type.Name() != "ID" {
			continue
		}
		_, isExcepted := noNodes[def.Name]
		if isNode := slices.Contains(def.Interfaces, "Node"); isNode == isExcepted {
			t.Errorf("%s: is a Node: %v, is an exception: %v", def.Name, isNode, isExcepted)
		}
		if described := strings.Contains(strings.ToLower(def.Fields.ForName("id").Description), "`node`"); isExcepted && !described {
			t.Errorf("%s.id does not mention that `node` does not find it", def.Name)
		}
	}
}

// TestNodesOfFew: objects that only some viewers see are found by id for them, and do not exist for
// all others: those without the right, signed-out ones, and programs without the scope.
func TestNodesOfFew(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		w := newWorld(t, plazatest.Start(t, e))
		w.act(t, "ada", `mutation { updateAdvertiser(input: {advertiserId: "$advertiser", name: "Acme Sons"}) { userErrors { code } } }`)
		manager, moderator := newAccessToken(t, w.ada, "READ_PUBLIC", "MANAGE_ADS").program, newAccessToken(t, w.ada, "READ_PUBLIC", "MODERATE").program
		everything := newAccessToken(t, w.ada, allScopes()...).program
		bob, anyone := w.plaza.As(t, "bob"), plazatest.Person{URL: w.ada.URL}
		for _, test := range []struct {
			kind, id, fields, want string
			seen                   []plazatest.Person
		}{
			{"advertiser", w.ids["advertiser"], "... on Advertiser { name }", `"name": "Acme Sons"`, []plazatest.Person{w.ada, manager, everything}},
			{"campaign", w.ids["campaign"], "... on AdCampaign { name spent }", `"name": "Spring"`, []plazatest.Person{w.ada, manager, everything}},
			{"ad", w.ids["unit"], "... on AdUnit { preview { advertiser } }", `"advertiser": "Acme Sons"`, []plazatest.Person{w.ada, manager, everything}},
			{"case", w.ids["case"], "... on ModerationCase { latestReports { reason } }", `"reason": "SPAM"`, []plazatest.Person{w.ada, moderator, everything}}, // about bob
			{"case", w.ids["decided"], "... on ModerationCase { state }", `"state": "DECIDED"`, []plazatest.Person{bob}},                                        // about ada
			{"session", w.session, "... on Session { isCurrent }", `"isCurrent": false`, []plazatest.Person{w.ada}},
			{"token", w.accessToken, "... on AccessToken { scopes }", `"MANAGE_ADS"`, []plazatest.Person{w.ada}},
			{"invitation", w.invitation, "... on Invitation { isUsed }", `"isUsed": false`, []plazatest.Person{w.ada}},
		} {
			for _, p := range []plazatest.Person{w.ada, bob, anyone, manager, moderator, everything} {
				query := fmt.Sprintf(`{ node(id: %%q) { id __typename %s } }`, test.fields)
				got, missing := p.Raw(t, fmt.Sprintf(query, test.id)), p.Raw(t, fmt.Sprintf(query, missingID(test.kind)))
				switch sees := slices.Contains(test.seen, p); {
				case sees && (!strings.Contains(got, test.want) || !strings.Contains(got, test.id)):
					t.Errorf("a %s is %s", test.kind, got)
				case !sees && got != missing:
					t.Errorf("a hidden %s is %s, a missing one %s", test.kind, got, missing)
				}
			}
		}
	})
}
