//go:build e2e

package e2e_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// person is someone with a browser at the web app.
type person struct {
	t          *testing.T
	browser    context.Context //nolint:containedctx // chromedp's handle of a tab
	url        string
	do         func(...chromedp.Action)
	complaints func() []string
}

func arrive(t *testing.T, url string) *person {
	t.Helper()
	browser, complaints := openBrowser(t)
	do := func(actions ...chromedp.Action) {
		t.Helper()
		run(browser, t, actions...)
	}
	p := &person{t: t, browser: browser, url: url, do: do, complaints: complaints}
	p.open("")
	return p
}

// open goes to a page of the app.
func (p *person) open(page string) {
	p.t.Helper()
	p.do(chromedp.Navigate(p.url+"/app/"+page), chromedp.WaitVisible(`main`, chromedp.ByQuery))
}

// named is the XPath of buttons and links with a name.
func named(name string) string {
	return `//*[self::button or self::a][normalize-space(.)=` + quoted(name) + ` or @aria-label=` + quoted(name) + `]`
}

// near is the XPath of the posts and comments with a text.
func near(text string) string {
	return `//*[self::article or self::li][contains(., ` + quoted(text) + `)]`
}

func (p *person) press(path ...string) {
	p.t.Helper()
	p.do(chromedp.Click(strings.Join(path, ""), chromedp.BySearch))
}

// fill writes into the field with a label.
func (p *person) fill(label, text string) {
	p.t.Helper()
	p.do(chromedp.SendKeys(`//*[contains(@class, "field")][label[.=`+quoted(label)+`]]//*[self::input or self::textarea]`, text, chromedp.BySearch))
}

// choose presses a radio button or checkbox by its label.
func (p *person) choose(label string) {
	p.t.Helper()
	p.press(`//label[contains(., ` + quoted(label) + `)]`)
}

func says(text string) string {
	return `document.body.innerText.includes(` + quoted(text) + `)`
}

func (p *person) sees(texts ...string) {
	p.t.Helper()
	for _, text := range texts {
		p.do(until(says(text)))
	}
}

func (p *person) doesNotSee(texts ...string) {
	p.t.Helper()
	for _, text := range texts {
		p.do(until(`!` + says(text)))
	}
}

func (p *person) signUp(handle, name string) {
	p.t.Helper()
	p.open("sign-up")
	p.fill("Name", name)
	p.fill("Handle", handle)
	p.fill("Password", "correct horse")
	p.press(named("Create my account"))
	p.sees("Your news feed is empty")
}

// annAndBob are two people with accounts, each at their own browser.
func annAndBob(t *testing.T, url string) (ann, bob *person) {
	t.Helper()
	ann, bob = arrive(t, url), arrive(t, url)
	ann.signUp("ann", "Ann Lee")
	bob.signUp("bob", "Bob Berg")
	return ann, bob
}

// writes fills in the composer, and posts. The post before may be shown before the composer is
// emptied for the next one.
func (p *person) writes(text string) {
	p.t.Helper()
	p.do(until(`document.querySelector(".composer textarea")?.readOnly === false`))
	p.fill("Text", text)
	p.press(named("Post"))
}

func (p *person) comments(text string) {
	p.t.Helper()
	p.fill("Your comment", text)
	p.press(named("Comment"))
}

func (p *person) closesDialog() {
	p.t.Helper()
	p.press(`//dialog`, named("Close"))
	p.do(chromedp.WaitNotPresent(`dialog`, chromedp.ByQuery))
}

// anotherTab opens the app in a second tab of the same browser. It has a window of its own, because
// hidden tabs draw nothing.
func (p *person) anotherTab() *person {
	p.t.Helper()
	var id target.ID
	p.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		id, err = target.CreateTarget("about:blank").WithNewWindow(true).Do(cdp.WithExecutor(ctx, chromedp.FromContext(ctx).Browser))
		return err
	}))
	second, cancel := chromedp.NewContext(p.browser, chromedp.WithTargetID(id))
	p.t.Cleanup(cancel)
	if err := chromedp.Run(second, emulation.SetFocusEmulationEnabled(true)); err != nil {
		p.t.Fatal(err)
	}
	tab := *p
	tab.do = func(actions ...chromedp.Action) {
		p.t.Helper()
		run(second, p.t, actions...)
	}
	tab.open("")
	return &tab
}

// graphql sends an operation with the cookie of the browser.
func (p *person) graphql(operation string) {
	p.t.Helper()
	body, _ := json.Marshal(map[string]string{"query": operation})
	p.do(chromedp.Evaluate(`fetch("/graphql", {method: "POST", headers: {"Content-Type": "application/json"}, body: `+quoted(string(body))+`}).then((answer) => answer.json())`, nil, awaitPromise))
}

func awaitPromise(p *runtime.EvaluateParams) *runtime.EvaluateParams {
	return p.WithAwaitPromise(true)
}

func (p *person) signInToDemo() {
	p.t.Helper()
	p.press(named("Look around as @ada"))
	p.do(chromedp.WaitVisible(`article.post`, chromedp.ByQuery))
}

// TestAppTogether is about three people on a new Plaza: what is for a circle arrives at its members
// only, threads are live on both sides, and a block hides two people from each other.
func TestAppTogether(t *testing.T) {
	url := start(t)
	mira, noor, olaf := arrive(t, url), arrive(t, url), arrive(t, url)
	mira.signUp("mira", "Mira Lund")
	noor.signUp("noor", "Noor Haas")
	olaf.signUp("olaf", "Olaf Berg")
	for _, follower := range []*person{noor, olaf} {
		follower.open("people/mira")
		follower.press(named("Follow"))
		follower.sees("1 follower", "Unfollow")
		follower.open("")
		follower.sees("Your news feed is empty")
	}

	mira.open("circles")
	mira.fill("A new circle", "Chess club")
	mira.press(named("Create"))
	mira.press(`//main`, named("Chess club"))
	mira.do(chromedp.SendKeys(`[aria-label="Find people by name or handle"]:not([name])`, "noo", chromedp.ByQuery))
	mira.press(named("Add Noor Haas"))
	mira.sees("In this circle")

	mira.open("")
	mira.choose("Chosen circles")
	mira.press(named("Post"))
	mira.sees("This must not be empty.", "This must have 1 to 50 entries.")
	mira.do(chromedp.Click(`//fieldset//label[contains(., "Chess club")]`, chromedp.BySearch))
	mira.writes("Knight to f3")
	mira.do(chromedp.WaitVisible(near("Knight to f3")+`//*[contains(@class, "for")][contains(., "Chess club")]`, chromedp.BySearch))
	noor.sees("Knight to f3", "Not public")
	mira.choose("Public")
	mira.writes("Hello, plaza")
	olaf.sees("Hello, plaza")
	olaf.doesNotSee("Knight to f3")

	mira.press(near("Knight to f3"), named("0 comments"))
	noor.press(near("Knight to f3"), named("0 comments"))
	for _, reader := range []*person{mira, noor} {
		reader.sees("No comments yet.")
	}
	noor.comments("Pawn to d5")
	mira.sees("Pawn to d5", "1 comment")
	mira.press(near("Pawn to d5"), named("Reply"))
	mira.fill("Your reply to Noor Haas", "Pawn to d4")
	mira.press(`//li`, named("Reply"), `[contains(@class, "primary")]`)
	noor.sees("Pawn to d4", "2 comments")
	noor.press(named("React"))
	noor.press(named("Love: 0"))
	mira.do(chromedp.WaitVisible(`[aria-label="Love: 1"]`, chromedp.ByQuery))
	noor.do(chromedp.Reload())
	noor.sees("Pawn to d4", "@noor")

	mira.open("people/noor")
	mira.press(named("Block"))
	mira.press(`//dialog`, named("Block"))
	mira.sees("Knight to f3")
	mira.doesNotSee("Pawn to d5")
	noor.doesNotSee("Knight to f3")
	noor.open("people/mira")
	noor.sees("There is no @mira")
	mira.open("settings")
	mira.press(named("Unblock Noor Haas"))
	mira.sees("You haven't blocked anyone.")
	noor.open("people/mira")
	noor.sees("Hello, plaza")
	noor.doesNotSee("Knight to f3")

	mira.open("settings")
	mira.press(named("Sign out"))
	mira.sees("Share with the right people.")
	mira.do(chromedp.Reload())
	mira.sees("Share with the right people.")
	for _, p := range []*person{mira, noor, olaf} {
		complainNot(t, p.complaints)
	}
}

// TestAppOfTheDemo looks at every page as ada, and takes the picture of the documentation.
func TestAppOfTheDemo(t *testing.T) {
	ada := arrive(t, startDemo(t))
	ada.do(chromedp.EmulateViewport(1400, 900))
	ada.signInToDemo()
	ada.do(until(`[...document.images].slice(0, 8).every((image) => image.complete) && document.getAnimations().length === 0`), keepPicture("app.png"))
	ada.do(chromedp.Evaluate(`scrollTo(0, document.body.scrollHeight)`, nil), until(`document.querySelectorAll("article").length > 20`)) // the next page comes by itself
	stop := postUntilShown(t, ada.url, "Posted while you watch")
	ada.do(chromedp.WaitVisible(`.pill`, chromedp.ByQuery))
	stop()
	ada.sees(" new post")
	ada.doesNotSee("Posted while you watch")
	ada.press(`//button[contains(@class, "pill")]`)
	ada.sees("Posted while you watch")
	for page, text := range map[string]string{
		"incoming": "Incoming", "wall": "By everyone", "circles": "Chess club", "notifications": "your post", "settings": "Who may write on your wall?",
		"settings/account": "Sign out everywhere else", "people?q=nad": "@nadia", "people/nadia": "Unfollow", "people/nadia/followers": "@ada", "nothing": "There is no such page",
	} {
		ada.open(page)
		ada.sees(text)
	}
	complainNot(t, ada.complaints)
}

// TestAppSuggestions: newcomers get suggestions, and then those that the people they follow lead
// to.
func TestAppSuggestions(t *testing.T) {
	ann := arrive(t, startDemo(t))
	ann.signUp("ann", "Ann Lee")
	ann.sees("People you may want to follow")
	ann.do(keepPicture("suggestions.png"))
	ann.open("people/ada")
	ann.press(named("Follow"))
	ann.sees("Unfollow")
	ann.open("people")
	ann.sees("Followed by Ada")
	ann.doesNotSee("@ada")
	ann.do(keepPicture("suggestions-2.png"))
	ann.press(near("Followed by Ada"), named("Follow"))
	ann.sees("Unfollow")
	ann.press(named("Incoming"))
	ann.sees("Nothing has come in")
	ann.do(chromedp.NavigateBack())
	ann.sees("Followed by Ada")
	ann.doesNotSee("Unfollow")
	complainNot(t, ann.complaints)
}

// TestAppAds: an ad between news says that it is one, leads to its click link, and its impression
// is recorded once it was seen.
func TestAppAds(t *testing.T) {
	ada := arrive(t, start(t, "--demo", "--news-ads=plaza/banner", "--news-ads-every=3"))
	ada.do(chromedp.Evaluate(`
		const really = window.fetch;
		window.recorded = [];
		window.fetch = async (url, init) => {
			const answer = await really(url, init);
			if (String(init?.body).includes("recordAdImpression")) window.recorded.push((await answer.clone().json()).data.recordAdImpression.recorded);
			return answer;
		};`, nil))
	ada.signInToDemo()
	ada.do(chromedp.WaitReady(`.ad`, chromedp.ByQuery), until(`document.querySelector(".ad").innerText.startsWith("Ad by ")`))
	ada.do(chromedp.Evaluate(`document.querySelector(".ad").scrollIntoView({block: "center"})`, nil), until(`window.recorded.join() === "true"`))
	ada.do(until(`document.querySelector(".ad a").href.startsWith(location.origin + "/ads/click/")`))
	ada.do(keepPicture("app-ad.png"))
	complainNot(t, ada.complaints)
}

// TestAppSignedOut: visitors read what is public, in all orders, and are offered nothing else.
func TestAppSignedOut(t *testing.T) {
	visitor := arrive(t, startDemo(t))
	visitor.open("people/ada")
	visitor.sees("Bookbinder on the plaza")
	visitor.press(`//article[contains(., "Where do we look first?")]`, `//footer//a[contains(., "comments")]`)
	for _, order := range []string{"Oldest", "Newest", "Threaded"} {
		visitor.press(named(order))
		visitor.do(chromedp.WaitVisible(`.thread .comment`, chromedp.ByQuery))
	}
	visitor.do(chromedp.Click(`.thread .when`, chromedp.ByQuery), chromedp.WaitVisible(`.comment.subject`, chromedp.ByQuery))
	visitor.sees("All comments", "Sign in to comment.")
	var offered []string
	visitor.do(chromedp.Evaluate(`[...document.querySelectorAll("main button:enabled")].map((button) => button.innerText)`, &offered))
	if len(offered) > 0 {
		t.Errorf("a visitor is offered %q", offered)
	}
	complainNot(t, visitor.complaints)
}

// TestAppForMembers: where only members read, and registration is closed, visitors can only sign
// in.
func TestAppForMembers(t *testing.T) {
	visitor := arrive(t, start(t, "--reading=members", "--registration=closed"))
	visitor.sees("Sign in")
	visitor.doesNotSee("Create an account")
	visitor.open("people/mira")
	visitor.sees("for members only")
	visitor.doesNotSee("Create an account")
	visitor.fill("Handle", "mira")
	visitor.fill("Password", "correct horse")
	visitor.press(`//form`, named("Sign in"))
	visitor.do(chromedp.WaitVisible(`.error`, chromedp.ByQuery))
}

// TestAppSessionEnds: a session that ends elsewhere leads to the sign-in, from where it goes on.
func TestAppSessionEnds(t *testing.T) {
	ada := arrive(t, startDemo(t))
	ada.signInToDemo()
	send(t, ada.url, tokenOfAda(t, ada.url), `mutation { revokeOtherSessions { userErrors { code } } }`, nil)
	ada.sees("Your session has ended")
	ada.fill("Handle", "@ada")
	ada.fill("Password", "plaza-demo")
	ada.press(`//form`, named("Sign in"))
	ada.sees("Signed in as @ada")
}

// TestAppOnAPhone: no page is wider than a small screen.
func TestAppOnAPhone(t *testing.T) {
	ada := arrive(t, startDemo(t))
	ada.do(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulateScale(2)))
	ada.open("")
	narrow := func(page string) {
		t.Helper()
		var width int
		ada.do(chromedp.Evaluate(`document.documentElement.scrollWidth`, &width))
		if width > 360 {
			t.Errorf("the page %q is %d wide", page, width)
		}
	}
	narrow("of visitors")
	ada.signInToDemo()
	narrow("news")
	ada.do(keepPicture("app-phone.png"))
	for page, text := range map[string]string{
		"circles": "Chess club", "notifications": "your post", "settings": "Who may write on your wall?", "settings/account": "Signed in on", "people/nadia": "Unfollow",
	} {
		ada.open(page)
		ada.sees(text)
		narrow(page)
		var covered []string
		ada.do(chromedp.Evaluate(coveredInFocus, &covered))
		if len(covered) > 0 {
			t.Errorf("on the page %q these are covered while they have the focus: %q", page, covered)
		}
	}
	ada.open("people/ada")
	ada.press(`//article[contains(., "Where do we look first?")]`, `//footer//a[contains(., "comments")]`)
	ada.press(named("Threaded"))
	ada.do(chromedp.WaitVisible(`.comment.depth-2`, chromedp.ByQuery))
	narrow("a thread")
	complainNot(t, ada.complaints)
}

// coveredInFocus lists the controls that the bar or the navigation cover while they have the focus.
const coveredInFocus = `(() => {
	const place = (element) => element.getBoundingClientRect();
	const top = place(document.querySelector(".bar")).bottom, bottom = place(document.querySelector(".side")).top;
	const controls = [...document.querySelectorAll("main :is(a, button, input, select, textarea)")];
	return [...controls, ...controls.toReversed()].filter((control) => {
		control.focus();
		return document.activeElement === control && (place(control).top < top || place(control).bottom > bottom);
	}).map((control) => control.outerHTML);
})()`

// TestAppWriting writes, edits and deletes posts and comments.
func TestAppWriting(t *testing.T) {
	ann := arrive(t, start(t))
	ann.signUp("ann", "Ann Lee")
	ann.press(named("Poll"))
	ann.fill("Question", "Tea?")
	ann.do(chromedp.SendKeys(`[aria-label="Option 1"]`, "Yes", chromedp.ByQuery))
	ann.press(named("Post"))
	ann.sees("This must have 2 to 10 entries.")
	ann.do(chromedp.SendKeys(`[aria-label="Option 2"]`, "No", chromedp.ByQuery))
	ann.press(named("Post"))
	ann.press(near("Tea?"), `//button[contains(., "Yes")]`)
	ann.sees("1 vote")
	ann.press(near("Tea?"), named("Edit"))
	ann.do(chromedp.SendKeys(`dialog textarea`, " Or coffee?", chromedp.ByQuery))
	ann.press(named("Save"))
	ann.sees("Or coffee?", "edited")
	ann.press(near("Tea?"), named("Audience"))
	ann.press(`//dialog//label[contains(., "Only me")]`)
	ann.press(named("Save"))
	ann.do(chromedp.WaitNotPresent(`dialog`, chromedp.ByQuery), chromedp.WaitVisible(near("Tea?")+`//*[contains(@class, "for")][contains(., "Only me")]`, chromedp.BySearch))

	ann.press(near("Tea?"), named("0 comments"))
	ann.comments("First words")
	ann.press(near("First words"), named("Reply"))
	ann.fill("Your reply to Ann Lee", "Second words")
	ann.press(`//li`, named("Reply"), `[contains(@class, "primary")]`)
	ann.do(chromedp.WaitVisible(`//li[contains(@class, "depth-1")][contains(., "Second words")]`, chromedp.BySearch))
	ann.press(near("First words"), named("Delete"))
	ann.press(`//dialog`, named("Delete"))
	ann.sees("This comment was deleted.")
	ann.press(named("Newest"))
	ann.press(named("in reply to a deleted comment"))
	ann.do(chromedp.WaitVisible(`.comment .tombstone`, chromedp.ByQuery))
	ann.press(near("Second words"), named("Delete"))
	ann.press(`//dialog`, named("Delete"))
	ann.sees("This comment isn't available.")

	ann.open("")
	ann.press(near("Tea?"), named("Delete"))
	ann.press(`//dialog`, named("Delete"))
	ann.sees("Your news feed is empty")
	complainNot(t, ann.complaints)
}

// TestAppUnreadableAddress: a post whose address a browser can't read does not take the page with
// it, and neither does a fault in the app.
func TestAppUnreadableAddress(t *testing.T) {
	ann := arrive(t, start(t))
	ann.signUp("ann", "Ann Lee")
	for _, url := range []string{"https://xn--a/", "https://[fe80::1%25en0]/"} {
		ann.graphql(`mutation { createPost(input: {content: {link: {url: "` + url + `", title: "Odd"}}, audience: {kind: PUBLIC}}) { post { id } } }`)
	}
	ann.do(chromedp.Reload(), until(`document.querySelectorAll("article.post .link").length === 2`))
	ann.sees("xn--a", "[fe80::1%25en0]")
	complainNot(t, ann.complaints)
	ann.do(chromedp.Evaluate(`URL.canParse = () => { throw new Error("a fault") }`, nil))
	ann.press(named("Circles"))
	ann.sees("A new circle")
	ann.press(named("News"))
	ann.sees("This post can't be shown.", "Who can see it?")
}

// TestAppTabs: all tabs of a browser show the person of the cookie.
func TestAppTabs(t *testing.T) {
	ann := arrive(t, start(t))
	tab := ann.anotherTab()
	ann.signUp("ann", "Ann Lee")
	tab.sees("Signed in as @ann")
	tab.press(named("Sign out"))
	ann.sees("Share with the right people.")
	tab.signUp("bob", "Bob Lee")
	ann.sees("Signed in as @bob")

	// A tab that got no message, because it slept, looks when it becomes visible.
	tab.do(chromedp.Evaluate(`fetch("/session", {method: "DELETE"}).then(({ok}) => ok)`, nil, awaitPromise))
	ann.do(chromedp.Evaluate(`document.dispatchEvent(new Event("visibilitychange"))`, nil))
	ann.doesNotSee("Signed in as @bob")
}

// TestAppKeepsTheNextSession: a tab whose session has ended does not end the session that replaced
// it.
func TestAppKeepsTheNextSession(t *testing.T) {
	ada := arrive(t, startDemo(t))
	ada.signInToDemo()
	token := tokenOfAda(t, ada.url)
	ada.do(chromedp.Evaluate(`fetch("/session", {method: "POST", headers: {Authorization: "Bearer `+token+`"}}).then(({ok}) => ok)`, nil, awaitPromise))
	ada.do(chromedp.Evaluate(`window.before = document.querySelector("main")`, nil))
	send(t, ada.url, token, `mutation { revokeOtherSessions { userErrors { code } } }`, nil)
	ada.do(until(`window.before && !window.before.isConnected`)) // it has begun again
	ada.sees("Signed in as @ada")
	ada.doesNotSee("Your session has ended")
	ada.do(chromedp.Reload())
	ada.sees("Signed in as @ada")
}

// TestAppRemovedPost: a post that is hidden while someone reads it is shown as gone, with the
// notifications about it.
func TestAppRemovedPost(t *testing.T) {
	ann, bob := annAndBob(t, start(t))
	ann.writes("Here today, @bob")
	bob.press(`//a[starts-with(normalize-space(.), "Notifications")]`)
	bob.press(`//main//a[contains(., "mentioned you")]`)
	bob.comments("Words about it")
	bob.sees("Words about it")
	bob.do(chromedp.Reload())
	bob.sees("Words about it")
	ann.sees("Words about it")
	ann.press(near("Here today"), named("Audience"))
	ann.press(`//dialog//label[contains(., "Only me")]`)
	ann.press(named("Save"))
	bob.sees("This post isn't available")
	bob.press(`//a[starts-with(normalize-space(.), "Notifications")]`)
	bob.sees("No notifications yet")
}

// TestAppPostsOnce: sending again after an answer was lost does not post twice, also after a
// reload.
func TestAppPostsOnce(t *testing.T) {
	ann := arrive(t, start(t))
	ann.signUp("ann", "Ann Lee")
	isSent := until(`document.querySelector("textarea").value === "" && document.querySelectorAll("article.post").length > 0`)
	posts := func(want int) {
		t.Helper()
		var got int
		ann.do(chromedp.Reload(), until(`document.querySelectorAll("article.post").length > 0`), chromedp.Evaluate(`document.querySelectorAll("article.post").length`, &got))
		if got != want {
			t.Fatalf("there are %d posts, want %d", got, want)
		}
	}
	ann.do(chromedp.Evaluate(loseAnswers, nil))
	ann.writes("Only once")
	ann.sees("Plaza does not answer.")
	ann.do(chromedp.Evaluate(`window.fetch = window.reallyFetch`, nil))
	ann.press(named("Post"))
	ann.do(isSent)
	posts(1)

	ann.do(chromedp.Evaluate(loseAnswers, nil))
	ann.writes("Once more")
	ann.sees("Plaza does not answer.")
	ann.do(chromedp.Reload())
	ann.press(named("Post"))
	ann.do(isSent)
	posts(2)
}

// loseAnswers lets posts reach the server, but not their answers the page.
const loseAnswers = `
	window.reallyFetch = window.fetch;
	window.fetch = async (url, init) => {
		const answer = await window.reallyFetch(url, init);
		if (String(init?.body).includes("createPost")) throw new TypeError("lost");
		return answer;
	};`

// TestAppKeepsTexts: what is written and not sent survives other pages, other types of posts and a
// slip of the mouse.
func TestAppKeepsTexts(t *testing.T) {
	ann := arrive(t, start(t))
	ann.signUp("ann", "Ann Lee")
	ann.fill("Text", "Half a thought")
	ann.choose("Only me")
	ann.press(named("Poll"))
	ann.press(named("Text"))
	isKept := until(`document.querySelector("textarea").value === "Half a thought" && document.querySelector("[value=ONLY_ME]").checked`)
	ann.do(isKept)
	ann.press(named("Circles"))
	ann.sees("A new circle")
	ann.open("")
	ann.do(isKept)
	ann.press(named("Post"))
	ann.do(chromedp.WaitVisible(near("Half a thought"), chromedp.BySearch), until(`document.querySelector("textarea").value === ""`))

	ann.press(near("Half a thought"), named("Edit"))
	ann.do(chromedp.WaitVisible(`dialog textarea`, chromedp.ByQuery), chromedp.Evaluate(`
		const dialog = document.querySelector("dialog");
		dialog.querySelector("textarea").dispatchEvent(new PointerEvent("pointerdown", {bubbles: true}));
		dialog.click();
		window.stillOpen = dialog.open;
		dialog.dispatchEvent(new PointerEvent("pointerdown", {bubbles: true}));
		dialog.click();`, nil))
	ann.do(until(`window.stillOpen && !document.querySelector("dialog")`))

	ann.fill("Text", "A secret")
	ann.press(named("Sign out"))
	ann.sees("Share with the right people.")
	ann.do(until(`Object.keys(sessionStorage).length === 0`))
	complainNot(t, ann.complaints)
}

// TestAppHistory: people who see an edited post read its earlier versions, the latest first.
func TestAppHistory(t *testing.T) {
	url := start(t)
	ann, visitor := arrive(t, url), arrive(t, url)
	ann.signUp("ann", "Ann Lee")
	ann.press(named("Link"))
	ann.fill("Link URL", "https://example.org/first")
	ann.fill("Its title", "The first title")
	ann.writes("First words")
	edit := func(text, with string) {
		t.Helper()
		ann.press(near(text), named("Edit"))
		ann.do(chromedp.SetValue(`dialog textarea`, with, chromedp.ByQuery))
		ann.press(named("Save"))
		ann.sees(with)
		ann.do(chromedp.WaitNotPresent(`dialog`, chromedp.ByQuery))
	}
	edit("First words", "Second words")
	edit("Second words", "Third words")

	visitor.open("people/ann")
	for _, p := range []*person{ann, visitor} {
		p.press(near("Third words"), `//button[starts-with(., "edited")]`)
		p.sees("Earlier versions", "The first title")
		p.do(until(`[...document.querySelectorAll("dialog li .text")].map((text) => text.innerText).join() === "Second words,First words"`),
			until(`document.querySelector("dialog li time").dateTime === document.querySelector(".about button time").dateTime`))
		p.closesDialog()
	}
	edit("Third words", "Fourth words") // what is in the cache by now is out of date
	ann.press(near("Fourth words"), `//button[starts-with(., "edited")]`)
	ann.sees("Third words", "Second words", "First words")
	complainNot(t, ann.complaints)
	complainNot(t, visitor.complaints)
}

// TestAppReplies: authors choose who may reply, for a new post and later. To others, the thread
// says so in place of a form.
func TestAppReplies(t *testing.T) {
	ann, bob := annAndBob(t, start(t))
	ann.do(until(`!document.querySelector("details").open`))
	ann.fill("Text", "A word to my circles")
	ann.press(`//summary[.="Who can reply? Everyone"]`)
	ann.press(`//details//label[contains(., "Chosen circles")]`)
	ann.press(`//summary[.="Who can reply? Chosen circles"]`) // folded again
	ann.press(named("Post"))
	ann.do(until(`document.querySelector("details").open && document.querySelector("details .error")`))
	ann.press(`//details//label[contains(., "Following")]`)
	ann.press(named("Post"))
	ann.sees("Replies: Following")
	ann.do(chromedp.WaitVisible(`//summary[.="Who can reply? Everyone"]`, chromedp.BySearch))

	bob.open("people/ann")
	bob.press(near("A word to my circles"), named("0 comments"))
	bob.sees("Ann Lee has limited who can reply.", "No comments yet.")
	bob.do(chromedp.WaitNotPresent(`main textarea`, chromedp.ByQuery))
	ann.press(near("A word to my circles"), named("Who can reply"))
	ann.do(until(`document.querySelector("dialog [value=LISTED]").checked && document.querySelector("dialog [type=checkbox]").checked`))
	ann.press(`//dialog//label[contains(., "Everyone")]`)
	ann.press(named("Save"))
	ann.do(chromedp.WaitNotPresent(`dialog`, chromedp.ByQuery))
	ann.doesNotSee("Replies: Following")
	bob.doesNotSee("has limited who can reply")
	bob.comments("Thanks")
	bob.sees("1 comment", "Thanks")
	for _, whose := range []string{"Audience", "Who can reply"} { // which are not for chosen circles yet
		ann.press(near("A word to my circles"), named(whose))
		ann.press(`//dialog//label[contains(., "Chosen circles")]`)
		ann.do(chromedp.WaitVisible(`//dialog//label[contains(., "Following")]`, chromedp.BySearch))
		ann.closesDialog()
	}
	ann.press(near("A word to my circles"), named("Who can reply"))
	ann.press(`//dialog//label[contains(., "Only me")]`)
	ann.press(named("Save"))
	bob.sees("Ann Lee has limited who can reply.", "Thanks")
	complainNot(t, ann.complaints)
	complainNot(t, bob.complaints)
}

// TestAppThreadSettings: authors choose the order that a thread begins with. A member who mutes a
// thread gets no notifications about it, and sees no previews.
func TestAppThreadSettings(t *testing.T) {
	ann, bob := annAndBob(t, start(t))
	ann.writes("Tea or coffee?")
	ann.sees("0 comments")
	bob.open("people/ann")
	bob.press(near("Tea or coffee?"), named("0 comments"))
	chosen := func(p *person, order string) {
		t.Helper()
		p.do(until(`document.querySelector("[aria-label='Order of the comments'] [aria-pressed=true]")?.innerText === "` + order + `"`))
	}
	chosen(bob, "Threaded")
	bob.comments("Tea")
	ann.sees("1 comment")
	ann.press(near("Tea or coffee?"), named("1 comment"))
	ann.press(named("Newest"))
	ann.press(named("Make this the default order"))
	ann.do(chromedp.WaitNotPresent(named("Make this the default order"), chromedp.BySearch))
	chosen(bob, "Threaded") // that is what bob reads
	bob.doesNotSee("Make this the default order")
	bob.do(chromedp.Reload())
	chosen(bob, "Newest")
	bob.press(named("Oldest"))
	chosen(bob, "Oldest")
	bob.doesNotSee("Make this the default order")

	ann.do(until(`document.querySelector(".badge")?.innerText.startsWith("1")`))
	ann.press(named("Mute this thread"))
	ann.sees("You get no notifications about this thread")
	ann.do(until(`!document.querySelector(".badge")`))
	bob.comments("Or water")
	bob.sees("2 comments")
	ann.sees("Or water")
	ann.press(named("News"))
	ann.do(chromedp.WaitVisible(near("2 comments"), chromedp.BySearch), chromedp.WaitNotPresent(`.preview`, chromedp.ByQuery))
	ann.press(near("Tea or coffee?"), named("2 comments"))
	ann.press(named("Unmute this thread"))
	ann.do(until(`document.querySelector(".badge")`))
	ann.press(named("News"))
	ann.do(chromedp.WaitVisible(`.preview`, chromedp.ByQuery))
	complainNot(t, ann.complaints)
	complainNot(t, bob.complaints)
}

// TestAppNotificationSettings: while a kind is off, no notifications of that kind arrive.
func TestAppNotificationSettings(t *testing.T) {
	ann, bob := annAndBob(t, start(t))
	ann.writes("Good morning")
	ann.sees("0 comments")
	ann.open("settings")
	ann.do(until(`document.querySelectorAll("li :checked").length === 7`))
	ann.choose("Comments on your posts")
	oneIsOff := until(`document.querySelectorAll("li :checked").length === 6 && !document.querySelector("li input[type=checkbox]").checked`)
	ann.do(oneIsOff, chromedp.Reload(), oneIsOff)

	bob.open("people/ann")
	bob.press(near("Good morning"), named("0 comments"))
	bob.comments("Hello")
	bob.sees("1 comment")
	bob.press(named("React"))
	bob.press(named("Love: 0"))
	ann.open("notifications")
	ann.sees("Bob Berg reacted to your post")
	ann.doesNotSee("commented on your post")
	complainNot(t, ann.complaints)
	complainNot(t, bob.complaints)
}

// TestAppReports reports a post, a comment and a person; moderators read why. People can't report
// themselves.
func TestAppReports(t *testing.T) {
	data := t.TempDir()
	url, _ := launch(t, "--addr", "127.0.0.1:0", "--data", data)
	ann, bob := annAndBob(t, url)
	ann.writes("Cheap watches")
	ann.sees("0 comments")
	bob.open("people/ann")
	bob.press(near("Cheap watches"), named("0 comments"))
	bob.comments("Rude words")
	bob.sees("Rude words")
	bob.do(chromedp.WaitNotPresent(`//li//button[.="Report"]`, chromedp.BySearch))

	report := func(p *person, where, reason, text string) {
		t.Helper()
		p.press(where, named("Report"))
		p.press(named("Send report"))
		p.do(until(`document.querySelector("dialog :invalid")`)) // a reason is required
		p.choose(reason)
		p.do(chromedp.SetValue(`dialog textarea`, text, chromedp.ByQuery))
		p.press(named("Send report"))
	}
	thanked := func(p *person) {
		t.Helper()
		p.sees("Thank you.")
		p.closesDialog()
	}
	report(bob, near("Cheap watches"), "Spam", strings.Repeat("x", 2001))
	bob.do(chromedp.WaitVisible(`dialog .field [role=alert]`, chromedp.ByQuery), chromedp.SetValue(`dialog textarea`, "Ten times", chromedp.ByQuery))
	bob.press(named("Send report"))
	thanked(bob)
	ann.press(near("Cheap watches"), named("1 comment"))
	report(ann, near("Rude words"), "Abuse", "Look")
	thanked(ann)
	ann.open("people/bob")
	report(ann, `//main`, "Something else", "Everywhere")
	thanked(ann)
	for page, p := range map[string]*person{"people/ann": ann, "people/bob": bob} {
		p.open(page)
		p.sees("Edit your profile")
		p.do(chromedp.WaitNotPresent(`//button[.="Report"]`, chromedp.BySearch))
	}

	cleo := joins(t, url, "cleo", "Cleo Ray")
	grant(t, data, "moderate", "cleo")
	var cases json.RawMessage
	send(t, url, cleo, `{ moderation { cases { nodes { subjectKind latestReports { reason text } } } } }`, &cases)
	for _, want := range []string{
		`"POST","latestReports":[{"reason":"SPAM","text":"Ten times"}]`,
		`"COMMENT","latestReports":[{"reason":"ABUSE","text":"Look"}]`,
		`"USER","latestReports":[{"reason":"OTHER","text":"Everywhere"}]`,
	} {
		if !strings.Contains(string(cases), want) {
			t.Errorf("%s is missing in %s", want, cases)
		}
	}
	complainNot(t, bob.complaints)
	complainNot(t, ann.complaints)
}

// TestAppOwnWall: a post that arrives while one's wall is read, before its subscription begins, is
// not missing.
func TestAppOwnWall(t *testing.T) {
	ann, bob := annAndBob(t, start(t))
	ann.do(chromedp.Evaluate(holdBack("WallPostAdded"), nil))
	ann.press(named("My wall"))
	ann.sees("Write the first post.")
	bob.open("people/ann")
	bob.writes("Hello, Ann")
	bob.sees("0 comments")
	ann.do(chromedp.Evaluate(`window.letGo()`, nil))
	ann.sees("Hello, Ann")
	complainNot(t, ann.complaints)
}

// holdBack keeps a subscription from the server until window.letGo is called.
func holdBack(subscription string) string {
	return `
	const send = WebSocket.prototype.send, held = [];
	WebSocket.prototype.send = function (message) {
		if (String(message).includes("` + subscription + `")) held.push(() => send.call(this, message));
		else send.call(this, message);
	};
	window.letGo = () => { WebSocket.prototype.send = send; held.forEach((go) => go()); };`
}
