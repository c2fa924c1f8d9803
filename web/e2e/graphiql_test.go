//go:build e2e

// Package e2e_test drives GraphiQL in a real Chromium, against a real server.
package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// TestGraphiQL does what a newcomer does: opens the page, signs in to the demo, reads news, and watches a post arrive.
func TestGraphiQL(t *testing.T) {
	url := startDemo(t)
	browser, complaints := openBrowser(t)
	var answer string
	run(browser, t,
		chromedp.Navigate(url),
		chromedp.WaitVisible(`.graphiql-execute-button`),
		chromedp.Click(`//button[contains(., "@ada")]`),
		chromedp.WaitVisible(`//*[contains(., "Signed in as")]`),
		openTab("MyNews"),
		execute(shown(`"handle": "ada"`)),
		chromedp.Text(`.result-window`, &answer),
	)
	for _, want := range []string{`"viewer"`, `"news"`} {
		if !strings.Contains(answer, want) {
			t.Errorf("the answer lacks %s: %.300s", want, answer)
		}
	}
	stop := postUntilShown(t, url, "Posted while you watch")
	run(browser, t, openTab("LiveNews"), execute(shown("Posted while you watch")))
	stop()
	for _, complaint := range complaints() {
		t.Errorf("the browser complains: %s", complaint)
	}
}

func openTab(name string) chromedp.Action {
	return chromedp.Click(`//*[@role="tab"]//*[contains(., "` + name + `")] | //*[@role="tab" and contains(., "` + name + `")]`)
}

// execute presses the button until a condition holds: right after a change of tabs GraphiQL still sends the name of the
// operation in the tab before.
func execute(until string) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		var missed error
		for range 8 {
			if err := chromedp.Click(`.graphiql-execute-button`).Do(ctx); err != nil {
				return err
			}
			if missed = chromedp.Poll(until, nil, chromedp.WithPollingTimeout(4*time.Second)).Do(ctx); missed == nil {
				return nil
			}
		}
		return missed
	})
}

// shown is the condition that the result holds a text. The editor draws spaces as no-break spaces.
func shown(text string) string {
	return `document.querySelector(".result-window").innerText.replaceAll("\u00a0", " ").includes(` + quoted(text) + `)`
}

func quoted(text string) string {
	raw, _ := json.Marshal(text)
	return string(raw)
}

func run(browser context.Context, t *testing.T, actions ...chromedp.Action) {
	t.Helper()
	if err := chromedp.Run(browser, actions...); err != nil {
		var picture []byte
		_ = chromedp.Run(browser, chromedp.CaptureScreenshot(&picture))
		file := filepath.Join(os.TempDir(), "plaza-e2e.png")
		_ = os.WriteFile(file, picture, 0o600)
		t.Fatalf("%v (the page is in %s)", err, file)
	}
}

// openBrowser starts a headless Chromium; complaints are what its console has logged as errors.
func openBrowser(t *testing.T) (browser context.Context, complaints func() []string) {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("there is no chromium: make e2e installs it")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WindowSize(1400, 900),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("disable-quic", true))
	allocator, cancelAllocator := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancelAllocator)
	browser, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	browser, cancelTimeout := context.WithTimeout(browser, 90*time.Second)
	t.Cleanup(cancelTimeout)
	var mu sync.Mutex
	var said []string
	chromedp.ListenTarget(browser, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			said = append(said, e.ExceptionDetails.Error())
		case *log.EventEntryAdded:
			if e.Entry.Level == log.LevelError && !strings.HasSuffix(e.Entry.URL, "/graphql") { // execute says why that one fails
				said = append(said, e.Entry.Text+" "+e.Entry.URL)
			}
		}
	})
	return browser, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return said
	}
}

// startDemo builds and starts plaza --demo, and answers with its address.
func startDemo(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "plaza")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "../..").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	command := exec.CommandContext(t.Context(), binary, "--demo", "--addr", "127.0.0.1:0", "--data", t.TempDir())
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	logged, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Wait() })
	for lines := bufio.NewScanner(logged); lines.Scan(); {
		var line struct{ Graphiql string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Graphiql != "" {
			go func() {
				for lines.Scan() { // so that the server can go on logging
				}
			}()
			return line.Graphiql
		}
	}
	t.Fatal("plaza does not start")
	return ""
}

// postUntilShown writes posts as ada, one a second, until it is stopped: the page does not say when its subscription is there.
func postUntilShown(t *testing.T, url, text string) (stop func()) {
	t.Helper()
	var signedIn struct {
		Data struct{ SignIn struct{ Token string } }
	}
	send(t, url, "", `mutation { signIn(input: {handle: "ada", password: "plaza-demo"}) { token } }`, &signedIn)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for tick := time.Tick(time.Second); ; {
			send(t, url, signedIn.Data.SignIn.Token, `mutation { createPost(input: {content: {status: {text: "`+text+`"}}, audience: {kind: PUBLIC}}) { post { id } } }`, nil)
			select {
			case <-ctx.Done():
				return
			case <-tick:
			}
		}
	}()
	return func() { cancel(); <-done }
}

func send(t *testing.T, url, token, operation string, into any) {
	t.Helper()
	body, _ := json.Marshal(map[string]string{"query": operation})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/graphql", bytes.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = response.Body.Close() }()
	if into != nil {
		if err := json.NewDecoder(response.Body).Decode(into); err != nil {
			t.Error(err)
		}
	}
}
