package accounts

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"golang.org/x/sync/singleflight"

	"plaza/fault"
	"plaza/id"
	"plaza/social"
	"plaza/social/passwords"
	"plaza/social/people"
)

// Service changes accounts, and finds the user of a token.
type Service struct {
	store    social.Store
	people   people.Reader
	now      func() time.Time
	newID    func() id.ID
	hashes   *passwords.Hasher
	limits   *passwords.Limits          // nil: none
	audit    func(context.Context, Act) // nil: none
	logger   *slog.Logger
	seen     seenTokens
	holders  rightHolders
	mails    Mails
	mailing  chan struct{}      // has an element if a mail was stored
	using    singleflight.Group // notes the use of sessions
	sighting singleflight.Group // creates the accounts of identities

	registration      Registration
	memberInvitations int
}

// Options configure a Service; the zero value is ready for use.
type Options struct {
	Now   func() time.Time // default: time.Now
	NewID func() id.ID     // creates all ids; default: id.New

	Registration Registration // default: open
	// MemberInvitations is how many invitations, each for one account, a member may have that have
	// not expired, where registration is by invitation. 0: only operators invite.
	MemberInvitations int

	Mails     Mails             // default: mails are stored, and not sent
	Passwords passwords.Cost    // of new hashes; default: passwords.DefaultCost
	Limits    *passwords.Limits // default: none

	// Audit is called when someone has signed in, or failed to, and when an account, its password,
	// sessions, tokens or rights have changed; default: none.
	Audit func(context.Context, Act)
	// Logger records why tokens of other sites and providers are refused; default: nothing is logged.
	Logger *slog.Logger
}

// New creates a service over a store; it reads people through the reader.
func New(store social.Store, reader people.Reader, o Options) *Service {
	s := &Service{
		store: store, people: reader, now: o.Now, newID: o.NewID,
		registration: o.Registration, memberInvitations: o.MemberInvitations, hashes: passwords.NewHasher(o.Passwords, o.Limits), limits: o.Limits, audit: o.Audit,
		logger: cmp.Or(o.Logger, slog.New(slog.DiscardHandler)),
		mails:  o.Mails, mailing: make(chan struct{}, 1),
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.newID == nil {
		s.newID = id.New
	}
	s.holders.now = s.now
	s.holders.read = func(ctx context.Context) ([]*social.User, error) { return store.UsersWithRights(ctx) }
	return s
}

// event creates an event of a kind by an actor; the caller adds the objects.
func (s *Service) event(kind social.EventKind, actor social.UserID) social.Event {
	return social.Event{ID: social.EventID{ID: s.newID()}, Kind: kind, Actor: actor}
}

// Moment returns the current time in the precision of every engine: milliseconds, in UTC.
func (s *Service) Moment() time.Time { return s.now().UTC().Truncate(time.Millisecond) }

// afterwards returns a context for the second half of a change: it must follow a transaction even if
// the client has gone, and its request has ended.
func afterwards(ctx context.Context) (context.Context, context.CancelFunc) {
	const limit = 30 * time.Second
	return context.WithTimeout(context.WithoutCancel(ctx), limit)
}

// account reads a signed-in user's current account. Error: UNAUTHENTICATED.
func (s *Service) account(ctx context.Context, viewer social.UserID) (*social.User, error) {
	users, err := s.people.Users(ctx, []social.UserID{viewer})
	if err != nil {
		return nil, err
	}
	if users[viewer] == nil {
		return nil, social.ErrAccountGone
	}
	return users[viewer], nil
}

// UserNamed reads the user with a handle, for an operator, even if the user is hidden from
// others. Error: NOT_FOUND.
func (s *Service) UserNamed(ctx context.Context, handle string) (*social.User, error) {
	normal, _ := social.NormalHandle(handle)
	users, err := s.store.UsersByHandle(ctx, []string{normal})
	if err == nil && users[normal] == nil {
		err = errNoUser()
	}
	return users[normal], err
}

func errNoUser() error { return fault.NotFound("handle", "user") }
