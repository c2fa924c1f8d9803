//go:build e2e

// Package e2e_test drives the pages of package web in a real Chromium, against a real server.
package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
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

	"plaza/internal/testtime"
)

// lookEvery is the pause between two checks of a condition. Without it, chromedp checks at each
// frame that the browser draws, and a page in which nothing moves draws none.
const lookEvery = 50 * time.Millisecond

// until waits for a condition.
func until(condition string) chromedp.Action {
	return chromedp.Poll(condition, nil, chromedp.WithPollingTimeout(testtime.Patience()), chromedp.WithPollingInterval(lookEvery))
}

// keepPicture writes a screenshot of the page into the folder PLAZA_TEST_PICTURES, if that is set:
// docs/images come from there.
func keepPicture(name string) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		folder := os.Getenv("PLAZA_TEST_PICTURES")
		if folder == "" {
			return nil
		}
		var picture []byte
		if err := chromedp.CaptureScreenshot(&picture).Do(ctx); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(folder, name), picture, 0o600)
	})
}

func quoted(text string) string {
	raw, _ := json.Marshal(text)
	return string(raw)
}

func run(browser context.Context, t *testing.T, actions ...chromedp.Action) {
	t.Helper()
	limited, cancel := context.WithTimeout(browser, 2*testtime.Patience()) // longer than the Poll, whose error names the condition
	defer cancel()
	if err := chromedp.Run(limited, actions...); err != nil {
		var picture []byte
		_ = chromedp.Run(browser, chromedp.CaptureScreenshot(&picture))
		file := filepath.Join(os.TempDir(), "plaza-e2e-"+t.Name()+".png")
		_ = os.WriteFile(file, picture, 0o600)
		t.Fatalf("%v (the page is in %s)", err, file)
	}
}

// openBrowser starts a headless Chromium; complaints are the errors that its console has logged.
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
	browser, cancelTimeout := context.WithTimeout(browser, 10*time.Minute)
	t.Cleanup(cancelTimeout)
	if err := chromedp.Run(browser); err != nil { // this starts the browser, which would otherwise end with the first run's timeout
		t.Fatal(err)
	}
	var mu sync.Mutex
	var said []string
	chromedp.ListenTarget(browser, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			said = append(said, e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.APITypeError {
				said = append(said, fmt.Sprint("console.error: ", textOf(e.Args)))
			}
		case *log.EventEntryAdded:
			if e.Entry.Level == log.LevelError && !strings.HasSuffix(e.Entry.URL, "/graphql") { // execute reports why that one fails
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

// textOf returns what a script has logged.
func textOf(arguments []*runtime.RemoteObject) (text []string) {
	for _, a := range arguments {
		text = append(text, string(a.Value)+a.Description)
	}
	return text
}

// binary is plaza, built by TestMain.
var binary string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		folder, err := os.MkdirTemp("", "plaza-e2e-*")
		if err != nil {
			panic(err)
		}
		defer func() { _ = os.RemoveAll(folder) }()
		binary = filepath.Join(folder, "plaza")
		if out, err := exec.CommandContext(context.Background(), "go", "build", "-o", binary, "../..").CombinedOutput(); err != nil {
			_, _ = os.Stderr.Write(out)
			return 1
		}
		return m.Run()
	}())
}

// startDemo starts plaza --demo, and returns its address.
func startDemo(t *testing.T) string {
	t.Helper()
	return start(t, "--demo")
}

// start starts plaza with an empty database, and returns its address.
func start(t *testing.T, flags ...string) string {
	t.Helper()
	url, _ := launch(t, append(flags, "--addr", "127.0.0.1:0", "--data", t.TempDir())...)
	return url
}

// launch starts plaza; stop ends it, and so does the end of the test.
func launch(t *testing.T, flags ...string) (url string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	command := exec.CommandContext(ctx, binary, flags...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	logged, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() { cancel(); _ = command.Wait() })
	t.Cleanup(stop)
	for lines := bufio.NewScanner(logged); lines.Scan(); {
		var line struct{ Graphiql string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Graphiql != "" {
			go func() {
				for lines.Scan() { // so that the server can continue logging
				}
			}()
			return line.Graphiql, stop
		}
	}
	t.Fatal("plaza does not start")
	return "", nil
}

// postUntilShown writes posts as ada, one per second, until it is stopped, because the page does
// not show when its subscription begins.
func postUntilShown(t *testing.T, url, text string) (stop func()) {
	t.Helper()
	token := tokenOfAda(t, url)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for tick := time.Tick(time.Second); ; {
			send(t, url, token, `mutation { createPost(input: {content: {status: {text: "`+text+`"}}, audience: {kind: PUBLIC}}) { post { id } } }`, nil)
			select {
			case <-ctx.Done():
				return
			case <-tick:
			}
		}
	}()
	return func() { cancel(); <-done }
}

// tokenOfAda signs in as ada, and returns the token of the session.
func tokenOfAda(t *testing.T, url string) string {
	t.Helper()
	var signedIn struct {
		Data struct{ SignIn struct{ Token string } }
	}
	send(t, url, "", `mutation { signIn(input: {handle: "ada", password: "plaza-demo"}) { token } }`, &signedIn)
	return signedIn.Data.SignIn.Token
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

func complainNot(t *testing.T, complaints func() []string) {
	t.Helper()
	for _, complaint := range complaints() {
		t.Errorf("the browser complains: %s", complaint)
	}
}
