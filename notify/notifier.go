// Package notify follows the event log, stores the notifications of users, and completes what a server
// may have left undone after an event.
package notify

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"plaza/id"
	"plaza/social"
	"plaza/social/notifications"
)

const (
	// defaultLease is how long a server that has died prevents others from storing notifications.
	defaultLease = 15 * time.Second
	// batchSize and batchTime bound how many events one transaction is about, and how long the
	// first of them waits for others. An event may notify 22 people; that of a poll notifies more,
	// and is the last of its batch.
	batchSize = 64
	batchTime = 50 * time.Millisecond
	leaveTime = 2 * time.Second
	// closedTogether is how many polls one transaction closes.
	closedTogether = 100
)

// Store is what the notifier needs of a storage engine.
type Store interface {
	social.Notifications
	// ClosePolls is that of social.Posts.
	ClosePolls(ctx context.Context, limit int) (closed int, err error)
}

// Accounts ends sessions.
type Accounts interface {
	// EndLateSessions is that of accounts.Service.
	EndLateSessions(ctx context.Context, user social.UserID) error
}

// Notifier stores notifications while no other server on its database does. Its position in the log
// is stored with them, so whichever server continues counts each event exactly once.
type Notifier struct {
	service  *notifications.Service
	accounts Accounts
	store    Store
	log      social.EventLog
	logger   *slog.Logger
	server   string        // unique among all notifiers
	lease    time.Duration // defaultLease, except in tests
	upTo     atomic.Int64  // see UpTo; in nanoseconds since 1970
	look     time.Time     // when to look for polls that have closed
}

// New returns a notifier that does not run yet.
func New(service *notifications.Service, accounts Accounts, store Store, log social.EventLog, logger *slog.Logger) *Notifier {
	return &Notifier{service: service, accounts: accounts, store: store, log: log, logger: logger, server: id.New().String(), lease: defaultLease}
}

// UpTo returns the time up to which notifications are stored, accurate to a few seconds; zero if
// this server is not the one that stores them.
func (n *Notifier) UpTo() time.Time {
	if nanoseconds := n.upTo.Load(); nanoseconds != 0 {
		return time.Unix(0, nanoseconds)
	}
	return time.Time{}
}

// Run stores notifications until ctx ends, whenever this server has the lease. After an error it
// tries again some seconds later.
func (n *Notifier) Run(ctx context.Context) {
	defer n.leave(ctx)
	for ctx.Err() == nil {
		if err := n.follow(ctx); err != nil && ctx.Err() == nil {
			n.logger.WarnContext(ctx, "notifications will be stored later", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(n.lease / 3):
		}
	}
}

// leave lets another server continue without waiting for the end of the lease.
func (n *Notifier) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
	defer cancel()
	if err := n.store.LeaveNotifier(ctx, n.server); err != nil {
		n.logger.WarnContext(ctx, "other servers will store notifications later", "error", err)
	}
}

// follow stores notifications until something fails. It returns nil if another server stores them,
// or has taken over.
func (n *Notifier) follow(ctx context.Context) error {
	position, is, err := n.store.LeaseNotifier(ctx, n.server, n.lease)
	if err != nil || !is {
		return err
	}
	stream, err := n.open(ctx, position)
	if err != nil {
		return err
	}
	defer func() { _ = stream.Close() }()
	defer n.upTo.Store(0)
	err = n.store.Notify(ctx, n.server, n.lease, stream.Position(), nil) // the position may be new
	for err == nil {
		err = n.advance(ctx, stream)
	}
	if errors.Is(err, social.ErrConflict) {
		return nil
	}
	return err
}

// open opens the event log at a position. If the log does not reach back to it, there are no
// notifications of events in between.
func (n *Notifier) open(ctx context.Context, position string) (social.EventStream, error) {
	stream, err := n.log.Tail(ctx, position)
	if errors.Is(err, social.ErrPositionLost) {
		n.logger.WarnContext(ctx, "there are no notifications of the time since the last server stopped: the event log does not reach back to it", "error", err)
		return n.log.Tail(ctx, "")
	}
	return stream, err
}

// advance stores the notifications of the next events, or extends the lease if there are none for a
// while.
func (n *Notifier) advance(ctx context.Context, stream social.EventStream) error {
	if err := n.closePolls(ctx); err != nil {
		return err
	}
	before := stream.Position()
	events, err := next(ctx, n.lease/3, stream)
	if err != nil {
		return err
	}
	upTo := time.Now() // there were no other events
	if len(events) > 0 {
		upTo = events[len(events)-1].ID.Time()
	}
	if err := n.endLateSessions(ctx, events); err != nil {
		return err
	}
	if err := n.removeOfDeletedPosts(ctx, before, events); err != nil {
		return err
	}
	notices, err := n.service.NoticesOf(ctx, events)
	if err != nil {
		return err
	}
	if err := n.store.Notify(ctx, n.server, n.lease, stream.Position(), notices); err != nil {
		return err
	}
	n.upTo.Store(upTo.UnixNano())
	return nil
}

// endLateSessions completes bans and deactivations whose server was killed behind their transaction.
func (n *Notifier) endLateSessions(ctx context.Context, events []social.Event) error {
	for i := range events {
		if events[i].Kind != social.EventStandingChanged {
			continue
		}
		if err := n.accounts.EndLateSessions(ctx, events[i].Target); err != nil {
			return err
		}
	}
	return nil
}

// removeOfDeletedPosts removes the notifications about deleted posts, in steps, and leaves the position
// in the log where it was before the events. A notifier that continues there finds what is left.
func (n *Notifier) removeOfDeletedPosts(ctx context.Context, before string, events []social.Event) error {
	for i := range events {
		if events[i].Kind != social.EventPostDeleted {
			continue
		}
		if err := n.removeAbout(ctx, before, &events[i]); err != nil {
			return err
		}
	}
	return nil
}

// removeAbout is removeOfDeletedPosts for one event.
func (n *Notifier) removeAbout(ctx context.Context, before string, deleted *social.Event) error {
	for {
		notices, err := n.service.Removals(ctx, deleted)
		if err != nil || len(notices) == 0 {
			return err
		}
		if err := n.store.Notify(ctx, n.server, n.lease, before, notices); err != nil {
			return err
		}
	}
}

// closePolls appends the events of polls that have closed, which this server then meets in the log.
// It looks for them now and then.
func (n *Notifier) closePolls(ctx context.Context) error {
	if time.Now().Before(n.look) {
		return nil
	}
	for closed := closedTogether; closed == closedTogether; {
		var err error
		if closed, err = n.store.ClosePolls(ctx, closedTogether); err != nil {
			return err
		}
	}
	n.look = time.Now().Add(n.lease / 3)
	return nil
}

// next waits for an event, at most that long, and then takes those that follow within batchTime.
func next(ctx context.Context, wait time.Duration, stream social.EventStream) (events []social.Event, err error) {
	end := time.Now().Add(wait)
	for len(events) < batchSize {
		e, err := nextUntil(ctx, end, stream)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			return events, nil
		}
		if err != nil {
			return nil, err
		}
		if len(events) == 0 {
			end = time.Now().Add(batchTime)
		}
		if events = append(events, e); e.Kind == social.EventPollClosed {
			return events, nil
		}
	}
	return events, nil
}

func nextUntil(ctx context.Context, end time.Time, stream social.EventStream) (social.Event, error) {
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	return stream.Next(ctx)
}
