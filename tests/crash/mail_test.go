package crash

import (
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"plaza/internal/plazatest"
	"plaza/internal/testtime"
	"plaza/mailer"
	"plaza/mailer/mailertest"
	"plaza/social/accounts"
	"plaza/social/network"
	"plaza/storage"
	"plaza/storage/mongodb"
	"plaza/storage/mongodb/mongotest"
	"plaza/storage/sqlite"
)

// TestAMailSurvivesAKill: a server is killed with SIGKILL while it sends a mail, which the SMTP
// server has not accepted. Another server sends the mail a minute later, once, and its link works.
func TestAMailSurvivesAKill(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		mailSurvivesAKill(t, []string{"--data", folder}, func() (storage.Store, error) {
			return sqlite.Open(t.Context(), filepath.Join(folder, "plaza.sqlite"))
		})
	})
	t.Run("mongodb", func(t *testing.T) {
		t.Parallel()
		uri := mongotest.Reused(t)
		mailSurvivesAKill(t, []string{"--mongodb-uri", uri}, func() (storage.Store, error) {
			return mongodb.Open(t.Context(), uri, mongodb.Options{})
		})
	})
}

func mailSurvivesAKill(t *testing.T, where []string, open func() (storage.Store, error)) {
	t.Helper()
	mailbox := mailertest.Listen(t)
	letGo := mailbox.Stall()
	defer letGo()
	process := plazatest.StartProcess(t, append(where, "--smtp-url", "smtp://"+mailbox.Address()+"?tls=off", "--mail-from", "plaza@site.example",
		"--password-reset-url", "https://site.example/reset", "--email-confirmation-url", "https://site.example/confirm")...)
	anyone := plazatest.Person{URL: process.URL(t)}
	var answer struct{ SignUp struct{ Token string } }
	anyone.Do(t, `mutation { signUp(input: {handle: "ada", name: "Ada", password: "password of ada"}) { token } }`, nil, &answer)
	ada := plazatest.Person{URL: anyone.URL, Token: answer.SignUp.Token}
	ada.Raw(t, `mutation { setEmail(input: {email: "ada@site.example", currentPassword: "password of ada"}) { userErrors { code } } }`)
	testtime.Eventually(t, "the server sends the mail", func() bool { return mailbox.Stalled() > 0 })
	if err := process.Command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = process.Command.Wait() // killed
	letGo()

	st, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	smtp, err := mailer.New("smtp://"+mailbox.Address()+"?tls=off", "plaza@site.example")
	if err != nil {
		t.Fatal(err)
	}
	service := network.New(st, network.Options{
		Now:      func() time.Time { return time.Now().Add(2 * time.Minute) },
		Accounts: accounts.Options{Mails: accounts.Mails{Mailer: smtp, ConfirmURL: "https://site.example/confirm"}},
	})
	mailbox.Take() // what the killed server had sent, if the SMTP server has accepted it
	for range 2 {
		if err := service.SendMails(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	mails := mailbox.Take()
	if len(mails) != 1 {
		t.Fatalf("%d mails have arrived", len(mails))
	}
	token := regexp.MustCompile(`token=(\S+)`).FindStringSubmatch(mails[0].Text)
	if token == nil {
		t.Fatal(mails[0].Text)
	}
	if address, err := service.ConfirmEmail(t.Context(), token[1]); err != nil || address != "ada@site.example" {
		t.Errorf("the link confirms %q: %v", address, err)
	}
}
