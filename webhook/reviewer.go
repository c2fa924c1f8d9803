package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"plaza/social"
)

// Options configure a Reviewer. URL, Secret, Timeout and Logger are required.
type Options struct {
	URL     string
	Secret  string        // shared with the program
	Timeout time.Duration // of one review, including the time for which it waits for others
	Logger  *slog.Logger

	Now     func() time.Time                          // default: time.Now
	Observe func(outcome Outcome, took time.Duration) // called after each review; default: nothing
}

// Outcome is how a review ended.
type Outcome string

// The outcomes.
const (
	Allowed Outcome = "allowed"
	Refused Outcome = "refused"
	Failed  Outcome = "failed" // the program did not decide
)

const (
	// maxReviews is how many requests run at the same time. Others wait: a slow program does not
	// take all connections of the server.
	maxReviews = 64
	// maxAnswer limits what is read of an answer, in bytes.
	maxAnswer = 64 << 10
)

// Reviewer is a social.Reviewer that sends each publication to a program.
type Reviewer struct {
	Options

	client *http.Client
	slots  chan struct{}
}

var _ social.Reviewer = (*Reviewer)(nil)

// New creates a Reviewer.
func New(o Options) *Reviewer {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Observe == nil {
		o.Observe = func(Outcome, time.Duration) {}
	}
	return &Reviewer{Options: o, client: newClient(), slots: make(chan struct{}, maxReviews)}
}

// newClient is a client that follows no redirects: another address would get what was meant for this
// one.
func newClient() *http.Client {
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if transport, ok := http.DefaultTransport.(*http.Transport); ok {
		own := transport.Clone()
		own.MaxIdleConnsPerHost = maxReviews
		client.Transport = own
	}
	return client
}

// Review implements social.Reviewer.
func (r *Reviewer) Review(ctx context.Context, p *social.Publication) (social.Verdict, error) {
	limited, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	begun := time.Now()
	verdict, err := r.ask(limited, p)
	if ctx.Err() != nil { // the client does not wait: the program is not to blame
		return verdict, ctx.Err()
	}
	r.Observe(outcomeOf(verdict, err), time.Since(begun))
	if err != nil {
		r.Logger.WarnContext(ctx, "the publish hook did not decide", "kind", p.Kind, "error", withoutURL(err))
	}
	return verdict, err
}

func outcomeOf(v social.Verdict, err error) Outcome {
	switch {
	case err != nil:
		return Failed
	case v.Allowed:
		return Allowed
	default:
		return Refused
	}
}

// withoutURL leaves the address out of an error: its query may be secret.
func withoutURL(err error) error {
	if at, ok := errors.AsType[*url.Error](err); ok {
		return at.Err
	}
	return err
}

// ask sends one request, when there is room for it.
func (r *Reviewer) ask(ctx context.Context, p *social.Publication) (social.Verdict, error) {
	body, err := encode(p)
	if err != nil {
		return social.Verdict{}, err
	}
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return social.Verdict{}, fmt.Errorf("%d requests are running: %w", maxReviews, ctx.Err())
	}
	answer, err := r.post(ctx, body)
	if err != nil {
		return social.Verdict{}, err
	}
	return decode(answer)
}

// post sends a signed body, and returns the body of the answer.
func (r *Reviewer) post(ctx context.Context, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "Plaza")
	request.Header.Set(SignatureHeader, Sign(r.Secret, r.Now(), body))
	response, err := r.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the answer is %s", response.Status)
	}
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err == nil && len(answer) > maxAnswer {
		err = fmt.Errorf("the answer has more than %d KiB", maxAnswer>>10)
	}
	return answer, err
}
