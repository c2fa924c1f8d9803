package connect

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// Check waits for a primary, and returns an error for a server without transactions and change
// streams. It stops waiting as soon as it finds a reason why no primary can appear.
func Check(ctx context.Context, client *mongo.Client, a Address, timeout time.Duration) (h Server, err error) {
	connecting, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		h, err = awaitHello(connecting, client)
	}()
	select {
	case <-asked:
	case <-time.After(diagnoseAfter):
		d := a.diagnose(connecting)
		if d.isFinal() {
			cancel()
		}
		<-asked
		if err != nil && d.isFinal() {
			return h, d.fault
		}
	}
	switch {
	case err == nil:
		return h, h.check()
	case ctx.Err() != nil:
		return h, fmt.Errorf("connect to MongoDB at %s: %w", a.hosts(), ctx.Err())
	case strings.Contains(err.Error(), "auth error"): // the driver has no type for it
		return h, fmt.Errorf("MongoDB at %s refuses the user name or the password that the URI gives, "+
			"or its authSource", a.hosts())
	}
	return h, a.explain(ctx, err)
}

// awaitHello repeats the hello command until a primary answers or ctx ends, because the driver
// gives up earlier.
func awaitHello(ctx context.Context, client *mongo.Client) (Server, error) {
	for {
		h, err := askHello(ctx, client)
		if ctx.Err() != nil || !mdb.HasNoPrimary(err) {
			return h, err
		}
	}
}

// explain returns an error with the reason why no primary has answered.
func (a Address) explain(ctx context.Context, cause error) error {
	if d := a.diagnose(ctx); d.fault != nil {
		return d.fault
	}
	return fmt.Errorf("MongoDB at %s: %w: is the server running, and does it have a primary? (%v)",
		a.hosts(), social.ErrUnavailable, cause) //nolint:errorlint // hides the driver's types
}
