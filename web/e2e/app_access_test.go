//go:build e2e

package e2e_test

import (
	"encoding/json"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"plaza/internal/testtime"
	"plaza/issuer/issuertest"
	"plaza/mailer/mailertest"
)

// TestAppForgottenPassword: someone with a confirmed e-mail address sets a new password by the
// links of mails, which lead to the app, also where only members read.
func TestAppForgottenPassword(t *testing.T) {
	smtp := mailertest.Listen(t)
	mira := arrive(t, start(t, append(mailingBy(smtp), "--reading=members")...))
	mira.signUp("mira", "Mira")
	mira.open("settings/account")
	mira.fill("E-mail address", "mira@site.example")
	mira.do(chromedp.SendKeys(`//section[h2="E-mail"]//input[@type="password"]`, "correct horse", chromedp.BySearch))
	mira.press(`//section[h2="E-mail"]`, named("Save"))
	mira.sees("We have sent a link to mira@site.example")
	mira.open(linkIn(t, smtp))
	mira.press(named("Confirm"))
	mira.sees("mira@site.example is confirmed")
	mira.open("settings")
	mira.press(named("Sign out"))

	mira.press(named("Sign in"))
	mira.press(named("Forgot your password?"))
	mira.fill("Handle or e-mail address", "mira@site.example")
	mira.press(named("Send me a link"))
	mira.sees("we have sent it a link")
	link := linkIn(t, smtp)
	mira.open(link)
	mira.fill("New password", "battery staple")
	mira.press(named("Set the password"))
	mira.sees("The password of @mira is set")
	mira.press(`//main`, named("Sign in"))
	mira.fill("Handle", "mira")
	mira.fill("Password", "battery staple")
	mira.press(`//form`, named("Sign in"))
	mira.sees("Signed in as @mira")

	mira.open(link) // it works once
	mira.fill("New password", "another one")
	mira.press(named("Set the password"))
	mira.sees("This link is invalid, used or expired.")
	complainNot(t, mira.complaints)
}

// mailingBy returns the flags with which a server sends mails whose links lead to the app.
func mailingBy(smtp *mailertest.Server) []string {
	return []string{"--smtp-url=smtp://" + smtp.Address() + "?tls=off", "--mail-from=Plaza <plaza@site.example>", "--public-url=http://plaza.site.example"}
}

// linkIn waits for a mail, and returns the page of the app that its link leads to.
func linkIn(t *testing.T, smtp *mailertest.Server) string {
	t.Helper()
	var mails []mailertest.Mail
	testtime.Eventually(t, "a mail", func() bool {
		mails = smtp.Take()
		return len(mails) > 0
	})
	return regexp.MustCompile(`http://plaza\.site\.example/app/(\S+)`).FindStringSubmatch(mails[0].Text)[1]
}

// TestAppProvider: someone signs in with an OpenID provider, the first time with an invitation, and
// comes back to the page where they wanted to go.
func TestAppProvider(t *testing.T) {
	site, data := issuertest.New(t), t.TempDir()
	smtp := mailertest.Listen(t)
	url, _ := launch(t, append(mailingBy(smtp), "--registration=invitation", "--oidc-provider=issuer="+site.URL+",client-id="+issuertest.Audience, "--addr=127.0.0.1:0", "--data="+data)...)
	out, err := exec.CommandContext(t.Context(), binary, "invitation", "create", "--data="+data).Output()
	if err != nil {
		t.Fatal(err)
	}
	mira, ask := arrive(t, url), "Sign in with "+strings.TrimPrefix(site.URL, "http://")
	mira.open("settings")
	mira.press(named(ask))
	mira.fill("Invitation", "mistyped")
	mira.press(named("Create my account"))
	mira.do(chromedp.WaitVisible(`.error`, chromedp.ByQuery))
	mira.press(named("Back to sign-in"))
	mira.press(named(ask))
	mira.fill("Invitation", string(regexp.MustCompile(`invite_\w+`).Find(out)))
	mira.press(named("Create my account"))
	mira.sees("Signed in as @mira", "About you")

	mira.press(named("Account"))
	mira.sees("Signed in on", "Create an access token")
	mira.doesNotSee("Current password", "E-mail address")
	mira.press(named("Deactivate my account"))
	mira.doesNotSee("Current password")
	mira.press(`//dialog//form`, named("Deactivate my account"))
	mira.sees("Your account is deactivated.")
	deactivated := time.Now().Unix()
	page := strings.TrimPrefix(ask, "Sign in with ")
	for forged, want := range map[string]string{page: page + " does not answer as it should", "other.example": "This sign-in has expired"} {
		begun, _ := json.Marshal(map[string]string{"issuer": site.URL, "clientId": issuertest.Audience, "state": "known"})
		mira.do(chromedp.Evaluate(`sessionStorage.setItem("plaza sign-in", `+quoted(string(begun))+`)`, nil))
		mira.open("sign-in/" + forged + "?code=forged&state=known")
		mira.sees(want)
	}
	mira.open("sign-in/" + page + "?code=forged&state=forged")
	mira.sees("This sign-in has expired")
	mira.press(named("Back to sign-in"))
	mira.press(`//main`, named("Create an account"))
	mira.press(`//main`, named("Sign in"))
	// Tokens that were issued in the second of the deactivation are not valid.
	testtime.Eventually(t, "the next second", func() bool { return time.Now().Unix() > deactivated })
	mira.press(named(ask)) // which brings the account back
	mira.do(chromedp.WaitVisible(`//*[.="Your news feed is empty"]`, chromedp.BySearch))
	for _, complaint := range mira.complaints() {
		if !strings.Contains(complaint, site.URL+"/token") { // which refuses the forged code
			t.Errorf("the browser complains: %s", complaint)
		}
	}
}
