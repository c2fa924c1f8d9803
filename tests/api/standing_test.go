package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"plaza/fault"
	"plaza/internal/app"
	"plaza/internal/plazatest"
	"plaza/internal/testtime"
	"plaza/social"
	"plaza/social/accounts"
	"plaza/social/network"
	"plaza/storage"
)

const deactivate = `mutation { deactivateAccount(input: {password: "password of %s"}) { deactivatedUserId userErrors { code message path } } }`

// sanction carries a decision out as an operator does, on another server.
func sanction(t *testing.T, st storage.Store, handle string, d social.Decision) {
	t.Helper()
	d.Reason = "Adverts"
	if _, err := network.New(st, network.Options{}).Sanction(t.Context(), handle, d); err != nil {
		t.Fatal(err)
	}
}

// TestAwayIsMissing requests objects of a user who has deactivated the account, and of one who is
// banned. The answers are the same as for objects that never existed: the same bytes, by the same
// commands. When both are back, so is all that they had.
func TestAwayIsMissing(t *testing.T) {
	requireCleanLog(t)
	forEachCounted(t, awayIsMissing)
}

func awayIsMissing(t *testing.T, st storage.Store, sent *commands) {
	s := &secrets{newWorld(t, plazatest.ServeCounted(t, st)), sent, map[string]secret{}}
	s.leaveThingsBehind(t)
	s.act(t, "ada", `mutation { unblockUser(input: {userId: "$hal"}) { userErrors { code } } }`)
	s.hidden["hal"] = secret{kind: "user", signedOut: true}
	s.comment(t, "halsComment", "hal", "post", true)
	all := `{ user(handle: "gil") { id name followersCount posts { nodes { id commentCount latestComments { id } } } followers { nodes { handle } } following { nodes { handle } } }
		viewer { news { nodes { id } } wall { nodes { id } } } post(id: "` + s.ids["post"] + `") { comments { nodes { id author { handle } } } } }`
	before := s.ada.Raw(t, all)
	s.act(t, "gil", fmt.Sprintf(deactivate, "gil"))
	sanction(t, st, "hal", social.Decision{Action: social.ActionBan})
	s.awayAreMissing(t)
	signInAgain(t, plazatest.Person{URL: s.plaza.URL}, "gil")
	sanction(t, st, "hal", social.Decision{Action: social.ActionReinstate})
	if after := s.ada.Raw(t, all); withoutCostOf(after) != withoutCostOf(before) {
		t.Errorf("when both are back:\n%s\nand before:\n%s", after, before)
	}
}

func (s *secrets) awayAreMissing(t *testing.T) {
	t.Helper()
	s.hiddenAreMissing(t, "hal", "password of ada") // the right password of someone who is banned gets another answer
	lists := `{ users(where: [{key: "city", equals: "Oslo"}]) { nodes { id } } viewer { news { nodes { author { handle } } } wall { nodes { author { handle } } }
		user { followers { nodes { handle } } following { nodes { handle } } } circles { nodes { members { nodes { handle } } } } blockedUsers { nodes { handle } } notifications { nodes { id } } }
		post(id: "` + s.ids["post"] + `") { latestComments { author { handle } } comments { nodes { author { handle } } } threaded: comments(order: THREADED) { nodes { author { handle } } } } }`
	if answer := s.ada.Raw(t, lists); strings.Contains(answer, `"gil"`) || strings.Contains(answer, `"hal"`) || !strings.Contains(answer, `"news"`) {
		t.Errorf("a user who is away is in the answer: %s", answer)
	}
}

// TestBlocksOfTheAwayStay: a block of someone who is away can't be seen or removed, and holds when
// they are back.
func TestBlocksOfTheAwayStay(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada, ben := plaza.As(t, "ada"), plaza.As(t, "ben")
		post, id := ada.Status(t, "hello", plazatest.Public), ada.IDOf(t, "ben")
		ada.Mutate(t, "blockUser", "", map[string]any{"userId": id})
		ben.Raw(t, fmt.Sprintf(deactivate, "ben"))
		for _, mutation := range []string{"unblockUser", "blockUser"} {
			must(t, ada.Raw(t, `mutation { `+mutation+`(input: {userId: "`+id+`"}) { userErrors { code } } }`), `[{"code":"NOT_FOUND"}]`)
		}
		ben, _ = signInAgain(t, plazatest.Person{URL: plaza.URL}, "ben")
		must(t, ben.Raw(t, `{ node(id: "`+post+`") { id } }`), `"node":null`)
		must(t, ada.Raw(t, `{ viewer { blockedUsers { nodes { handle } } } }`), `[{"handle":"ben"}]`)
		ada.Mutate(t, "unblockUser", "", map[string]any{"userId": id})
		must(t, ben.Raw(t, `{ node(id: "`+post+`") { id } }`), post)
	})
}

// TestAwayLosesNoNotification: what happened just before a ban is among the notifications when both
// are back, and not before, whether the notifier has been faster than the ban or not.
func TestAwayLosesNoNotification(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada, ben := plaza.As(t, "ada"), plaza.As(t, "ben")
		post := ada.Status(t, "hello", plazatest.Public)
		plaza.Notify(t)
		banWhile := func(handle string) plazatest.Person {
			t.Helper()
			sanction(t, plaza.Store, handle, social.Decision{Action: social.ActionBan})
			plaza.Notify(t)
			if handle == "ben" {
				must(t, ada.Raw(t, `{ viewer { notifications { nodes { id } } } }`), `"nodes":[]`)
			}
			sanction(t, plaza.Store, handle, social.Decision{Action: social.ActionReinstate})
			back, _ := signInAgain(t, plazatest.Person{URL: plaza.URL}, handle)
			return back
		}
		ben.Comment(t, post, "before the actor is banned")
		ben = banWhile("ben")
		ben.Mutate(t, "addReaction", "", map[string]any{"postId": post, "kind": "LIKE"}) // before the recipient is
		ada = banWhile("ada")
		must(t, ada.Raw(t, `{ viewer { notifications { nodes { kind } } } }`), `"nodes":[{"kind":"REACTION"},{"kind":"COMMENT"}]`)
	})
}

// TestAwayLeavesOpenPages: when an account is banned or deactivated, its sockets close, its tokens
// end, and who watches a post by it loses it. Both come back.
func TestAwayLeavesOpenPages(t *testing.T) {
	t.Parallel()
	plazatest.ForEachEngine(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada, bob := plaza.As(t, "ada"), plaza.As(t, "bob")
		post := ada.Status(t, "hello", plazatest.Public)
		watching := watchPost(t, bob, post)
		for what, leave := range map[string]func(){
			"a ban":          func() { sanction(t, plaza.Store, "ada", social.Decision{Action: social.ActionBan}) },
			"a deactivation": func() { ada.Raw(t, fmt.Sprintf(deactivate, "ada")) },
		} {
			robot := newAccessToken(t, ada, "WRITE_POSTS").program
			idle := ada.Connect(t)
			leave()
			idle.MustClose()
			if change := nextChange(t, watching); change.Event != "REMOVED" || change.PostID != post {
				t.Errorf("after %s: %s", what, change.raw)
			}
			for _, p := range []plazatest.Person{ada, robot} {
				mustBeRefused(t, p, "a token after "+what, notValid)
			}
			if what == "a ban" {
				const signIn = `mutation { signIn(input: {handle: "ada", password: "password of ada"}) { token userErrors { code path message } } }`
				if v := verdictOf(t, plazatest.Person{URL: plaza.URL}, signIn, nil, "signIn"); v.code != "BANNED" || v.message != "This account is banned: Adverts" {
					t.Errorf("signing in after a ban: %s", v.raw)
				}
				sanction(t, plaza.Store, "ada", social.Decision{Action: social.ActionReinstate})
			}
			ada, _ = signInAgain(t, plazatest.Person{URL: plaza.URL}, "ada")
			if change := nextChange(t, watching); change.Post == nil || change.Post.Text != "hello" {
				t.Errorf("when ada is back after %s: %s", what, change.raw)
			}
		}
	})
}

// TestSuspendedUsersOnlyRead: every mutation but those about the own account is refused, over
// websockets as over HTTP, also with an access token, until the suspension ends by itself.
func TestSuspendedUsersOnlyRead(t *testing.T) {
	t.Parallel()
	plaza := plazatest.Start(t, plazatest.Engines[0])
	ada := plaza.As(t, "ada")
	post := ada.Status(t, "hello", plazatest.Public)
	robot := newAccessToken(t, ada, "WRITE_POSTS").program
	socket := ada.Connect(t)
	until := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	sanction(t, plaza.Store, "ada", social.Decision{Action: social.ActionSuspend, Until: until})
	inputs := (&world{ids: map[string]string{}}).inputs() // which are refused before they are looked at
	for _, mutation := range schema.Mutation.Fields {
		if needs, _ := scopeOf(mutation); needs == "" {
			continue
		}
		v := verdictOf(t, ada, mutationText(mutation), map[string]any{"in": inputs[mutation.Name][0]}, mutation.Name)
		if want := fmt.Sprintf("This account is suspended until %s, and can only read: Adverts", until.Format(time.RFC3339)); v.code != "SUSPENDED" || v.message != want {
			t.Errorf("%s: %s", mutation.Name, v.raw)
		}
	}
	comment := fmt.Sprintf(`mutation { addComment(input: {postId: %q, text: "x"}) { comment { id } } }`, post)
	if v := verdictOf(t, robot, comment, nil, ""); v.code != "SUSPENDED" {
		t.Errorf("a program: %s", v.raw)
	}
	socket.Send("1", "subscribe", map[string]string{"query": comment})
	if m := socket.Next(); !strings.Contains(string(m.Payload), "SUSPENDED") {
		t.Errorf("over a websocket: %s %s", m.Type, m.Payload)
	}
	own := ada.Raw(t, `{ viewer { standing { kind until reason } decisions { nodes { decision until reason } } news { nodes { id } } } }`)
	for _, part := range []string{`"SUSPENDED"`, `"SUSPEND"`, `"Adverts"`, post, until.Format("2006-01-02T15:04:05")} {
		if !strings.Contains(own, part) {
			t.Errorf("ada does not read %s: %s", part, own)
		}
	}
	if seen := plaza.As(t, "bob").Raw(t, fmt.Sprintf(`{ post(id: %q) { author { handle } } }`, post)); !strings.Contains(seen, `"ada"`) {
		t.Errorf("the post of a suspended user: %s", seen)
	}
	changed := ada.Raw(t, `mutation { changePassword(input: {currentPassword: "password of ada", newPassword: "password of eve"}) { viewer { id } userErrors { code } } }`)
	if !strings.Contains(changed, `"viewer_`) {
		t.Errorf("changing the password: %s", changed)
	}
	later := network.New(plaza.Store, network.Options{Now: func() time.Time { return until }})
	user, err := later.Viewer(social.UserID{}).UserByHandle(t.Context(), "ada")
	if err != nil {
		t.Fatal(err)
	}
	if err := later.RequireStanding(t.Context(), user.ID); err != nil {
		t.Errorf("when the suspension has ended: %v", err)
	}
}

// TestLongOperationsStop: an operation with several mutations, which waits for the publish hook,
// publishes nothing more after its user was suspended or signed out.
func TestLongOperationsStop(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		st := e.Open(t)
		operator := network.New(st, network.Options{})
		hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			switch text := string(body); {
			case err != nil:
			case strings.Contains(text, "suspend"):
				_, err = operator.Sanction(r.Context(), "ada", social.Decision{Action: social.ActionSuspend, Until: time.Now().Add(time.Hour), Reason: "Adverts"})
			case strings.Contains(text, "sign-out"):
				_, err = operator.EndAllSessions(r.Context(), "bob")
			}
			if err != nil {
				t.Error(err)
			}
			_, _ = io.WriteString(w, `{"decision": "allow"}`)
		}))
		t.Cleanup(hook.Close)
		plaza := plazatest.ServeReviewed(t, st, app.PublishHook{URL: hook.URL, Secret: "a secret of tests", Timeout: testtime.Patience()})
		for _, c := range []struct{ handle, text, code, left string }{
			{"ada", "suspend", "SUSPENDED", `[]`},
			{"bob", "sign-out", "UNAUTHENTICATED", `[{"text":"sign-out"}]`},
		} {
			user := plaza.As(t, c.handle)
			compact := func(answer string) string { return strings.Join(strings.Fields(answer), "") }
			answer := compact(user.Raw(t, fmt.Sprintf(`mutation {
				a: createPost(input: {content: {status: {text: %q}}, audience: {kind: PUBLIC}}) { post { id } }
				b: createPost(input: {content: {status: {text: "more"}}, audience: {kind: ONLY_ME}}) { post { id } } }`, c.text)))
			if !strings.Contains(answer, `"b":null`) || !strings.Contains(answer, c.code) {
				t.Errorf("%s: %s", c.text, answer)
			}
			posts := `{ user(handle: "` + c.handle + `") { posts { nodes { text } } } }`
			user, _ = signInAgain(t, plazatest.Person{URL: plaza.URL}, c.handle)
			if found := compact(user.Raw(t, posts)); !strings.Contains(found, `"nodes":`+c.left) {
				t.Errorf("after %q there is %s", c.text, found)
			}
		}
	})
}

// TestBansOfUsersOfAnotherSite: the site's tokens are refused while the account is banned; one that
// was issued after a deactivation reactivates the account.
func TestBansOfUsersOfAnotherSite(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		w := serveTrusting(t, e)
		called := map[string]any{"preferred_username": "ada"}
		ada := w.with(t, "1", called)
		before := profileOf(t, ada)
		open := ada.Connect(t)
		operator := network.New(w.Store, network.Options{Now: w.now})
		if _, err := operator.Sanction(t.Context(), "ada", social.Decision{Action: social.ActionBan, Reason: "Adverts"}); err != nil {
			t.Fatal(err)
		}
		open.MustClose()
		later := map[string]any{"iat": w.now().Add(5 * time.Second).Unix()}
		mustBeRefused(t, ada, "the token of a banned user", "This account is banned: Adverts")
		mustBeRefused(t, w.with(t, "1", later), "a later token", "This account is banned: Adverts")
		if _, err := operator.Sanction(t.Context(), "ada", social.Decision{Action: social.ActionReinstate, Reason: "Adverts"}); err != nil {
			t.Fatal(err)
		}
		mustBeRefused(t, ada, "a token from before the ban", notValid)
		ada = w.with(t, "1", later)
		if after := profileOf(t, ada); after != before {
			t.Errorf("with a later token: %+v", after)
		}
		w.ahead.Add(int64(10 * time.Second))
		if v := verdictOf(t, ada, `mutation { deactivateAccount(input: {}) { deactivatedUserId userErrors { code path message } } }`, nil, "deactivateAccount"); v.code != "" {
			t.Fatalf("deactivateAccount: %s", v.raw)
		}
		mustBeRefused(t, ada, "the token that has deactivated the account", notValid)
		latest := map[string]any{"iat": w.now().Add(5 * time.Second).Unix()}
		if after := profileOf(t, w.with(t, "1", latest)); after != before {
			t.Errorf("with the next token: %+v", after)
		}
	})
}

// signingIn is a store that calls back before it stores a session.
type signingIn struct {
	storage.Store

	before func()
}

func (s signingIn) InsertSession(ctx context.Context, session social.Session) error {
	s.before()
	return s.Store.InsertSession(ctx, session)
}

// TestSignInMeetsBan: a ban or a deactivation that comes between the check of the password and the
// session leaves no session behind. Nor do many that come at any time.
func TestSignInMeetsBan(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		st := e.Open(t)
		operator := network.New(st, plazatest.Cheap)
		ada, err := operator.AddUser(t.Context(), accounts.SignUpInput{Handle: "ada", Name: "Ada", Password: "password of ada"})
		if err != nil {
			t.Fatal(err)
		}
		credentials := accounts.Credentials{Handle: "ada", Password: "password of ada"}
		act := func(d social.Decision) {
			d.Reason = "Adverts"
			if _, err := operator.Sanction(t.Context(), "ada", d); err != nil {
				t.Error(err)
			}
		}
		mustBeOut := func(what string, code fault.Code, err error) {
			t.Helper()
			if mistake, ok := errors.AsType[*fault.Error](err); !ok || mistake.Code != code {
				t.Errorf("%s: %v", what, err)
			}
			if left, err := operator.Sessions(t.Context(), ada.ID); err != nil || len(left) > 0 {
				t.Errorf("%s leaves %d sessions: %v", what, len(left), err)
			}
		}
		_, _, err = network.New(signingIn{st, func() { act(social.Decision{Action: social.ActionBan}) }}, plazatest.Cheap).SignIn(t.Context(), credentials)
		mustBeOut("a sign-in during a ban", fault.CodeBanned, err)
		act(social.Decision{Action: social.ActionReinstate})
		password := credentials.Password
		_, _, err = network.New(signingIn{st, func() {
			if err := operator.DeactivateAccount(t.Context(), ada.ID, &password); err != nil {
				t.Error(err)
			}
		}}, plazatest.Cheap).SignIn(t.Context(), credentials)
		mustBeOut("a sign-in during a deactivation", fault.CodeConflict, err)

		var all sync.WaitGroup
		for range 8 {
			all.Go(func() { _, _, _ = operator.SignIn(t.Context(), credentials) })
		}
		all.Go(func() { act(social.Decision{Action: social.ActionBan}) })
		all.Wait()
		_, _, err = operator.SignIn(t.Context(), credentials)
		mustBeOut("signing in many times during a ban", fault.CodeBanned, err)
	})
}

// hangingUp is a store whose clients leave when a transaction has ended. A sign-in that has begun
// before stores its session then.
type hangingUp struct {
	storage.Store

	leave func()
	late  social.Session
}

func (s hangingUp) left(ctx context.Context, err error) error {
	if err == nil {
		err = s.InsertSession(ctx, s.late)
	}
	s.leave()
	return err
}

func (s hangingUp) SetPassword(ctx context.Context, c social.PasswordChange) error {
	return s.left(ctx, s.Store.SetPassword(ctx, c))
}

func (s hangingUp) Decide(ctx context.Context, r social.Ruling, e social.Event) error {
	return s.left(ctx, s.Store.Decide(ctx, r, e))
}

// TestClientsThatLeave during a ban, or a change of a password, do not keep it from ending the
// sessions of sign-ins that were under way.
func TestClientsThatLeave(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		st := e.Open(t)
		operator := network.New(st, plazatest.Cheap)
		ada, err := operator.AddUser(t.Context(), accounts.SignUpInput{Handle: "ada", Name: "Ada", Password: "password of ada"})
		if err != nil {
			t.Fatal(err)
		}
		now := operator.Moment()
		for what, do := range map[string]func(context.Context, *network.Service) error{
			"a change": func(ctx context.Context, s *network.Service) error {
				_, err := s.ReplacePassword(ctx, "ada", "another password")
				return err
			},
			"a ban": func(ctx context.Context, s *network.Service) error {
				_, err := s.Sanction(ctx, "ada", social.Decision{Action: social.ActionBan, Reason: "Adverts"})
				return err
			},
		} {
			ctx, leave := context.WithCancel(t.Context())
			late := social.Session{TokenHash: social.HashToken(what), User: ada.ID, ExpiresAt: now.Add(time.Hour), CreatedAt: now, UsedAt: now}
			if err := do(ctx, network.New(hangingUp{st, leave, late}, plazatest.Cheap)); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			if left, err := operator.Sessions(t.Context(), ada.ID); err != nil || len(left) > 0 {
				t.Errorf("%s leaves %d sessions: %v", what, len(left), err)
			}
			if what == "a ban" {
				sanction(t, st, "ada", social.Decision{Action: social.ActionReinstate})
			}
		}
	})
}

// TestAwayAmongBlocked: users who are away are no entries of the list of blocked users, neither on
// its pages nor beyond them.
func TestAwayAmongBlocked(t *testing.T) {
	t.Parallel()
	plazatest.ForEachEngine(t, func(t *testing.T, e plazatest.Engine) {
		plaza := plazatest.Start(t, e)
		ada := plaza.As(t, "ada")
		for _, handle := range []string{"bob", "cem"} {
			plaza.As(t, handle)
			ada.Mutate(t, "blockUser", "", map[string]any{"userId": ada.IDOf(t, handle)})
		}
		lists := func(want string) {
			t.Helper()
			for _, args := range []string{"first: 1", "last: 1"} {
				got := ada.Raw(t, `{ viewer { blockedUsers(`+args+`) { nodes { handle } pageInfo { hasNextPage hasPreviousPage } } } }`)
				if want := `"blockedUsers":{"nodes":[` + want + `],"pageInfo":{"hasNextPage":false,"hasPreviousPage":false}}`; !strings.Contains(strings.Join(strings.Fields(got), ""), want) {
					t.Errorf("blockedUsers(%s): %s, want %s", args, got, want)
				}
			}
		}
		plaza.As(t, "bob").Raw(t, fmt.Sprintf(deactivate, "bob"))
		lists(`{"handle":"cem"}`)
		plaza.As(t, "cem").Raw(t, fmt.Sprintf(deactivate, "cem"))
		lists("")
	})
}
