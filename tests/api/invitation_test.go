package api

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plaza/id"
	"plaza/internal/plazatest"
	"plaza/issuer"
	"plaza/issuer/issuertest"
	"plaza/social"
	"plaza/social/accounts"
	"plaza/storage"
)

// club is a server where registration is by invitation, and members may have three. A test can put
// its clock forward.
type club struct {
	*plazatest.Plaza

	ahead atomic.Int64 // of the real clock, in nanoseconds
}

func serveClub(t *testing.T, e plazatest.Engine) *club {
	t.Helper()
	c := &club{}
	c.Plaza = plazatest.ServeInviting(t, e.Open(t), 3, func() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) })
	return c
}

// signUp signs up at a server with a code, and returns the answer.
func signUp(t testing.TB, url, handle, password, code string) string {
	t.Helper()
	return plazatest.Person{URL: url}.Raw(t, fmt.Sprintf(`mutation { signUp(input: {handle: %q, name: "New", password: %q, invitation: %q}) { token userErrors { code message path } } }`, handle, password, code))
}

// invite returns the code of a member's new invitation, and its id.
func invite(t testing.TB, p plazatest.Person) (code, which string) {
	t.Helper()
	var answer struct {
		CreateInvitation struct {
			Code       string
			Invitation struct{ ID string }
			UserErrors []struct{ Message string }
		}
	}
	p.Do(t, `mutation { createInvitation(input: {}) { code invitation { id } userErrors { message } } }`, nil, &answer)
	if answer.CreateInvitation.Code == "" {
		t.Fatalf("no invitation: %v", answer.CreateInvitation.UserErrors)
	}
	return answer.CreateInvitation.Code, answer.CreateInvitation.Invitation.ID
}

func (c *club) has(t *testing.T, handle string) bool {
	t.Helper()
	users, err := c.Store.UsersByHandle(t.Context(), []string{handle})
	if err != nil {
		t.Fatal(err)
	}
	return users[handle] != nil
}

// storeInvitation stores an invitation of a member for one account.
func storeInvitation(t *testing.T, st storage.Store, handle string, expires time.Time) social.InvitationID {
	t.Helper()
	users, err := st.UsersByHandle(t.Context(), []string{handle})
	if err != nil {
		t.Fatal(err)
	}
	i := social.Invitation{ID: social.InvitationID{ID: id.New()}, Inviter: users[handle].ID, MaxUses: 1, CreatedAt: time.Now(), ExpiresAt: expires}
	if err := st.InsertInvitation(t.Context(), i, 1); err != nil {
		t.Fatal(err)
	}
	return i.ID
}

// TestInvitationsThatAreNotValid get one answer, whatever is wrong with them, and whatever else is
// wrong with the input. It does not tell which handles are taken.
func TestInvitationsThatAreNotValid(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		c := serveClub(t, e)
		used, expired := c.Invite(t, 1), c.Invite(t, 1)
		if answer := signUp(t, c.URL, "zoe", "long enough", " "+used+"\n"); !strings.Contains(answer, `"userErrors": []`) {
			t.Fatalf("a valid code: %s", answer)
		}
		revoked, which := invite(t, c.As(t, "ada"))
		c.As(t, "ada").Raw(t, `mutation { revokeInvitation(input: {invitationId: "`+which+`"}) { userErrors { code } } }`)
		codes := map[string]string{
			"used": used, "revoked": revoked, "unknown": "invite_00000000000000000000000000", "an id": which, "malformed": "x",
			"with a space": strings.Replace(c.Invite(t, 1), "_", "_ ", 1), "upper case": strings.ToUpper(c.Invite(t, 1)),
		}
		for handle, leave := range map[string]func(plazatest.Person){
			"ben": func(plazatest.Person) {
				sanction(t, c.Store, "ben", social.Decision{Action: social.ActionSuspend, Until: time.Now().Add(365 * 24 * time.Hour)})
			},
			"cem": func(plazatest.Person) { sanction(t, c.Store, "cem", social.Decision{Action: social.ActionBan}) },
			"dan": func(p plazatest.Person) {
				p.Raw(t, `mutation { deactivateAccount(input: {password: "password of dan"}) { userErrors { code } } }`)
			},
			"eve": func(p plazatest.Person) {
				p.Raw(t, `mutation { deleteAccount(input: {password: "password of eve"}) { userErrors { code } } }`)
			},
		} {
			codes["by "+handle], _ = invite(t, c.As(t, handle))
			leave(c.As(t, handle))
		}
		if answer := c.As(t, "ben").Raw(t, `mutation { createInvitation(input: {}) { code } }`); !strings.Contains(answer, `"SUSPENDED"`) {
			t.Errorf("an invitation by a suspended user: %s", answer)
		}
		c.ahead.Store(int64(6 * 24 * time.Hour))
		late := signUp(t, c.URL, "fay", "long enough", expired)
		if !strings.Contains(late, `"userErrors": []`) {
			t.Errorf("a code that is about to expire: %s", late)
		}
		codes["expired"] = c.Invite(t, 1)
		c.ahead.Store(int64(8 * 24 * time.Hour))
		answers := map[string]bool{}
		for what, code := range codes {
			for handle, password := range map[string]string{"newcomer": "long enough", "ada": "long enough", "ADMIN": "short", "": ""} {
				answer := signUp(t, c.URL, handle, password, code)
				answers[answer] = true
				if !strings.Contains(answer, `"NOT_ALLOWED"`) || !strings.Contains(answer, `"token": null`) {
					t.Errorf("%s, as %q: %s", what, handle, answer)
				}
			}
		}
		if len(answers) != 1 || c.has(t, "newcomer") {
			t.Errorf("the answers are %v", answers)
		}
	})
}

// TestConcurrentSignUpsWithOneInvitation create as many accounts as it has, through two servers.
func TestConcurrentSignUpsWithOneInvitation(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		const uses, guests = 5, 23
		c := serveClub(t, e)
		other := plazatest.ServeInviting(t, unclosed{c.Store}, 3, time.Now)
		code := c.Invite(t, uses)
		var entered atomic.Int32
		var all sync.WaitGroup
		for i := range guests {
			all.Go(func() {
				through := []string{c.URL, other.URL}[i%2]
				answer := signUp(t, through, fmt.Sprintf("guest%d", i), "long enough", code)
				switch {
				case strings.Contains(answer, `"userErrors": []`):
					entered.Add(1)
				case !strings.Contains(answer, `"NOT_ALLOWED"`):
					t.Errorf("guest %d: %s", i, answer)
				}
			})
		}
		all.Wait()
		found := 0
		for i := range guests {
			if c.has(t, fmt.Sprintf("guest%d", i)) {
				found++
			}
		}
		if entered.Load() != uses || found != uses {
			t.Errorf("%d of %d have entered, and %d have accounts; the invitation is for %d", entered.Load(), guests, found, uses)
		}
	})
}

// TestConcurrentInvitationsOfOneMember are never more than a member may have.
func TestConcurrentInvitationsOfOneMember(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		c := serveClub(t, e)
		ada := c.As(t, "ada")
		var all sync.WaitGroup
		for range 16 {
			all.Go(func() {
				answer := ada.Raw(t, `mutation { createInvitation(input: {}) { code userErrors { code } } }`)
				if strings.Contains(answer, `"code": null`) != strings.Contains(answer, "LIMIT_REACHED") {
					t.Errorf("an answer is %s", answer)
				}
			})
		}
		all.Wait()
		if answer := ada.Raw(t, `{ viewer { invitations { id } } }`); strings.Count(answer, "invitation_") != 3 {
			t.Errorf("her invitations: %s", answer)
		}
	})
}

// TestCodesAreNotKeptForRetries: an idempotency key creates one invitation, and its code is answered
// once.
func TestCodesAreNotKeptForRetries(t *testing.T) {
	t.Parallel()
	c := serveClub(t, plazatest.Engines[0])
	ada := c.As(t, "ada")
	const create = `mutation { createInvitation(input: {}) { code userErrors { code } } }`
	if answer := keyed(t, ada, "key", create, nil); !strings.Contains(answer, `"code":"invite_`) {
		t.Fatalf("the first request: %s", answer)
	}
	mustHaveCode(t, keyed(t, ada, "key", create, nil), "ALREADY_DONE", "the same request again")
	if answer := ada.Raw(t, `{ viewer { invitationsLeft } }`); !strings.Contains(answer, `"invitationsLeft": 2`) {
		t.Errorf("after both: %s", answer)
	}
}

// TestMembersInviteOnlyWhereTheyMay: where registration is open or closed, or operators have not
// allowed it, members do not.
func TestMembersInviteOnlyWhereTheyMay(t *testing.T) {
	t.Parallel()
	open := plazatest.Start(t, plazatest.Engines[0])
	ada := open.As(t, "ada")
	operators := plazatest.ServeInviting(t, unclosed{open.Store}, 0, time.Now)
	for _, at := range []string{open.URL, operators.URL} {
		p := plazatest.Person{URL: at, Token: ada.Token}
		answer := p.Raw(t, `mutation { createInvitation(input: {}) { code invitation { id } viewer { id } userErrors { code path } } }`)
		if !strings.Contains(answer, `"NOT_ALLOWED"`) || !strings.Contains(answer, `"code": null`) {
			t.Errorf("an invitation: %s", answer)
		}
		if left := p.Raw(t, `{ viewer { invitationsLeft } }`); !strings.Contains(left, `"invitationsLeft": 0`) {
			t.Errorf("invitations left: %s", left)
		}
	}
	if answer := signUp(t, open.URL, "bob", "long enough", "not a code"); !strings.Contains(answer, `"userErrors": []`) {
		t.Errorf("a code where registration is open is not ignored: %s", answer)
	}
}

// TestProvidersUsersAreInvited: the first sign-in with a provider uses an invitation, unless the
// provider may create accounts. Later ones need none.
func TestProvidersUsersAreInvited(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		site, st := issuertest.New(t), e.Open(t)
		provider := issuer.Provider{Issuer: site.URL, ClientID: issuertest.Audience}
		p := plazatest.ServeProviders(t, st, time.Now, accounts.RegistrationByInvitation, provider)
		enter := func(subject, code string) string {
			t.Helper()
			return plazatest.Person{URL: p.URL}.Raw(t, fmt.Sprintf(`mutation { signInWithIdToken(input: {idToken: %q, nonce: %q, invitation: %q}) { token userErrors { code path } } }`,
				site.IDToken(t, subject, nonceSecret, nil), nonceSecret, code))
		}
		code := p.Invite(t, 2)
		for _, step := range []struct{ what, subject, code, want string }{
			{"without a code", "1", "", `"BLANK"`},
			{"with an unknown code", "1", "invite_00000000000000000000000000", `"NOT_ALLOWED"`},
			{"with a code", "1", code, `"userErrors": []`},
			{"again", "1", "", `"userErrors": []`},
			{"another user", "2", code, `"userErrors": []`},
			{"a third one", "3", code, `"NOT_ALLOWED"`},
		} {
			if answer := enter(step.subject, step.code); !strings.Contains(answer, step.want) {
				t.Errorf("%s: %s", step.what, answer)
			}
		}
		which, err := social.InvitationOf(code)
		if err != nil {
			t.Fatal(err)
		}
		if i, err := st.Invitation(t.Context(), which, time.Now()); err != nil || i.Uses != 2 {
			t.Errorf("the invitation is %+v, %v", i, err)
		}
	})
}
