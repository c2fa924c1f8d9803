//go:build e2e

package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"plaza/internal/testtime"
)

// TestGraphiQL does what a newcomer does: it opens the page, signs in to the demo, reads news, and
// sees a post arrive.
func TestGraphiQL(t *testing.T) {
	url := startDemo(t)
	browser, complaints := openBrowser(t)
	var answer string
	run(browser, t,
		chromedp.EmulateViewport(1400, 900),
		openPage(url),
		signIn(),
		openTab("MyNews"),
		execute(shown(`"handle": "ada"`)),
		chromedp.Text(`.result-window`, &answer),
		keepPicture("graphiql.png"),
	)
	for _, want := range []string{`"viewer"`, `"news"`} {
		if !strings.Contains(answer, want) {
			t.Errorf("the answer lacks %s: %.300s", want, answer)
		}
	}
	stop := postUntilShown(t, url, "Posted while you watch")
	run(browser, t, openTab("LiveNews"), execute(shown("Posted while you watch")))
	stop()
	complainNot(t, complaints)
}

func signIn() chromedp.Action {
	return chromedp.Tasks{
		chromedp.Click(`//button[contains(., "@ada")]`),
		chromedp.WaitVisible(`//*[contains(., "Signed in as")]`),
	}
}

// openTab clicks on a tab until it is open, because the page may still be moving.
func openTab(name string) chromedp.Action {
	tab := `//*[@role="tab" and contains(., "` + name + `")]`
	open := `document.querySelector("[role=tab][aria-selected=true]")?.innerText.trim() === ` + quoted(name)
	return chromedp.ActionFunc(func(ctx context.Context) error {
		var missed error
		for range 8 {
			if err := chromedp.Click(tab).Do(ctx); err != nil {
				return err
			}
			if missed = chromedp.Poll(open, nil, chromedp.WithPollingTimeout(testtime.Scale(2*time.Second)), chromedp.WithPollingInterval(lookEvery)).Do(ctx); missed == nil {
				return nil
			}
		}
		return fmt.Errorf("the tab %s does not open: %w", name, missed)
	})
}

// execute presses the button once, and waits for a condition.
func execute(condition string) chromedp.Action {
	return chromedp.Tasks{chromedp.Click(`.graphiql-execute-button`), until(condition)}
}

// shown returns the condition that the result contains a text. The editor draws spaces as no-break
// spaces.
func shown(text string) string {
	return `document.querySelector(".result-window").innerText.replaceAll("\u00a0", " ").includes(` + quoted(text) + `)`
}
