//go:build e2e

package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"plaza/internal/testtime"
)

// isSignedIn reports whether a token is valid.
func isSignedIn(t *testing.T, url, token string) bool {
	t.Helper()
	var answer struct {
		Data struct{ Viewer struct{ ID string } }
	}
	send(t, url, token, `{ viewer { id } }`, &answer)
	return answer.Data.Viewer.ID != ""
}

// signsInElsewhere returns the token of another session of someone who has signed up with signUp.
func signsInElsewhere(t *testing.T, url, handle string) string {
	t.Helper()
	var signedIn struct {
		Data struct{ SignIn struct{ Token string } }
	}
	send(t, url, "", `mutation { signIn(input: {handle: "`+handle+`", password: "correct horse"}) { token } }`, &signedIn)
	return signedIn.Data.SignIn.Token
}

// TestAppSessions: people see where they are signed in, and end one session or all others.
func TestAppSessions(t *testing.T) {
	url := start(t)
	ann := arrive(t, url)
	ann.signUp("ann", "Ann Lee")
	first, second := signsInElsewhere(t, url, "ann"), signsInElsewhere(t, url, "ann")
	listed := func(want string) {
		t.Helper()
		ann.do(until(`[...document.querySelectorAll("li .what small")].map((small) => small.innerText.split(" ")[0]).join() === "` + want + `"`))
	}
	ann.open("settings/account")
	listed("Used,Used,This") // newest first
	ann.press(`(//button[.="End"])[1]`)
	listed("Used,This")
	ann.focusSays("The session has ended.") // its button is gone
	if isSignedIn(t, url, second) || !isSignedIn(t, url, first) {
		t.Error("the wrong session has ended")
	}
	ann.press(named("Sign out everywhere else"))
	ann.sees("All your other sessions have ended.")
	listed("This")
	if isSignedIn(t, url, first) {
		t.Error("the other session goes on")
	}
	complainNot(t, ann.complaints)
}

// TestAppAccessTokens creates a token, which is shown once, and revokes it. Mistakes are at their
// fields. The scopes of rights are only offered to those who have them.
func TestAppAccessTokens(t *testing.T) {
	url := start(t)
	ann := arrive(t, url)
	ann.signUp("ann", "Ann Lee")
	ann.open("settings/account")
	ann.press(named("Create an access token"))
	ann.do(chromedp.WaitVisible(`dialog`, chromedp.ByQuery), chromedp.KeyEvent(kb.Escape), chromedp.WaitNotPresent(`dialog`, chromedp.ByQuery))
	ann.press(named("Create an access token"))
	ann.press(named("Create"))
	ann.do(until(`document.querySelectorAll("dialog .field [aria-invalid], dialog fieldset[aria-invalid]").length === 2`))
	ann.doesNotSee("Moderate")
	ann.fill("Name", "Weather robot")
	ann.choose("Read everything that you can read")
	ann.press(named("Create"))
	ann.sees("it is shown only once")
	var token string
	ann.do(chromedp.Value(`[aria-label="The token"]`, &token, chromedp.ByQuery))
	if !isSignedIn(t, url, token) {
		t.Errorf("the token %q is not valid", token)
	}
	ann.do(until(`document.activeElement.ariaLabel === "The token"`), chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent(kb.Escape), chromedp.MouseClickXY(5, 5))
	ann.do(until(`document.querySelector("dialog[open] input").value === ` + quoted(token)))
	ann.closesDialog()
	ann.sees("Weather robot", "Never used")
	ann.press(named("Revoke"))
	ann.press(`//dialog`, named("Revoke"))
	ann.focusSays("“Weather robot” is revoked.")
	ann.do(chromedp.WaitNotPresent(named("Revoke"), chromedp.BySearch))
	if isSignedIn(t, url, token) {
		t.Error("the token is still valid")
	}
	complainNot(t, ann.complaints)
}

// TestAppDownload downloads all that is stored about someone.
func TestAppDownload(t *testing.T) {
	folder := t.TempDir()
	ann := arrive(t, start(t))
	ann.signUp("ann", "Ann Lee")
	ann.do(browser.SetDownloadBehavior(browser.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(folder))
	ann.open("settings/account")
	ann.press(named("Download my data"))
	testtime.Eventually(t, "the whole file", func() bool {
		lines, _ := os.ReadFile(filepath.Join(folder, "plaza.jsonl"))
		return strings.Contains(string(lines), `"handle":"ann"`) && strings.HasSuffix(string(lines), "{\"type\":\"end\"}\n")
	})
	complainNot(t, ann.complaints)
}

// answerLate holds back the answer of deactivateAccount until window.answer is called.
const answerLate = `
	window.reallyFetch = window.fetch;
	window.fetch = async (url, init) => {
		const answer = await window.reallyFetch(url, init);
		if (String(init?.body).includes("deactivateAccount")) await new Promise((resolve) => { window.answer = resolve; });
		return answer;
	};`

// TestAppLeaving: an account is away until its owner signs in again; a deleted one is gone. Both
// need the password, and all tabs and sessions end.
func TestAppLeaving(t *testing.T) {
	url := start(t)
	ann, bob := annAndBob(t, url)
	tab, elsewhere := ann.anotherTab(), signsInElsewhere(t, url, "ann")
	ann.writes("Here I am")
	ann.sees("0 comments")
	ann.press(named("Settings"))
	ann.press(named("Account"))
	ann.press(named("Deactivate my account"))
	leave := func(label, password string) {
		t.Helper()
		ann.do(chromedp.SetValue(`dialog [type=password]`, password, chromedp.ByQuery))
		ann.press(`//dialog//form`, named(label))
	}
	leave("Deactivate my account", "wrong")
	ann.do(chromedp.WaitVisible(`dialog .field .error`, chromedp.ByQuery), until(`document.activeElement.matches("dialog [type=password]")`))
	ann.do(chromedp.Evaluate(answerLate, nil))
	leave("Deactivate my account", "correct horse")
	ann.sees("New here?") // the websocket says that the session has ended, before the answer has come
	ann.do(until(`window.answer`), chromedp.Evaluate(`window.fetch = window.reallyFetch; window.answer()`, nil))
	ann.sees("Your account is deactivated.")
	ann.doesNotSee("Your session has ended.")
	tab.sees("Share with the right people.")
	bob.open("people/ann")
	bob.sees("There is no @ann")
	if isSignedIn(t, url, elsewhere) {
		t.Error("another session goes on")
	}
	signIn := func() {
		t.Helper()
		ann.fill("Handle", "ann")
		ann.fill("Password", "correct horse")
		ann.press(`//form`, named("Sign in"))
	}
	signIn()
	ann.sees("Here I am")

	ann.press(named("Settings"))
	ann.press(named("Account"))
	ann.press(named("Delete my account"))
	leave("Delete my account", "correct horse")
	ann.do(until(`document.querySelector("dialog [type=checkbox]:invalid")`))
	ann.choose("I understand")
	ann.press(`//dialog//form`, named("Delete my account"))
	ann.sees("Your account is deleted.")
	signIn()
	ann.do(chromedp.WaitVisible(`.error`, chromedp.ByQuery))
	for _, p := range []*person{ann, bob} {
		complainNot(t, p.complaints)
	}
}
