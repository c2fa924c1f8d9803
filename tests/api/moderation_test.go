package api

import (
	"fmt"
	"strings"
	"testing"

	"plaza/internal/plazatest"
	"plaza/social"
	"plaza/social/network"
)

// TestReportsAreLimited: a user makes as many reports within a day as the limit says, and others
// still can.
func TestReportsAreLimited(t *testing.T) {
	t.Parallel()
	plaza := plazatest.Start(t, plazatest.Engines[0])
	ada, bob := plaza.As(t, "ada"), plaza.As(t, "bob")
	var last string
	report := func(p plazatest.Person) string {
		var answer struct {
			CreatePost struct{ Post struct{ ID string } }
		}
		plaza.As(t, "cyn").Do(t, `mutation { createPost(input: {content: {status: {text: "x"}}, audience: {kind: PUBLIC}}) { post { id } } }`, nil, &answer)
		last = answer.CreatePost.Post.ID
		return p.Raw(t, fmt.Sprintf(`mutation { report(input: {subjectId: %q, reason: SPAM}) { reportedId userErrors { code } } }`, last))
	}
	for i := range social.MaxReportsPerDay {
		if answer := report(ada); !strings.Contains(answer, last) {
			t.Fatalf("report %d: %s", i, answer)
		}
	}
	if answer := report(ada); !strings.Contains(answer, "LIMIT_REACHED") || strings.Contains(answer, last) {
		t.Errorf("one report more: %s", answer)
	}
	if answer := report(bob); !strings.Contains(answer, last) {
		t.Errorf("another user's report: %s", answer)
	}
}

// TestModeratorsNeedRightAndScope: a program moderates with the scope of a user with the right, and
// not after the right is revoked.
func TestModeratorsNeedRightAndScope(t *testing.T) {
	t.Parallel()
	plaza := plazatest.Start(t, plazatest.Engines[0])
	mia := plaza.As(t, "mia")
	const queue = `{ moderation { cases { nodes { id } } } }`
	scoped, other := newAccessToken(t, mia, "MODERATE").program, newAccessToken(t, mia, "MANAGE_ADS", "ADMIN").program
	for _, program := range []plazatest.Person{scoped, other, mia} {
		if v := verdictOf(t, program, queue, nil, ""); v.code != "FORBIDDEN" {
			t.Errorf("without the right: %+v", v)
		}
	}
	plazatest.Grant(t, plaza, "GRANT: moderate mia")
	for _, program := range []plazatest.Person{scoped, mia} {
		if v := verdictOf(t, program, queue, nil, ""); v.code != "" {
			t.Errorf("with the right: %+v", v)
		}
	}
	if v := verdictOf(t, other, queue, nil, ""); v.code != "FORBIDDEN" {
		t.Errorf("with the right, without the scope: %+v", v)
	}
	if _, err := network.New(plaza.Store, network.Options{}).RevokeRight(t.Context(), "mia", social.RightModerate); err != nil {
		t.Fatal(err)
	}
	if v := verdictOf(t, mia, queue, nil, ""); v.code != "FORBIDDEN" {
		t.Errorf("when the right is revoked: %+v", v)
	}
}
