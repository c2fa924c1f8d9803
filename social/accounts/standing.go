package accounts

import (
	"context"
	"errors"
	"time"

	"plaza/fault"
	"plaza/social"
)

// errBanned and errSuspended name the reason, which only the user reads.
func errBanned(s social.Standing) error {
	return fault.Errorf(fault.CodeBanned, "", "This account is banned: %s", s.Reason)
}

func errSuspended(s social.Standing) error {
	return fault.Errorf(fault.CodeSuspended, "", "This account is suspended until %s, and can only read: %s", s.Until.UTC().Format(time.RFC3339), s.Reason)
}

// RequireStanding refuses users who may not change anything now. Errors: SUSPENDED, with the reason
// and the end; UNAUTHENTICATED: the account is deleted, banned or deactivated.
func (s *Service) RequireStanding(ctx context.Context, viewer social.UserID) error {
	user, err := s.account(ctx, viewer)
	if err != nil {
		return err
	}
	return s.mayChange(user)
}

// RequireSession is RequireStanding for an operation that has been running: it also refuses a session
// that has ended since. Errors: as those of RequireStanding.
func (s *Service) RequireSession(ctx context.Context, session social.Session) error {
	isLive, err := s.isLive(ctx, session)
	if err == nil && !isLive {
		err = errInvalidToken()
	}
	if err != nil {
		return err
	}
	return s.RequireStanding(ctx, session.User)
}

func (s *Service) mayChange(user *social.User) error {
	switch {
	case social.CanChange(user.Standing, s.now()):
		return nil
	case social.IsAway(user.Standing):
		return errInvalidToken() // the session has just ended
	default:
		return errSuspended(user.Standing)
	}
}

// Standing reads the viewer's own standing. Error: UNAUTHENTICATED.
func (s *Service) Standing(ctx context.Context, viewer social.UserID) (social.Standing, error) {
	user, err := s.account(ctx, viewer)
	if err != nil {
		return social.Standing{}, err
	}
	return user.Standing, nil
}

// refuseBanned returns BANNED if the user may not sign in.
func (s *Service) refuseBanned(ctx context.Context, user social.UserID) error {
	account, err := s.account(ctx, user)
	if err == nil && !social.CanSignIn(account.Standing) {
		err = errBanned(account.Standing)
	}
	return err
}

// admit lets a user in who has shown who they are: it reactivates an account that its owner has
// deactivated. Error: BANNED.
func (s *Service) admit(ctx context.Context, user social.UserID) error {
	account, err := s.account(ctx, user)
	switch {
	case errors.Is(err, social.ErrAccountGone):
		return nil // the store refuses the session, or the caller ends it
	case err != nil:
		return err
	case !social.CanSignIn(account.Standing):
		return errBanned(account.Standing)
	case !account.Standing.Left:
		return nil
	}
	e := s.event(social.EventStandingChanged, user)
	e.Target = user
	returned, err := s.store.Return(ctx, user, e)
	if returned {
		s.record(ctx, Act{Kind: ActAccountReactivated, User: user, Handle: account.Handle})
	}
	return err
}

// mustStillBeActive ends a new session if its user has been banned, or has deactivated the account,
// since they were admitted: either ends the sessions that it finds, and this one may have come
// later.
func (s *Service) mustStillBeActive(ctx context.Context, session social.Session) error {
	account, err := s.account(ctx, session.User)
	if errors.Is(err, social.ErrAccountGone) || err == nil && !social.IsAway(account.Standing) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := s.endSession(ctx, session); err != nil {
		return err
	}
	if !social.CanSignIn(account.Standing) {
		return errBanned(account.Standing)
	}
	return fault.Errorf(fault.CodeConflict, "", "This account has just been deactivated: sign in again to reactivate it.")
}

// Sanction suspends, bans or reinstates the user with that handle, for an operator: the action, the
// reason and, for a suspension, its end come with the decision. Errors: NOT_FOUND, BLANK, TOO_LONG;
// INVALID: the end; CONFLICT: it would change nothing, or soften a ban.
func (s *Service) Sanction(ctx context.Context, handle string, d social.Decision) (*social.User, error) {
	user, err := s.UserNamed(ctx, handle)
	d.At = s.Moment()
	if err := fault.All(err, fault.CheckText("reason", d.Reason, 1, social.MaxReasonLen)); err != nil {
		return nil, err
	}
	d.Subject, d.Author = social.Subject{User: user.ID}, user.ID
	ruling, err := user.Sanction(d, nil)
	if err != nil {
		return nil, err
	}
	e := s.event(social.EventStandingChanged, social.UserID{})
	e.Target = user.ID
	err = s.CarryOut(ctx, ruling, e)
	if errors.Is(err, social.ErrNotFound) {
		return nil, errNoUser()
	}
	if err == nil {
		s.record(ctx, Act{Kind: sanctionActs[d.Action], User: user.ID, Handle: user.Handle, Operator: true})
	}
	return user, err
}

var sanctionActs = map[social.Action]ActKind{
	social.ActionSuspend: ActAccountSuspended, social.ActionBan: ActAccountBanned, social.ActionReinstate: ActAccountReinstated,
}

// CarryOut stores a ruling, as social.Decisions.Decide does. A ban also ends the sessions of
// sign-ins that were under way; if the server is killed before that, EndLateSessions does it.
func (s *Service) CarryOut(ctx context.Context, r social.Ruling, e social.Event) error {
	err := s.store.Decide(ctx, r, e)
	if err == nil && r.Action == social.ActionBan {
		err = s.endSessionsOf(ctx, r.Author)
	}
	return err
}

// EndLateSessions ends the sessions that a user has although they are away. Servers that follow the
// event log call it when the standing of a user has changed.
func (s *Service) EndLateSessions(ctx context.Context, user social.UserID) error {
	account, err := s.account(ctx, user)
	if errors.Is(err, social.ErrAccountGone) || err == nil && !social.IsAway(account.Standing) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.endSessionsOf(ctx, user)
}

// endSessionsOf ends what the transaction that made a user away could not see: a sign-in that had
// looked at the standing before. Either its session is here by now, or it finds the user away
// (mustStillBeActive).
func (s *Service) endSessionsOf(ctx context.Context, user social.UserID) error {
	ctx, cancel := afterwards(ctx)
	defer cancel()
	return s.store.EndSessions(ctx, user, [32]byte{}, social.AllSessions)
}
