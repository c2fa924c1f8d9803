package importer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"plaza/social"
)

// Store is what an import needs from a storage engine.
type Store interface {
	social.Importer
	social.Users
	social.Circles
}

const (
	batchSize  = 1_000
	rosterPage = 100 // circles whose members are read in one batch
	// graceTime is how long a running batch has to finish after a request to stop.
	graceTime = 10 * time.Second
)

// Progress is the progress of an import: of Total objects to store, Done are stored.
type Progress struct {
	Done, Total int
}

// Options change how Load works; the zero value is valid.
type Options struct {
	// PasswordHash lets the new users sign in with its password; if it is empty, they cannot sign
	// in. It has the form that network.Service.NewAccount creates.
	PasswordHash string
	// Progress is called after each batch. Default: none.
	Progress func(Progress)
}

// Load stores the networks: users, circles, and friendships as follows in both directions. It does
// not change existing data. When ctx ends, Load finishes the running batch and returns ctx's error.
// The summary always contains what was added so far. If another user has a handle, or a circle's
// owner has another circle of its name, the error names it.
func Load(ctx context.Context, store Store, n *Networks, o Options) (Summary, error) {
	l := &loading{store: store, progress: o.Progress}
	if l.progress == nil {
		l.progress = func(Progress) {}
	}
	l.summary = Summary{
		Users: Count{Total: len(n.People)}, Circles: Count{Total: len(n.Circles)},
		Follows: Count{Total: 2 * len(n.Friendships)}, Memberships: Count{Total: n.memberships()},
	}
	err := l.users(ctx, n.People, o.PasswordHash)
	if err == nil {
		err = l.circles(ctx, n.Circles)
	}
	if err == nil {
		err = l.follows(ctx, n)
	}
	if err == nil {
		err = l.rosters(ctx, handMade(n), &l.summary.Memberships)
	}
	if err != nil && ctx.Err() != nil {
		err = ctx.Err() // whatever the store made of it
	}
	return l.summary, err
}

func (n *Networks) memberships() int {
	total := 0
	for _, c := range n.Circles {
		total += len(c.Members)
	}
	return total
}

// loading is the state of one call of Load.
type loading struct {
	store    Store
	progress func(Progress)
	done     int
	summary  Summary
}

// advance counts n things that are stored now, or were stored before.
func (l *loading) advance(n int) {
	l.done += n
	l.progress(Progress{Done: l.done, Total: l.summary.total()})
}

// batch runs one batch, unless ctx has ended; once it has begun, it has graceTime to finish.
func batch(ctx context.Context, run func(ctx context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(graceTime, cancel) })
	defer stop()
	return run(inner)
}

func (l *loading) users(ctx context.Context, people []Person, passwordHash string) error {
	for some := range slices.Chunk(people, batchSize) {
		err := batch(ctx, func(ctx context.Context) error {
			added, err := l.store.ImportUsers(ctx, accounts(some, passwordHash))
			l.summary.Users.Added += added
			if err == nil && added < len(some) {
				err = l.countDeleted(ctx, some)
			}
			return l.handleFault(ctx, some, err)
		})
		if err != nil {
			return err
		}
		l.advance(len(some))
	}
	return nil
}

// countDeleted counts those people whose accounts were deleted since an earlier import.
func (l *loading) countDeleted(ctx context.Context, people []Person) error {
	ids := make([]social.UserID, len(people))
	for i, p := range people {
		ids[i] = UserID(p)
	}
	users, err := l.store.Users(ctx, ids)
	l.summary.Users.Refused += len(ids) - len(users)
	return err
}

func accounts(people []Person, passwordHash string) []social.NewUser {
	users := make([]social.NewUser, len(people))
	for i, p := range people {
		user := UserID(p)
		users[i] = social.NewUser{
			User:         social.User{ID: user, Handle: Handle(p), Name: fmt.Sprintf("User %d", p), WallPolicy: social.WallEveryone},
			PasswordHash: passwordHash,
			Following:    social.NewBuiltInCircle(user),
		}
	}
	return users
}

// handleFault returns an error that names the taken handle.
func (l *loading) handleFault(ctx context.Context, people []Person, err error) error {
	if !errors.Is(err, social.ErrTaken) {
		return err
	}
	handles := make([]string, len(people))
	for i, p := range people {
		handles[i] = Handle(p)
	}
	users, readErr := l.store.UsersByHandle(ctx, handles)
	if readErr != nil {
		return errors.Join(err, readErr)
	}
	for _, p := range people {
		if user := users[Handle(p)]; user != nil && user.ID != UserID(p) {
			return fmt.Errorf("the handle %s belongs to a user outside these networks: import into another database", Handle(p))
		}
	}
	return err
}

func (l *loading) circles(ctx context.Context, circles []Circle) error {
	for some := range slices.Chunk(circles, batchSize) {
		stored := make([]*social.Circle, len(some))
		for i, c := range some {
			stored[i] = &social.Circle{ID: circleID(c), Owner: UserID(c.Owner), Name: c.Name}
		}
		err := batch(ctx, func(ctx context.Context) error {
			added, err := l.store.ImportCircles(ctx, stored)
			l.summary.Circles.Added += added
			return l.nameFault(ctx, some, err)
		})
		if err != nil {
			return err
		}
		l.advance(len(some))
	}
	return nil
}

// nameFault returns an error that names the circle whose name its owner has given to another one.
func (l *loading) nameFault(ctx context.Context, circles []Circle, err error) error {
	if !errors.Is(err, social.ErrTaken) {
		return err
	}
	for _, c := range circles {
		own, readErr := l.store.CirclesOf(ctx, UserID(c.Owner), social.Page{Limit: social.MaxCircles})
		if readErr != nil {
			return errors.Join(err, readErr)
		}
		for _, other := range own {
			if other.ID != circleID(c) && c.key() == (Circle{Name: other.Name}).key() {
				return fmt.Errorf("%s has made a circle %q: rename it, and import again", Handle(c.Owner), other.Name)
			}
		}
	}
	return err
}
