//go:build e2e

package e2e_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"plaza/internal/testtime"
)

// aboutViewer are the example tabs that need a viewer, and live those that wait for an event.
var (
	aboutViewer = []string{"MyNews", "PostSomething", "LiveNews"}
	live        = map[string]string{"LiveNews": `"newsItemAdded"`, "LiveComments": `"commentAdded"`}
	examples    = []string{"PublicWall", "MyNews", "PostSomething", "Thread", "LiveNews", "LiveComments", "Ads", "SignUp"}
)

// recorder keeps the page's answers over HTTP, by the name of the operation, because the editor
// draws only visible lines.
const recorder = `if (!window.answers) {
	window.answers = {};
	const fetch = window.fetch;
	window.fetch = async (...args) => {
		const response = await fetch(...args);
		try { window.answers[JSON.parse(args[1].body).operationName] = await response.clone().json(); } catch {}
		return response;
	};
}`

func openPage(url string) chromedp.Action {
	return chromedp.Tasks{
		chromedp.ActionFunc(func(ctx context.Context) error {
			_, err := page.AddScriptToEvaluateOnNewDocument(recorder).Do(ctx)
			return err
		}),
		chromedp.Navigate(url),
		chromedp.WaitVisible(`.graphiql-execute-button`),
		chromedp.WaitVisible(`.graphiql-query-editor .view-line`), // until then, the button does nothing
	}
}

// waitUntilKept waits until GraphiQL has stored which tab is open, which it does some time after a
// change.
func waitUntilKept(name string) chromedp.Action {
	kept := `JSON.parse(localStorage.getItem("plaza:graphiql:tabState"))?.activeTabIndex === ` + strconv.Itoa(slices.Index(examples, name))
	return until(kept)
}

// TestExamplesSignedOut presses the button of each example once: those that need a viewer report
// that, and all others work.
func TestExamplesSignedOut(t *testing.T) {
	url := startDemo(t)
	browser, complaints := openBrowser(t)
	run(browser, t, openPage(url))
	checkTabs(browser, t)
	tryOpen(browser, t, examples[0])
	for _, name := range examples[1:] {
		if slices.Contains(aboutViewer, name) {
			run(browser, t, openTab(name), execute(barSays("Sign in to run "+name)))
			continue
		}
		tryExample(browser, t, name)
	}
	complainNot(t, complaints)
}

// TestExamplesSignedIn presses the button of each example once, as ada; and again after a reload,
// which restores the tabs.
func TestExamplesSignedIn(t *testing.T) {
	url := startDemo(t)
	browser, complaints := openBrowser(t)
	run(browser, t, openPage(url), signIn())
	checkTabs(browser, t)
	for _, name := range examples {
		tryExample(browser, t, name)
	}
	last := examples[len(examples)-1]
	run(browser, t, waitUntilKept(last), openPage(url), chromedp.WaitVisible(`//*[contains(., "Signed in as")]`))
	checkTabs(browser, t)
	tryOpen(browser, t, last)
	tryExample(browser, t, "LiveComments")
	complainNot(t, complaints)
}

// TestExamplesOfAnEmptyPlaza: signing up works first, and the other tabs show its account.
func TestExamplesOfAnEmptyPlaza(t *testing.T) {
	url := start(t)
	browser, complaints := openBrowser(t)
	run(browser, t, openPage(url))
	tryOpen(browser, t, "SignUp")
	for _, name := range []string{"PublicWall", "Thread"} {
		tryExample(browser, t, name)
	}
	var handle string
	run(browser, t, chromedp.Evaluate(`window.answers.SignUp.data.signUp.viewer.user.handle`, &handle))
	run(browser, t,
		chromedp.SendKeys(`input[name=handle]`, handle, chromedp.ByQuery),
		chromedp.SendKeys(`input[name=password]`, "choose a long one", chromedp.ByQuery),
		chromedp.Click(`.plaza-bar form button`, chromedp.ByQuery),
		chromedp.WaitVisible(`//*[contains(., "Signed in as")]`),
	)
	for _, name := range []string{"PostSomething", "MyNews"} {
		tryExample(browser, t, name)
	}
	complainNot(t, complaints)
}

// tryExample opens a tab, presses the button once, and expects an answer without errors.
func tryExample(browser context.Context, t *testing.T, name string) {
	t.Helper()
	run(browser, t, openTab(name))
	tryOpen(browser, t, name)
}

// tryOpen does the same as tryExample for the tab that is open.
func tryOpen(browser context.Context, t *testing.T, name string) {
	t.Helper()
	if item, ok := live[name]; ok {
		run(browser, t, execute(shown(item)))
		return
	}
	var answer string
	run(browser, t,
		execute(`Boolean(window.answers[`+quoted(name)+`]) && `+shown(`"data"`)),
		chromedp.Evaluate(`JSON.stringify(window.answers[`+quoted(name)+`])`, &answer),
	)
	if strings.Contains(answer, `"errors"`) || strings.Contains(answer, `"code"`) {
		t.Errorf("%s: %.500s", name, answer)
	}
}

func barSays(text string) string {
	return `document.querySelector(".plaza-message").innerText.includes(` + quoted(text) + `)`
}

// checkTabs checks that the page has the tabs that the tests know.
func checkTabs(browser context.Context, t *testing.T) {
	t.Helper()
	var names []string
	run(browser, t, chromedp.Evaluate(`[...document.querySelectorAll("[role=tab]")].map((tab) => tab.innerText.trim())`, &names))
	if !slices.Equal(names, examples) {
		t.Errorf("the tabs are %v, want %v", names, examples)
	}
}

// TestPhone checks the page on a small screen: nothing is wider than the screen, and the panes have
// room.
func TestPhone(t *testing.T) {
	url := startDemo(t)
	browser, complaints := openBrowser(t)
	run(browser, t,
		chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulateScale(2)),
		openPage(url),
		keepPicture("phone-signed-out.png"),
	)
	checkRoom(browser, t, map[string]int{".plaza-bar form": 30, ".plaza-demo": 30, ".graphiql-query-editor": 200, ".result-window": 200, ".graphiql-execute-button": 30})
	run(browser, t, signIn(), openTab("MyNews"), execute(shown(`"handle": "ada"`)), keepPicture("phone.png"))
	checkRoom(browser, t, map[string]int{".plaza-bar": 30, ".graphiql-query-editor": 200, ".result-window": 200})
	run(browser, t, chromedp.Click(`button[aria-label="Show Documentation Explorer"]`), chromedp.WaitVisible(`.graphiql-doc-explorer-title`))
	checkRoom(browser, t, map[string]int{".graphiql-plugin": 400})
	complainNot(t, complaints)
}

// checkRoom checks that elements are within the screen, with at least the given heights in pixels.
func checkRoom(browser context.Context, t *testing.T, heights map[string]int) {
	t.Helper()
	for selector, least := range heights {
		var box struct{ Left, Top, Right, Bottom float64 }
		run(browser, t, chromedp.Evaluate(`document.querySelector(`+quoted(selector)+`).getBoundingClientRect().toJSON()`, &box))
		if box.Left < 0 || box.Top < 0 || box.Right > 390.5 || box.Bottom > 844.5 || box.Bottom-box.Top < float64(least) {
			t.Errorf("%s is at %+v, want it on the screen and %d high", selector, box, least)
		}
	}
	var width int
	run(browser, t, chromedp.Evaluate(`document.documentElement.scrollWidth`, &width))
	if width > 390 {
		t.Errorf("the page is %d wide", width)
	}
}

// TestPicturesInABrowser loads avatars and photos of the demo in a page of another origin, also
// with CORS.
func TestPicturesInABrowser(t *testing.T) {
	url := startDemo(t)
	var answer struct {
		Data struct {
			User struct {
				AvatarURL string
				Wall      struct {
					Nodes []struct {
						URL           string
						Width, Height int
					}
				}
			}
		}
	}
	send(t, url, "", `{ user(handle: "ada") { avatarUrl wall(first: 50) { nodes { ... on PhotoPost { url width height } } } } }`, &answer)
	sizes := map[string][2]int{answer.Data.User.AvatarURL: {256, 256}}
	for _, p := range answer.Data.User.Wall.Nodes {
		if p.URL != "" {
			sizes[p.URL] = [2]int{p.Width, p.Height}
		}
	}
	if len(sizes) < 3 {
		t.Fatalf("ada shows %v", sizes)
	}
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Cross-Origin-Embedder-Policy", "require-corp")
		for address := range sizes {
			_, _ = w.Write([]byte(`<img src="` + address + `"><img crossorigin src="` + address + `">`))
		}
	}))
	defer elsewhere.Close()
	browser, complaints := openBrowser(t)
	var seen map[string][][2]int
	run(browser, t,
		chromedp.Navigate(strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1)),
		chromedp.Poll(`[...document.images].length >= `+strconv.Itoa(2*len(sizes))+` && [...document.images].every((image) => image.complete)`, nil,
			chromedp.WithPollingTimeout(testtime.Patience()), chromedp.WithPollingInterval(lookEvery)),
		chromedp.Evaluate(`[...document.images].reduce((all, i) => ({...all, [i.src]: [...(all[i.src] ?? []), [i.naturalWidth, i.naturalHeight]]}), {})`, &seen),
		keepPicture("pictures.png"),
	)
	for address, size := range sizes {
		if got := seen[address]; len(got) != 2 || got[0] != size || got[1] != size {
			raw, _ := json.Marshal(got)
			t.Errorf("%s is shown as %s, want twice %v", address, raw, size)
		}
	}
	for _, complaint := range complaints() {
		if !strings.Contains(complaint, "favicon") {
			t.Errorf("the browser complains: %s", complaint)
		}
	}
}
