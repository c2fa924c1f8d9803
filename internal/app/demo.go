package app

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"plaza/demo"
	"plaza/internal/front"
	"plaza/social"
	"plaza/social/network"
	"plaza/storage"
	"plaza/web"
)

// seedDemo fills the database with the demo's community. If the database stops answering, the
// server waits for it, and resumes.
func (c *Config) seedDemo(ctx context.Context, st storage.Store, f *front.Front) (community *demo.Community, err error) {
	seed := func(ctx context.Context) (err error) {
		community, err = demo.Seed(ctx, st, c.PublicURL)
		return err
	}
	if err = seed(ctx); errors.Is(err, social.ErrUnavailable) {
		err = c.tryAgain(ctx, f, err, seed)
	}
	return community, err
}

// demoOf returns what the pages need to know about the demo's community; nil without the demo.
func demoOf(community *demo.Community) *web.Demo {
	if community == nil {
		return nil
	}
	shown := &web.Demo{Handle: community.Account.Handle, Password: community.Account.Password}
	for _, thread := range community.Threads() {
		shown.Threads = append(shown.Threads, thread.String())
	}
	return shown
}

// liveDemo runs the life of the community until ctx ends, while there are visitors.
func liveDemo(ctx context.Context, community *demo.Community, service *network.Service, isWatched func() bool) {
	if community != nil {
		community.Life(service).Run(ctx, isWatched, slog.Default())
	}
}

// interest is how long a visitor counts as present after the last request.
const interest = 5 * time.Minute

// visits remembers the time of the last request.
type visits struct{ last atomic.Int64 }

func (v *visits) note(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v.last.Store(time.Now().UnixNano())
		next.ServeHTTP(w, r)
	})
}

func (v *visits) since() time.Duration { return time.Since(time.Unix(0, v.last.Load())) }
