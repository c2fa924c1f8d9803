//go:build e2e

package e2e_test

import (
	"fmt"
	"os/exec"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// grant gives someone a right, as the operator of a server with its data in a folder.
func grant(t *testing.T, data, right, handle string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), binary, "grant", right, handle, "--data", data).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// joins returns the token of someone who signs up without a browser.
func joins(t *testing.T, url, handle, name string) string {
	t.Helper()
	var joined struct {
		Data struct{ SignUp struct{ Token string } }
	}
	send(t, url, "", `mutation { signUp(input: {handle: "`+handle+`", name: "`+name+`", password: "correct horse"}) { token } }`, &joined)
	return joined.Data.SignUp.Token
}

// posts writes a public post, and returns its id.
func posts(t *testing.T, url, token, text string) string {
	t.Helper()
	var written struct {
		Data struct {
			CreatePost struct{ Post struct{ ID string } }
		}
	}
	send(t, url, token, `mutation { createPost(input: {content: {status: {text: `+quoted(text)+`}}, audience: {kind: PUBLIC}}) { post { id } } }`, &written)
	return written.Data.CreatePost.Post.ID
}

// commentsOn writes a comment, and returns its id.
func commentsOn(t *testing.T, url, token, post, text string) string {
	t.Helper()
	var written struct {
		Data struct {
			AddComment struct{ Comment struct{ ID string } }
		}
	}
	send(t, url, token, `mutation { addComment(input: {postId: "`+post+`", text: `+quoted(text)+`}) { comment { id } } }`, &written)
	return written.Data.AddComment.Comment.ID
}

func userID(t *testing.T, url, handle string) string {
	t.Helper()
	var found struct {
		Data struct{ User struct{ ID string } }
	}
	send(t, url, "", `{ user(handle: "`+handle+`") { id } }`, &found)
	return found.Data.User.ID
}

func reports(t *testing.T, url, token, subject, reason, text string) {
	t.Helper()
	var answer struct {
		Data struct{ Report struct{ ReportedID string } }
	}
	send(t, url, token, `mutation { report(input: {subjectId: "`+subject+`", reason: `+reason+`, text: `+quoted(text)+`}) { reportedId } }`, &answer)
	if answer.Data.Report.ReportedID != subject {
		t.Fatalf("the report about %s was not accepted", subject)
	}
}

// decides presses a button of a case, and gives a reason.
func (p *person) decides(decision, subject, reason string) {
	p.t.Helper()
	p.press(named(decision + ": " + subject))
	p.fill("Reason", reason)
	p.press(`//dialog//form`, named(decision))
	p.do(chromedp.WaitNotPresent(`dialog`, chromedp.ByQuery))
}

// focusSays waits until the focus is on something with a text.
func (p *person) focusSays(text string) {
	p.t.Helper()
	p.do(until(`document.activeElement !== document.body && document.activeElement.innerText === ` + quoted(text)))
}

// TestAppModeration: a moderator reads what was reported and why, decides, and undoes decisions.
// Mistakes are at their fields, and the focus stays at the case.
func TestAppModeration(t *testing.T) {
	data := t.TempDir()
	url, _ := launch(t, "--addr", "127.0.0.1:0", "--data", data)
	ann, bob := joins(t, url, "ann", "Ann Lee"), joins(t, url, "bob", "Bob Berg")
	cleo := arrive(t, url)
	cleo.signUp("cleo", "Cleo Ray")
	grant(t, data, "moderate", "cleo")
	cleo.do(chromedp.Reload())
	cleo.press(named("Moderation"))
	cleo.sees("Nothing to decide")
	cleo.doesNotSee("Audit log")

	watches := posts(t, url, ann, "Cheap watches")
	reports(t, url, bob, watches, "SPAM", "Ten times")
	reports(t, url, bob, commentsOn(t, url, ann, watches, "Rude words"), "ABUSE", "")
	reports(t, url, ann, userID(t, url, "bob"), "OTHER", "Everywhere")
	cleo.press(named("Refresh"))
	cleo.sees("Cheap watches", "Spam", "Ten times", "Rude words", "Abuse", "Bob Berg", "Everywhere")
	var unclear []string
	cleo.do(chromedp.Evaluate(`
		const buttons = [...document.querySelectorAll("article button")], names = buttons.map((button) => button.ariaLabel);
		names.filter((name, i) => !name.startsWith(buttons[i].innerText + ": ") || names.indexOf(name) !== i)`, &unclear))
	if len(unclear) > 0 {
		t.Errorf("these names of buttons are unclear: %q", unclear)
	}

	const post, comment, user = "case 1, post by Ann Lee", "case 2, comment by Ann Lee", "case 3, Bob Berg"
	cleo.press(named("Hide: " + post))
	cleo.sees("It disappears for everyone but its author.")
	cleo.press(`//dialog//form`, named("Hide"))
	cleo.do(chromedp.WaitVisible(`dialog .field .error`, chromedp.ByQuery), until(`document.activeElement.matches("dialog textarea")`))
	cleo.closesDialog()
	visitor := arrive(t, url)
	visitor.open("people/ann")
	visitor.sees("Cheap watches")
	cleo.decides("Hide", post, "No adverts here")
	cleo.focusSays("The post is hidden.")
	visitor.doesNotSee("Cheap watches")
	cleo.do(chromedp.WaitNotPresent(named("Dismiss: "+post), chromedp.BySearch))
	cleo.decides("Restore", post, "A mistake")
	cleo.focusSays("The post is restored.")
	visitor.do(chromedp.Reload())
	visitor.sees("Cheap watches")

	cleo.press(named("Suspend: " + comment))
	cleo.sees("If you also want to hide or remove the comment, do that first.")
	cleo.press(`//dialog//form`, named("Suspend"))
	cleo.do(until(`document.querySelector("dialog :invalid")`))
	cleo.choose("Another time")
	cleo.do(chromedp.SetValue(`dialog [name=until]`, "2020-01-31T12:00", chromedp.ByQuery))
	cleo.fill("Reason", "Be kind")
	cleo.press(`//dialog//form`, named("Suspend"))
	cleo.sees("A suspension needs an end in the future.")
	cleo.choose("7 days")
	cleo.press(`//dialog//form`, named("Suspend"))
	cleo.focusSays("Ann Lee is suspended.")
	cleo.do(until(`[...document.querySelectorAll("article")].filter((article) => article.innerText.includes("Suspended until")).length === 2`)) // both cases are about ann
	var standing struct {
		Data struct {
			Viewer struct{ Standing struct{ Kind, Reason string } }
		}
	}
	send(t, url, ann, `{ viewer { standing { kind reason } } }`, &standing)
	if got := standing.Data.Viewer.Standing; got.Kind != "SUSPENDED" || got.Reason != "Be kind" {
		t.Errorf("ann's standing is %+v", got)
	}
	cleo.decides("Reinstate", comment, "She is sorry")
	cleo.focusSays("Ann Lee is reinstated.")

	cleo.decides("Ban", user, "Nothing but trouble")
	cleo.sees("Banned: “Nothing but trouble”")
	if isSignedIn(t, url, bob) {
		t.Error("bob is still signed in")
	}
	cleo.press(named("Refresh"))
	cleo.sees("Nothing to decide")
	cleo.press(named("Decided"))
	cleo.decides("Reinstate", "case 1, Bob Berg", "A mistake") // the latest comes first
	cleo.focusSays("Bob Berg is reinstated.")
	complainNot(t, cleo.complaints)
	complainNot(t, visitor.complaints)
}

// TestAppModeratorsTogether: what one moderator has decided, another one can't decide again, also
// further down the list. Administrators read who decided.
func TestAppModeratorsTogether(t *testing.T) {
	data := t.TempDir()
	url, _ := launch(t, "--addr", "127.0.0.1:0", "--data", data)
	ann, bob, dora := joins(t, url, "ann", "Ann Lee"), joins(t, url, "bob", "Bob Berg"), joins(t, url, "dora", "Dora Klein")
	const count = 23
	for i := range count {
		reports(t, url, bob, posts(t, url, ann, fmt.Sprintf("Advert %d.", i+1)), "SPAM", "")
	}
	cleo := arrive(t, url)
	cleo.signUp("cleo", "Cleo Ray")
	grant(t, data, "admin", "cleo")
	grant(t, data, "moderate", "dora")
	cleo.open("moderation")
	shown := func(want int) {
		t.Helper()
		cleo.do(until(fmt.Sprintf(`document.querySelectorAll("article").length === %d`, want)))
	}
	cleo.sees("Advert 1.")
	cleo.do(chromedp.Evaluate(`scrollTo(0, document.body.scrollHeight)`, nil))
	shown(count)
	var open struct {
		Data struct {
			Moderation struct {
				Cases struct{ Nodes []struct{ ID string } }
			}
		}
	}
	send(t, url, dora, `{ moderation { cases(first: 100) { nodes { id } } } }`, &open)
	cases := open.Data.Moderation.Cases.Nodes
	dismiss := func(id string) {
		t.Helper()
		send(t, url, dora, `mutation { decideCase(input: {caseId: "`+id+`", decision: DISMISS, reason: "It is art"}) { userErrors { message } } }`, nil)
	}
	dismiss(cases[1].ID)
	dismiss(cases[count-1].ID)
	const last = "case 23, post by Ann Lee"
	cleo.press(named("Remove: " + last))
	cleo.fill("Reason", "Enough")
	cleo.press(`//dialog//form`, named("Remove"))
	cleo.sees("This case is already decided.")
	cleo.closesDialog()
	cleo.press(named("Refresh"))
	shown(20)
	cleo.do(chromedp.Evaluate(`scrollTo(0, document.body.scrollHeight)`, nil))
	shown(count - 2)
	cleo.doesNotSee("Advert 2.", "Advert 23.")
	cleo.decides("Remove", "case 1, post by Ann Lee", "Enough")
	cleo.focusSays("The post is removed.")
	cleo.sees("The post is deleted.")
	cleo.press(named("Decided"))
	shown(3)
	cleo.do(until(`document.querySelectorAll("article")[0].innerText.includes("Advert 23.")`))
	cleo.press(named("Audit log"))
	cleo.sees("Removed: post by Ann Lee", "Enough", "By Cleo Ray", "Dismissed: post by Ann Lee", "It is art", "By Dora Klein")
	complainNot(t, cleo.complaints)
}

// TestAppModerationIsForModerators: others read that the page is not for them, visitors sign in
// first, and a right that is lost meanwhile is too.
func TestAppModerationIsForModerators(t *testing.T) {
	data := t.TempDir()
	url, _ := launch(t, "--addr", "127.0.0.1:0", "--data", data)
	joins(t, url, "ann", "Ann Lee")
	ann := arrive(t, url)
	ann.open("moderation")
	ann.fill("Handle", "ann")
	ann.fill("Password", "correct horse")
	ann.press(`//form`, named("Sign in"))
	ann.sees("This page is for moderators")
	ann.do(chromedp.WaitNotPresent(`nav a[href="/app/moderation"]`, chromedp.ByQuery))
	grant(t, data, "moderate", "ann")
	ann.do(chromedp.Reload())
	ann.sees("Nothing to decide")
	if out, err := exec.CommandContext(t.Context(), binary, "revoke", "moderate", "ann", "--data", data).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	ann.press(named("Refresh"))
	ann.do(chromedp.WaitVisible(`main [role=alert]`, chromedp.ByQuery))
	ann.do(chromedp.Reload())
	ann.sees("This page is for moderators")
	complainNot(t, ann.complaints)
}

// TestAppModerationOfTheDemo shows the page with all kinds of cases, on a wide and on a small
// screen.
func TestAppModerationOfTheDemo(t *testing.T) {
	data := t.TempDir()
	url, _ := launch(t, "--demo", "--addr", "127.0.0.1:0", "--data", data)
	ann, ada := joins(t, url, "ann", "Ann Lee"), tokenOfAda(t, url)
	dan := joins(t, url, "dan", "Dan Who Has A Rather Long Name For A Phone")
	send(t, url, dan, `mutation { updateProfile(input: {bio: "Buy followers: https://followers.example/a-very-long-address/that-does-not-fit"}) { user { id } } }`, nil)
	spam := posts(t, url, dan, "The best watches in town, half the price. https://watches.example/")
	for i, reporter := range []string{ann, ada, joins(t, url, "eve", "Eve"), joins(t, url, "fay", "Fay"), joins(t, url, "gus", "Gus")} {
		reports(t, url, reporter, spam, []string{"SPAM", "ILLEGAL"}[i/4], []string{"The same advert, ten times", "He sells copies.", "Again", "And again", "Please look"}[i])
	}
	var link struct {
		Data struct {
			CreatePost struct{ Post struct{ ID string } }
		}
	}
	send(t, url, dan, `mutation { createPost(input: {content: {link: {url: "https://watches.example/a-very-long-address/that-does-not-fit-on-a-phone", title: "Watches"}}, audience: {kind: PUBLIC}}) { post { id } } }`, &link)
	reports(t, url, ada, link.Data.CreatePost.Post.ID, "SPAM", "")
	reports(t, url, ann, commentsOn(t, url, dan, spam, "You know nothing about watches."), "ABUSE", "")
	reports(t, url, ann, userID(t, url, "dan"), "OTHER", "He writes to everyone.")

	p := arrive(t, url)
	p.do(chromedp.EmulateViewport(1400, 900))
	p.signInToDemo()
	grant(t, data, "admin", "ada")
	p.open("moderation")
	p.sees("The best watches in town", "2 more reports", "You know nothing", "He writes to everyone.")
	p.do(keepPicture("moderation.png"))
	p.press(`//summary[.="2 more reports"]`)
	p.press(named("Suspend: case 1, post by Dan Who Has A Rather Long Name For A Phone"))
	p.choose("7 days")
	p.do(keepPicture("moderation-dialog.png"))
	p.fill("Reason", "No adverts here")
	p.press(`//dialog//form`, named("Suspend"))
	p.sees("is suspended.")
	p.do(keepPicture("moderation-decided.png"))
	p.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}), keepPicture("moderation-dark.png"))
	p.do(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulateScale(2)))
	p.do(emulation.SetEmulatedMedia().WithFeatures(nil))
	for _, view := range []string{"Open", "Decided", "Audit log"} {
		p.press(named(view))
		p.do(chromedp.WaitVisible(`article`, chromedp.ByQuery))
		var width int
		p.do(chromedp.Evaluate(`document.documentElement.scrollWidth`, &width))
		if width > 360 {
			t.Errorf("%s is %d wide", view, width)
		}
		p.do(keepPicture("moderation-phone-" + view + ".png"))
	}
	complainNot(t, p.complaints)
}
