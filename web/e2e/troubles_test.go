//go:build e2e

package e2e_test

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestLiveNewsAfterARestart: a running subscription goes on when the server is back, and the page
// says so while it is away.
func TestLiveNewsAfterARestart(t *testing.T) {
	data := t.TempDir()
	url, stop := launch(t, "--demo", "--addr", "127.0.0.1:0", "--data", data)
	browser, _ := openBrowser(t)
	run(browser, t, openPage(url), signIn(), openTab("LiveNews"))
	stopPosts := postUntilShown(t, url, "Before the restart")
	run(browser, t, execute(shown("Before the restart")))
	stopPosts()
	stop()
	run(browser, t, until(barSays("Trying to connect again")))
	launch(t, "--demo", "--addr", strings.TrimPrefix(url, "http://"), "--data", data)
	stopPosts = postUntilShown(t, url, "After the restart")
	run(browser, t, until(shown("After the restart")), until(`!`+barSays("Trying to connect again")))
	stopPosts()
}

// TestNoLiveConnection: a subscription that cannot begin says why.
func TestNoLiveConnection(t *testing.T) {
	url, stop := launch(t, "--demo", "--addr", "127.0.0.1:0", "--data", t.TempDir())
	browser, _ := openBrowser(t)
	run(browser, t, openPage(url), openTab("LiveComments"))
	stop()
	run(browser, t, execute(shown("Plaza does not accept a websocket")))
}

// TestSessionEndedElsewhere: the page says that the session has ended, whatever shows it first.
func TestSessionEndedElsewhere(t *testing.T) {
	url := startDemo(t)
	browser, _ := openBrowser(t)
	run(browser, t, openPage(url))
	for _, name := range []string{"MyNews", "LiveNews"} {
		run(browser, t, signIn(), openTab(name))
		var other struct {
			Data struct{ SignIn struct{ Token string } }
		}
		send(t, url, "", `mutation { signIn(input: {handle: "ada", password: "plaza-demo"}) { token } }`, &other)
		send(t, url, other.Data.SignIn.Token, `mutation { revokeOtherSessions { userErrors { code } } }`, nil)
		run(browser, t, execute(barSays("Your session has ended")), until(shown("UNAUTHENTICATED")))
		run(browser, t, until(barSays("Your session has ended")))
	}
	run(browser, t, openTab("PublicWall"), execute(`!`+barSays("Your session has ended")))
}

// TestStorage: the page works in a browser that stores nothing, or in which something else is
// stored.
func TestStorage(t *testing.T) {
	url := startDemo(t)
	for name, script := range map[string]string{
		"cookies are blocked": `for (const name of ["localStorage", "sessionStorage"])
			Object.defineProperty(window, name, { get() { throw new DOMException("no", "SecurityError"); } });`,
		"there is no room":  `Storage.prototype.setItem = () => { throw new DOMException("full", "QuotaExceededError"); };`,
		"a broken session":  `sessionStorage.setItem("plaza:session", "{");`,
		"tabs of another":   `localStorage.setItem("plaza:graphiql:tabState", '{"tabs": {}}');`,
		"broken tabs":       `localStorage.setItem("plaza:graphiql:tabState", '{"tabs": [null]}');`,
		"a broken filling":  `localStorage.setItem("plaza:filled", "[null]"); localStorage.setItem("plaza:graphiql:tabState", '{"tabs": [{"id": "a", "query": "{ __typename }"}], "activeTabIndex": 0}');`,
		"a filling of none": `localStorage.setItem("plaza:filled", "{}");`,
	} {
		t.Run(name, func(t *testing.T) {
			browser, complaints := openBrowser(t)
			run(browser, t,
				chromedp.ActionFunc(func(ctx context.Context) error {
					_, err := page.AddScriptToEvaluateOnNewDocument(script).Do(ctx)
					return err
				}),
				openPage(url),
				signIn(),
			)
			if name != "a broken filling" {
				tryExample(browser, t, "MyNews")
			}
			complainNot(t, complaints)
		})
	}
}

// TestFocus: who uses the keyboard does not have to begin at the top of the page after signing in
// or out, or when a dialog closes.
func TestFocus(t *testing.T) {
	url := startDemo(t)
	browser, complaints := openBrowser(t)
	const settings = `button[aria-label="Open settings dialog"]`
	run(browser, t,
		openPage(url),
		chromedp.Focus(`.plaza-demo`), chromedp.KeyEvent(kb.Enter), until(focusOn(`.plaza-bar button`, "Sign out")),
		chromedp.KeyEvent(kb.Enter), until(focusOn(`.plaza-demo`, "Sign in as @ada")),
		chromedp.Focus(settings), chromedp.KeyEvent(kb.Enter), until(focusOn(`[role=dialog] *`, "")),
		chromedp.KeyEvent(kb.Escape), until(focusOn(settings, "")),
	)
	complainNot(t, complaints)
}

func focusOn(selector, text string) string {
	return `document.activeElement.matches(` + quoted(selector) + `) && document.activeElement.innerText.includes(` + quoted(text) + `)`
}

// TestSmallScreens: nothing is wider than the screen, and nothing covers something else, on a small
// phone and on a laptop at a zoom of 200 %.
func TestSmallScreens(t *testing.T) {
	url := startDemo(t)
	browser, complaints := openBrowser(t)
	for _, size := range [][2]int64{{360, 740}, {320, 640}, {640, 400}} {
		run(browser, t, chromedp.EmulateViewport(size[0], size[1]), openPage(url))
		var isWide, isCovered bool
		run(browser, t,
			chromedp.Evaluate(`[document.documentElement, document.querySelector(".plaza-bar")].some((e) => e.scrollWidth > innerWidth)`, &isWide),
			chromedp.Evaluate(`document.querySelector(".graphiql-editor-tools").getBoundingClientRect().bottom > document.querySelector(".graphiql-response").getBoundingClientRect().top + 1`, &isCovered),
		)
		if isWide || isCovered {
			t.Errorf("%v: something is too wide: %v, the answer is covered: %v", size, isWide, isCovered)
		}
	}
	complainNot(t, complaints)
}
