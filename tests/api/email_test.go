package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"plaza/id"
	"plaza/internal/plazatest"
	"plaza/internal/testtime"
	"plaza/mailer"
	"plaza/mailer/mailertest"
	"plaza/social"
	"plaza/social/accounts"
	"plaza/social/network"
	"plaza/storage"
)

// post is a server that sends mails, the mailbox, and the server's clock.
type post struct {
	*plazatest.Plaza

	mailbox *mailertest.Server
	passed  atomic.Int64 // since the test began
}

func servePost(t *testing.T, e plazatest.Engine, limited bool) *post {
	t.Helper()
	p := &post{mailbox: mailertest.Listen(t)}
	smtp, err := mailer.New("smtp://"+p.mailbox.Address()+"?tls=off", "Plaza <plaza@site.example>")
	if err != nil {
		t.Fatal(err)
	}
	mails := accounts.Mails{Mailer: smtp, ResetURL: "https://site.example/reset?lang=en", ConfirmURL: "https://site.example/confirm"}
	now := func() time.Time { return time.Now().Add(time.Duration(p.passed.Load())) }
	p.Plaza = plazatest.ServeMailing(t, e.Open(t), mails, now, limited)
	return p
}

func (p *post) pass(d time.Duration) { p.passed.Add(int64(d)) }

// arrived sends what is due, and returns what has arrived.
func (p *post) arrived(t *testing.T) []mailertest.Mail {
	t.Helper()
	if err := p.Server.SendMails(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p.mailbox.Take()
}

var mailedLink = regexp.MustCompile(`https://site\.example/\S+`)

// token returns the token of the only mail that has arrived, which went to an address.
func (p *post) token(t *testing.T, page, to string) string {
	t.Helper()
	mails := p.arrived(t)
	if len(mails) != 1 || mails[0].Recipient != to {
		t.Fatalf("not one mail to %s: %+v", to, mails)
	}
	link, err := url.Parse(mailedLink.FindString(mails[0].Text))
	if err != nil || link.Path != page || len(link.Query().Get("token")) < 40 {
		t.Fatalf("no link to %s: %s", page, mails[0].Text)
	}
	return link.Query().Get("token")
}

func must(t *testing.T, answer, part string) {
	t.Helper()
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(answer)); err != nil || !strings.Contains(compact.String(), part) {
		t.Errorf("no %s in %s", part, answer)
	}
}

func (p *post) setEmail(t *testing.T, handle, email string) string {
	t.Helper()
	return p.As(t, handle).Raw(t, `mutation { setEmail(input: {email: "`+email+`", currentPassword: "password of `+handle+`"}) { viewer { email unconfirmedEmail } userErrors { code path } } }`)
}

func (p *post) confirm(t *testing.T, token string) string {
	t.Helper()
	return plazatest.Person{URL: p.URL}.Raw(t, `mutation { confirmEmail(input: {token: "`+token+`"}) { email userErrors { code path } } }`)
}

func (p *post) withEmail(t *testing.T, handle, email string) {
	t.Helper()
	must(t, p.setEmail(t, handle, email), email)
	must(t, p.confirm(t, p.token(t, "/confirm", email)), `"email":"`+email+`"`)
}

func (p *post) request(t *testing.T, account string) string {
	t.Helper()
	return plazatest.Person{URL: p.URL}.Raw(t, `mutation { requestPasswordReset(input: {account: "`+account+`"}) { userErrors { code path } } }`)
}

func (p *post) reset(t *testing.T, token, password string) string {
	t.Helper()
	return plazatest.Person{URL: p.URL}.Raw(t, `mutation { resetPassword(input: {token: "`+token+`", newPassword: "`+password+`"}) { handle userErrors { code path } } }`)
}

const refusedToken = `"path":["input","token"]`

// TestAnAddressIsConfirmedByItsLink, once, and is seen by its owner alone.
func TestAnAddressIsConfirmedByItsLink(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		p := servePost(t, e, false)
		must(t, p.setEmail(t, "ada", "ada@site.example"), `"email":null,"unconfirmedEmail":"ada@site.example"`)
		first := p.token(t, "/confirm", "ada@site.example")
		must(t, p.setEmail(t, "ada", "Ada@new.example"), `"unconfirmedEmail":"Ada@new.example"`)
		must(t, p.confirm(t, first), refusedToken)
		second := p.token(t, "/confirm", "Ada@new.example")
		must(t, p.reset(t, second, "another password"), refusedToken) // a token for something else
		must(t, p.confirm(t, second), `"email":"Ada@new.example"`)
		must(t, p.confirm(t, second), refusedToken)
		must(t, p.As(t, "ada").Raw(t, `{ viewer { email unconfirmedEmail } }`), `"email":"Ada@new.example","unconfirmedEmail":null`)
		must(t, p.As(t, "ben").Raw(t, `{ viewer { email } }`), `"email":null`)
		for _, wrong := range []string{"", "ada", "ada@", "Ada <ada@site.example>", `ada@site.example\r\nBcc: eve@site.example`, `a\u0000@site.example`, "ä@site.example", `\"a b\"@site.example`, strings.Repeat("a", 250) + "@b.example"} {
			must(t, p.setEmail(t, "ada", wrong), `"path":["input","email"]`)
		}
		must(t, p.As(t, "ada").Raw(t, `mutation { setEmail(input: {email: "x@y.example", currentPassword: "not the password"}) { userErrors { code } } }`), "BAD_CREDENTIALS")
		must(t, p.setEmail(t, "cem", "late@site.example"), "late@site.example")
		late := p.token(t, "/confirm", "late@site.example")
		p.pass(24 * time.Hour)
		must(t, p.confirm(t, late), refusedToken)
		must(t, p.As(t, "ada").Raw(t, `mutation { setEmail(input: {email: null, currentPassword: "password of ada"}) { viewer { email } userErrors { code } } }`), `"email":null`)
		p.request(t, "ada")
		if mails := p.arrived(t); len(mails) != 0 {
			t.Errorf("mails to an address that was removed: %+v", mails)
		}
	})
}

// TestAPasswordIsResetByItsLink: once, within an hour, by the newest link alone; everything that was
// signed in ends.
func TestAPasswordIsResetByItsLink(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		p := servePost(t, e, false)
		p.withEmail(t, "ada", "ada@site.example")
		var created struct{ CreateAccessToken struct{ Token string } }
		p.As(t, "ada").Do(t, `mutation { createAccessToken(input: {name: "bot", scopes: [READ_FEED], expiresInDays: 3}) { token } }`, nil, &created)
		program := plazatest.Person{URL: p.URL, Token: created.CreateAccessToken.Token}
		must(t, program.Raw(t, `{ viewer { user { handle } } }`), `"ada"`)
		must(t, program.Raw(t, `{ viewer { email } }`), "FORBIDDEN")

		p.request(t, "@Ada")
		first := p.token(t, "/reset", "ada@site.example")
		p.request(t, "ADA@site.example")
		second := p.token(t, "/reset", "ada@site.example")
		must(t, p.reset(t, first, "another password"), refusedToken)
		must(t, p.reset(t, second, "short"), `"path":["input","newPassword"]`)
		must(t, p.reset(t, second, "another password"), `"handle":"ada"`)
		must(t, p.reset(t, second, "a third password"), refusedToken)
		for name, ended := range map[string]plazatest.Person{"the session": p.As(t, "ada"), "the access token": program} {
			if answer := ended.Raw(t, `{ viewer { user { handle } } }`); !strings.Contains(answer, "UNAUTHENTICATED") {
				t.Errorf("%s goes on: %s", name, answer)
			}
		}
		signIn := func(password string) string {
			return plazatest.Person{URL: p.URL}.Raw(t, `mutation { signIn(input: {handle: "ada", password: "`+password+`"}) { token userErrors { code } } }`)
		}
		must(t, signIn("password of ada"), "BAD_CREDENTIALS")
		must(t, signIn("another password"), `"token":"`)

		p.request(t, "ada")
		late := p.token(t, "/reset", "ada@site.example")
		p.pass(time.Hour)
		must(t, p.reset(t, late, "a third password"), refusedToken)
		must(t, signIn("another password"), `"token":"`)
	})
}

// TestAChangedPasswordMakesTheLinkVoid, and so does the deletion of the account.
func TestAChangedPasswordMakesTheLinkVoid(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		p := servePost(t, e, false)
		p.withEmail(t, "ada", "ada@site.example")
		p.request(t, "ada")
		before := p.token(t, "/reset", "ada@site.example")
		p.As(t, "ada").Mutate(t, "changePassword", "", map[string]any{"currentPassword": "password of ada", "newPassword": "another password"})
		must(t, p.reset(t, before, "a third password"), refusedToken)
		p.request(t, "ada")
		before = p.token(t, "/reset", "ada@site.example")
		p.request(t, "ada") // the mail is still to be sent
		p.As(t, "ada").Mutate(t, "deleteAccount", "", map[string]any{"password": "another password"})
		must(t, p.reset(t, before, "a third password"), refusedToken)
		if mails := p.arrived(t); len(mails) != 0 {
			t.Errorf("mails to a deleted account: %+v", mails)
		}
	})
}

// TestARequestRevealsNothing: the answers for known and unknown accounts are the same bytes, and
// the server stores the same before it answers; it looks for the account later.
func TestARequestRevealsNothing(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		p := servePost(t, e, false)
		p.withEmail(t, "ada", "ada@site.example")
		p.As(t, "ben") // has no address
		want := p.request(t, "ada")
		for _, account := range []string{"ada@site.example", "ben", "nobody", "nobody@site.example", "not a handle!"} {
			if got := p.request(t, account); got != want {
				t.Errorf("for %s: %s, not %s", account, got, want)
			}
		}
		stored := 0
		for ; ; stored++ {
			m, err := p.Store.TakeMail(t.Context(), time.Now(), time.Now().Add(time.Minute))
			if err != nil {
				break
			}
			if !m.User.IsZero() {
				t.Errorf("what is stored names the user: %+v", m)
			}
		}
		if stored != 6 {
			t.Errorf("%d requests are stored, not 6", stored)
		}
		p.pass(2 * time.Minute)
		if mails := p.arrived(t); len(mails) != 2 {
			t.Errorf("%d mails for ada, who was named twice", len(mails))
		}
	})
}

// TestAMailThatFailsIsSentLater, by another attempt; an account gets five mails an hour.
func TestAMailThatFailsIsSentLater(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		p := servePost(t, e, false)
		p.withEmail(t, "ada", "ada@site.example")
		p.mailbox.Refuse(true)
		p.request(t, "ada")
		for range 6 {
			if err := p.Server.SendMails(t.Context()); err == nil {
				t.Fatal("the refusal of the SMTP server was not reported")
			}
			p.pass(time.Minute)
		}
		p.mailbox.Refuse(false)
		must(t, p.reset(t, p.token(t, "/reset", "ada@site.example"), "another password"), `"handle":"ada"`)
		for range 6 {
			p.request(t, "ada")
		}
		if mails := p.arrived(t); len(mails) != 4 {
			t.Errorf("%d further mails within an hour, not 4", len(mails))
		}
		p.pass(time.Hour)
		p.request(t, "ada")
		if mails := p.arrived(t); len(mails) != 1 {
			t.Errorf("%d mails an hour later", len(mails))
		}
	})
}

// TestAMailboxThatDoesNotExist gets one attempt, and one that is full gets more.
func TestAMailboxThatDoesNotExist(t *testing.T) {
	t.Parallel()
	p := servePost(t, plazatest.Engines[0], false)
	for address, isFinal := range map[string]bool{"unknown@site.example": true, "full@site.example": false} {
		must(t, p.setEmail(t, "ada", address), address)
		for attempt := range 3 {
			err := p.Server.SendMails(t.Context())
			if fails := err != nil; fails != (attempt == 0 || !isFinal) || errors.Is(err, accounts.ErrNoSuchMailbox) != (fails && isFinal) {
				t.Errorf("%s, attempt %d: %v", address, attempt, err)
			}
			p.pass(time.Minute)
		}
		must(t, p.As(t, "ada").Raw(t, `mutation { setEmail(input: {email: null, currentPassword: "password of ada"}) { viewer { email } userErrors { code } } }`), `"email":null`)
		p.arrived(t)
	}
}

// TestAccountsThatShareAnAddressGetOneMail with a link for each.
func TestAccountsThatShareAnAddressGetOneMail(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		p := servePost(t, e, false)
		for _, handle := range []string{"a1", "a2", "a3", "a4", "a5"} {
			p.withEmail(t, handle, "all@site.example")
		}
		must(t, p.setEmail(t, "a6", "all@site.example"), "all@site.example")
		must(t, p.confirm(t, p.token(t, "/confirm", "all@site.example")), "LIMIT_REACHED")
		p.request(t, "all@site.example")
		mails := p.arrived(t)
		if len(mails) != 1 || len(mailedLink.FindAllString(mails[0].Text, -1)) != 5 || strings.Contains(mails[0].Text, "@a6") {
			t.Errorf("for five accounts: %+v", mails)
		}
		p.withEmail(t, "a1", "all@site.example") // is one of the five
	})
}

// TestAddressesThatDifferInCase get a mail each, with the links of their own accounts.
func TestAddressesThatDifferInCase(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		p := servePost(t, e, false)
		want := map[string]string{"ada@site.example": "@a1", "Ada@site.example": "@a2"}
		for address, handle := range want {
			p.withEmail(t, handle[1:], address)
		}
		p.request(t, "ADA@site.example")
		mails := p.arrived(t)
		for _, m := range mails {
			if !strings.Contains(m.Text, want[m.Recipient]+":") || len(mailedLink.FindAllString(m.Text, -1)) != 1 {
				t.Errorf("to %s: %s", m.Recipient, m.Text)
			}
			delete(want, m.Recipient)
		}
		if len(want) != 0 || len(mails) != 2 {
			t.Errorf("%d mails, none to %v", len(mails), want)
		}
	})
}

// TestTheLimitOfAnAddress: attempts that fail do not use it up, and a mail that it drops leaves the
// link that has arrived before it valid.
func TestTheLimitOfAnAddress(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		p := servePost(t, e, true)
		handles := []string{"a1", "a2", "a3", "a4", "a5"}
		for _, handle := range handles {
			p.withEmail(t, handle, "all@site.example")
		}
		p.request(t, "a5")
		p.mailbox.Refuse(true)
		for range 30 {
			if err := p.Server.SendMails(t.Context()); err == nil {
				t.Fatal("the mail was given up")
			}
			p.pass(time.Minute)
		}
		p.mailbox.Refuse(false)
		newest := p.token(t, "/reset", "all@site.example")
		isDropped := false
		for i := range 16 { // 20 mails an hour, with the five that confirmed the address
			account := handles[i%4]
			if i == 15 {
				account = "a5"
			}
			m := social.Mail{ID: social.MailID{ID: id.New()}, Kind: social.MailReset, Account: account, ExpiresAt: time.Now().Add(24 * time.Hour)}
			if err := p.Store.QueueMail(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			isDropped = len(p.arrived(t)) == 0
		}
		if !isDropped {
			t.Error("21 mails have arrived")
		}
		must(t, p.reset(t, newest, "another password"), `"handle":"a5"`)
	})
}

// TestLinksThatHaveArrivedOutliveDroppedMails: an account gets five mails a day that confirm an
// address. The link of the last one works, also after further requests.
func TestLinksThatHaveArrivedOutliveDroppedMails(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		p := servePost(t, e, false)
		var newest string
		for range 5 {
			must(t, p.setEmail(t, "ada", "ada@site.example"), `"unconfirmedEmail":"ada@site.example"`)
			newest = p.token(t, "/confirm", "ada@site.example")
		}
		must(t, p.setEmail(t, "ada", "ada@site.example"), `"unconfirmedEmail":"ada@site.example"`)
		if mails := p.arrived(t); len(mails) != 0 {
			t.Errorf("a sixth mail has arrived: %+v", mails)
		}
		must(t, p.confirm(t, newest), `"email":"ada@site.example"`)
	})
}

// TestBannedUsersCannotUseLinks that they got before, and get no others.
func TestBannedUsersCannotUseLinks(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		p := servePost(t, e, false)
		p.withEmail(t, "ada", "ada@site.example")
		must(t, p.setEmail(t, "ada", "other@site.example"), "other@site.example")
		confirm := p.token(t, "/confirm", "other@site.example")
		p.request(t, "ada")
		reset := p.token(t, "/reset", "ada@site.example")
		sanction(t, p.Store, "ada", social.Decision{Action: social.ActionBan})
		must(t, p.confirm(t, confirm), refusedToken)
		must(t, p.reset(t, reset, "another password"), refusedToken)
		p.request(t, "ada")
		if mails := p.arrived(t); len(mails) != 0 {
			t.Errorf("a banned user gets mails: %+v", mails)
		}
		sanction(t, p.Store, "ada", social.Decision{Action: social.ActionReinstate})
		must(t, p.confirm(t, confirm), `"email":"other@site.example"`)
	})
}

// busy is a mailer whose server answers after half a lease, and refuses.
type busy struct{ pass func(time.Duration) }

func (f busy) Deliver(context.Context, accounts.Message) error {
	f.pass(30 * time.Second)
	return errors.New("busy")
}

// TestEachFailureIsLogged, also if attempts take so long that some mail is always due.
func TestEachFailureIsLogged(t *testing.T) {
	t.Parallel()
	p := servePost(t, plazatest.Engines[0], false)
	for _, handle := range []string{"ada", "ben"} {
		p.withEmail(t, handle, handle+"@site.example")
	}
	p.request(t, "ada")
	p.request(t, "ben")
	now := func() time.Time { return time.Now().Add(time.Duration(p.passed.Load())) }
	mails := accounts.Mails{Mailer: busy{p.pass}}
	service := network.New(p.Store, network.Options{Now: now, Accounts: accounts.Options{Mails: mails}})
	lines := make(chan string, 1)
	ctx, cancel := context.WithTimeout(t.Context(), testtime.Patience())
	defer cancel()
	go service.RunMails(ctx, slog.New(slog.NewTextHandler(lineWriter(lines), nil)))
	for range 4 {
		select {
		case line := <-lines:
			if !strings.Contains(line, "busy") {
				t.Error(line)
			}
		case <-ctx.Done():
			t.Fatal("nothing is logged")
		}
	}
}

// unread is a store whose queue of mails cannot be read.
type unread struct{ storage.Store }

func (unread) TakeMail(context.Context, time.Time, time.Time) (social.Mail, error) {
	return social.Mail{}, social.ErrUnavailable
}

// TestQueueThatCannotBeReadIsLogged as what it is: perhaps there is no mail.
func TestQueueThatCannotBeReadIsLogged(t *testing.T) {
	t.Parallel()
	lines := make(chan string, 1)
	ctx, cancel := context.WithTimeout(t.Context(), testtime.Patience())
	defer cancel()
	mails := accounts.Mails{Mailer: busy{}}
	service := network.New(unread{plazatest.Engines[0].Open(t)}, network.Options{Accounts: accounts.Options{Mails: mails}})
	go service.RunMails(ctx, slog.New(slog.NewTextHandler(lineWriter(lines), nil)))
	select {
	case line := <-lines:
		if !strings.Contains(line, `msg="the queue of mails cannot be read"`) {
			t.Error(line)
		}
	case <-ctx.Done():
		t.Fatal("nothing is logged")
	}
}

type lineWriter chan string

func (w lineWriter) Write(line []byte) (int, error) {
	select {
	case w <- string(line):
	default:
	}
	return len(line), nil
}

// TestRequestsAreLimited for each client.
func TestRequestsAreLimited(t *testing.T) {
	t.Parallel()
	plazatest.ForEachDatabase(t, func(t *testing.T, e plazatest.Engine) {
		p := servePost(t, e, true)
		for range 10 {
			must(t, p.request(t, "nobody"), `"userErrors":[]`)
		}
		must(t, p.request(t, "somebody"), "RATE_LIMITED")
	})
}
