package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"time"

	"plaza/internal/app"
)

// publishHookFlags name a program that decides what is published.
type publishHookFlags struct {
	URL      string        `help:"Ask this program by POST before a post or comment is published or edited: it allows or refuses. Default: publish everything." env:"PLAZA_PUBLISH_HOOK_URL" placeholder:"URL"`
	Secret   string        `help:"With --publish-hook-url, required: the secret with which requests are signed, of at least 16 characters. Set it in the environment: other users of the machine can read a command's flags." env:"PLAZA_PUBLISH_HOOK_SECRET" placeholder:"TEXT"`
	Timeout  time.Duration `help:"How long authors wait for the program: 100ms to 10s." env:"PLAZA_PUBLISH_HOOK_TIMEOUT" default:"2s" placeholder:"TIME"`
	Failure  string        `help:"What happens to a post or comment if the program does not decide: refuse (the author can try again) or allow." env:"PLAZA_PUBLISH_HOOK_FAILURE" default:"refuse" enum:"refuse,allow"`
	Audience string        `help:"What the program sees: public (public posts, and comments on them) or all (also posts for a limited audience, and comments on them)." env:"PLAZA_PUBLISH_HOOK_AUDIENCE" default:"public" enum:"public,all"`
}

const (
	minHookSecret  = 16
	minHookTimeout = 100 * time.Millisecond
	maxHookTimeout = 10 * time.Second
)

// check rejects settings that cannot work.
func (f *publishHookFlags) check() error {
	if f.URL == "" {
		if f.Secret != "" {
			return errors.New("--publish-hook-secret needs --publish-hook-url: without it no program is asked")
		}
		return nil
	}
	var errs []error
	u, err := url.Parse(f.URL)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		errs = append(errs, errors.New("--publish-hook-url must look like https://site.example/hook, without a user name"))
	}
	if len([]rune(f.Secret)) < minHookSecret {
		errs = append(errs, fmt.Errorf("--publish-hook-url needs --publish-hook-secret (PLAZA_PUBLISH_HOOK_SECRET) of at least %d characters", minHookSecret))
	}
	if f.Timeout < minHookTimeout || f.Timeout > maxHookTimeout {
		errs = append(errs, fmt.Errorf("--publish-hook-timeout must be from %v to %v: %v is not", minHookTimeout, maxHookTimeout, f.Timeout))
	}
	return errors.Join(errs...)
}

// hook is the setting for the server; nil: no program is asked.
func (f *publishHookFlags) hook() *app.PublishHook {
	if f.URL == "" {
		return nil
	}
	return &app.PublishHook{
		URL: f.URL, Secret: f.Secret, Timeout: f.Timeout, AllAudiences: f.Audience == "all", PublishUnreviewed: f.Failure == "allow",
	}
}

// warn logs that what users write leaves the machine in plain text.
func (f *publishHookFlags) warn(ctx context.Context) {
	u, err := url.Parse(f.URL)
	if err != nil || u.Scheme != "http" || u.Hostname() == "localhost" {
		return
	}
	if address, err := netip.ParseAddr(u.Hostname()); err != nil || !address.IsLoopback() {
		slog.WarnContext(ctx, "the publish hook is asked without TLS: use this only in a network that you trust", "host", u.Host)
	}
}
