package api

import (
	"fmt"
	"maps"
	"slices"
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

// TestTheAuditLogNeedsTheScopeOfAdministrators, beside the one that leads to it.
func TestTheAuditLogNeedsTheScopeOfAdministrators(t *testing.T) {
	t.Parallel()
	plaza := plazatest.Start(t, plazatest.Engines[0])
	ada := plaza.As(t, "ada")
	plazatest.Grant(t, plaza, "GRANT: admin ada")
	const log = `{ moderation { auditLog { nodes { id } } } }`
	for code, scopes := range map[string][]string{"": {"MODERATE", "ADMIN"}, "FORBIDDEN": {"MODERATE"}} {
		if v := verdictOf(t, newAccessToken(t, ada, scopes...).program, log, nil, ""); v.code != code {
			t.Errorf("with the scopes %v: %+v", scopes, v)
		}
	}
}

// startModerated starts a server with two people, and mia, who is a moderator.
func startModerated(t *testing.T, e plazatest.Engine) (plaza *plazatest.Plaza, ada, bob, mia plazatest.Person) {
	t.Helper()
	plaza = plazatest.Start(t, e)
	ada, bob, mia = plaza.As(t, "ada"), plaza.As(t, "bob"), plaza.As(t, "mia")
	plazatest.Grant(t, plaza, "GRANT: moderate mia")
	return plaza, ada, bob, mia
}

// reportAbuse reports a post or comment.
func reportAbuse(t *testing.T, by plazatest.Person, subject string) {
	t.Helper()
	by.Raw(t, fmt.Sprintf(`mutation { report(input: {subjectId: %q, reason: ABUSE}) { reportedId } }`, subject))
}

// decide lets a moderator HIDE or RESTORE a post or comment that was reported.
func decide(t *testing.T, moderator plazatest.Person, subject, decision string) {
	t.Helper()
	_, id, _ := strings.Cut(subject, "_")
	answer := moderator.Raw(t, fmt.Sprintf(`mutation { decideCase(input: {caseId: "case_%s", decision: %s, reason: "Rude"}) { case { isHidden } userErrors { code } } }`, id, decision))
	if !strings.Contains(answer, fmt.Sprintf(`"isHidden": %v`, decision == "HIDE")) {
		t.Fatalf("%s: %s", decision, answer)
	}
}

// TestHiddenCommentsLeaveOpenPages: who watches a thread loses a comment when moderators hide it, or
// sees a tombstone if it has replies, and gets it back when they restore it. Its author loses nothing.
func TestHiddenCommentsLeaveOpenPages(t *testing.T) {
	t.Parallel()
	plazatest.ForEachEngine(t, func(t *testing.T, e plazatest.Engine) {
		plaza, ada, bob, mia := startModerated(t, e)
		post := ada.Status(t, "talk", plazatest.Public)
		single, answered := bob.Comment(t, post, "rude"), bob.Comment(t, post, "rude")
		ada.Mutate(t, "addComment", "", map[string]any{"postId": post, "text": "reply", "parentId": answered})
		mark := ada.Comment(t, post, "mark")
		readers := map[string]*plazatest.Socket{"ada": ada.Connect(t), "": plazatest.Person{URL: ada.URL}.Connect(t)}
		author := bob.Connect(t)
		for _, s := range append(slices.Collect(maps.Values(readers)), author) {
			s.Subscribe(plaza, "1", `subscription { commentChanged(postId: "`+post+`") { event commentId comment { text isDeleted } } }`)
		}
		for _, comment := range []string{single, answered} {
			reportAbuse(t, ada, comment)
			decide(t, mia, comment, "HIDE")
		}
		ada.Mutate(t, "editComment", "", map[string]any{"commentId": mark, "text": "edited"})
		for who, s := range readers {
			want := fmt.Sprintf(`{"data":{"commentChanged":{"event":"REMOVED","commentId":%q,"comment":null}}`, single)
			if _, got := nextCommentChange(t, s); got != want {
				t.Errorf("%q gets %s, want %s", who, got, want)
			}
			if got, raw := nextCommentChange(t, s); got.Event != "CHANGED" || got.CommentID != answered || !got.Comment.IsDeleted || got.Comment.Text != nil {
				t.Errorf("%q gets %s for a comment with replies", who, raw)
			}
			if got, raw := nextCommentChange(t, s); got.CommentID != mark {
				t.Errorf("%q gets %s", who, raw)
			}
		}
		if got, raw := nextCommentChange(t, author); got.CommentID != mark {
			t.Errorf("the author gets %s", raw)
		}
		for _, comment := range []string{single, answered} {
			decide(t, mia, comment, "RESTORE")
			for who, s := range readers {
				if got, raw := nextCommentChange(t, s); got.CommentID != comment || got.Comment == nil || got.Comment.Text == nil || *got.Comment.Text != "rude" {
					t.Errorf("%q gets %s when it is restored", who, raw)
				}
			}
		}
	})
}

// TestCasesOfDeletedAccounts: moderators see no more of what a deleted account wrote than everyone
// else, also before background work has removed it.
func TestCasesOfDeletedAccounts(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		st := plazatest.NewResting(e.Open(t))
		plaza := plazatest.Serve(t, st)
		ada, bob, mia := plaza.As(t, "ada"), plaza.As(t, "bob"), plaza.As(t, "mia")
		plazatest.Grant(t, plaza, "GRANT: moderate mia")
		post := ada.Status(t, "rude post", plazatest.Public)
		comment := ada.Comment(t, post, "rude comment")
		reportAbuse(t, bob, post)
		reportAbuse(t, bob, comment)
		const cases = `{ moderation { cases { nodes { author { handle } content { text } isHidden } } } }`
		must(t, mia.Raw(t, cases), `{"author":{"handle":"ada"},"content":{"text":"rude post"},"isHidden":false}`)
		close(st.Rest)
		ada.Mutate(t, "deleteAccount", "", map[string]any{"password": "password of ada"})
		if got := mia.Raw(t, cases); strings.Contains(got, "rude") {
			t.Errorf("moderators see %s", got)
		}
		_, id, _ := strings.Cut(post, "_")
		hide := mia.Raw(t, fmt.Sprintf(`mutation { decideCase(input: {caseId: "case_%s", decision: HIDE, reason: "Rude"}) { userErrors { code } } }`, id))
		must(t, hide, `"NOT_FOUND"`)
	})
}

// TestRepliesUnderHiddenCommentsAreDeleted: a hidden comment is a tombstone with one reply fewer,
// and disappears with its last one, for everyone but its author.
func TestRepliesUnderHiddenCommentsAreDeleted(t *testing.T) {
	t.Parallel()
	plazatest.ForEachEngine(t, func(t *testing.T, e plazatest.Engine) {
		plaza, ada, bob, mia := startModerated(t, e)
		post := ada.Status(t, "talk", plazatest.Public)
		hidden := bob.Comment(t, post, "rude")
		reply := func() string {
			return ada.Mutate(t, "addComment", "comment { id }", map[string]any{"postId": post, "text": "reply", "parentId": hidden})
		}
		first, last := reply(), reply()
		reportAbuse(t, ada, hidden)
		decide(t, mia, hidden, "HIDE")
		readers := map[string]*plazatest.Socket{"ada": ada.Connect(t), "": plazatest.Person{URL: ada.URL}.Connect(t)}
		author := bob.Connect(t)
		for _, s := range append(slices.Collect(maps.Values(readers)), author) {
			s.Subscribe(plaza, "1", `subscription { commentChanged(postId: "`+post+`") { event commentId comment { text repliesCount } } }`)
		}
		wants := func(who string, s *plazatest.Socket, event, id, comment string) {
			t.Helper()
			want := fmt.Sprintf(`{"data":{"commentChanged":{"event":%q,"commentId":%q,"comment":%s}}`, event, id, comment)
			if _, got := nextCommentChange(t, s); got != want {
				t.Errorf("%s gets %s, want %s", who, got, want)
			}
		}
		deletes := func(reply string) string {
			return ada.Raw(t, fmt.Sprintf(`mutation { deleteComment(input: {commentId: %q}) { removedCommentIds parent { id repliesCount } } }`, reply))
		}
		must(t, deletes(first), fmt.Sprintf(`{"removedCommentIds":[%q],"parent":{"id":%q,"repliesCount":1}}`, first, hidden))
		for who, s := range readers {
			wants(who, s, "REMOVED", first, "null")
			wants(who, s, "CHANGED", hidden, `{"text":null,"repliesCount":1}`)
		}
		wants("the author", author, "REMOVED", first, "null")
		wants("the author", author, "CHANGED", hidden, `{"text":"rude","repliesCount":1}`)
		must(t, deletes(last), fmt.Sprintf(`{"removedCommentIds":[%q,%q],"parent":null}`, last, hidden))
		for who, s := range readers {
			wants(who, s, "REMOVED", last, "null")
			wants(who, s, "REMOVED", hidden, "null")
		}
		wants("the author", author, "REMOVED", last, "null")
		wants("the author", author, "CHANGED", hidden, `{"text":"rude","repliesCount":0}`)
	})
}

// TestNothingIsWrittenUnderHiddenPosts: the author can't edit comments there, because RESTORE would
// publish that. Comments can be deleted.
func TestNothingIsWrittenUnderHiddenPosts(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		_, ada, bob, mia := startModerated(t, e)
		post := ada.Status(t, "talk", plazatest.Public)
		comment := ada.Comment(t, post, "fine")
		reportAbuse(t, bob, post)
		rights := `{ node(id: "` + comment + `") { ... on Comment { text viewerCanReply viewerCanEdit viewerCanDelete } } }`
		must(t, ada.Raw(t, rights), `"text":"fine","viewerCanReply":true,"viewerCanEdit":true,"viewerCanDelete":true`)
		must(t, bob.Raw(t, rights), `"text":"fine","viewerCanReply":true,"viewerCanEdit":false,"viewerCanDelete":false`)
		decide(t, mia, post, "HIDE")
		must(t, ada.Raw(t, rights), `"text":"fine","viewerCanReply":false,"viewerCanEdit":false,"viewerCanDelete":true`)
		must(t, ada.Raw(t, `mutation { editComment(input: {commentId: "`+comment+`", text: "rude"}) { userErrors { code path } } }`),
			`[{"code":"NOT_ALLOWED","path":["input","commentId"]}]`)
		decide(t, mia, post, "RESTORE")
		must(t, bob.Raw(t, rights), `"text":"fine"`)
	})
}

// TestHiddenPostsLeaveOpenPages: who watches a post loses it when moderators hide it, also the owner
// of its wall, and gets it back when they restore it. Its author keeps it, but can't open it again.
func TestHiddenPostsLeaveOpenPages(t *testing.T) {
	t.Parallel()
	plazatest.ForEachEngine(t, func(t *testing.T, e plazatest.Engine) {
		_, ada, bob, mia := startModerated(t, e)
		var owner struct {
			Viewer struct{ User struct{ ID string } }
		}
		bob.Do(t, `{ viewer { user { id } } }`, nil, &owner)
		post := ada.Mutate(t, "createPost", "post { id }", map[string]any{
			"content": map[string]any{"status": map[string]any{"text": "Buy"}}, "audience": plazatest.Public, "wallOwnerId": owner.Viewer.User.ID,
		})
		watching := map[string]*plazatest.Socket{"the owner of the wall": watchPost(t, bob, post), "someone signed out": watchPost(t, plazatest.Person{URL: ada.URL}, post)}
		author := watchPost(t, ada, post)
		bob.Raw(t, fmt.Sprintf(`mutation { report(input: {subjectId: %q, reason: SPAM}) { reportedId } }`, post))
		decide(t, mia, post, "HIDE")
		for who, socket := range watching {
			if change := nextChange(t, socket); change.Event != "REMOVED" || change.PostID != post {
				t.Errorf("%s gets %s", who, change.raw)
			}
		}
		if change := nextChange(t, author); change.Post == nil || !strings.Contains(change.raw, "ONLY_ME") {
			t.Errorf("the author gets %s", change.raw)
		}
		open := ada.Raw(t, fmt.Sprintf(`mutation { setPostAudience(input: {postId: %q, audience: {kind: PUBLIC}}) { post { id } userErrors { code } } }`, post))
		if !strings.Contains(open, "NOT_ALLOWED") {
			t.Errorf("the author opens it again: %s", open)
		}
		decide(t, mia, post, "RESTORE")
		for who, socket := range watching {
			if change := nextChange(t, socket); change.Post == nil || change.Post.Text != "Buy" {
				t.Errorf("%s gets %s when it is restored", who, change.raw)
			}
		}
	})
}
