package accounts

import (
	"context"
	"slices"

	"plaza/fault"
	"plaza/social"
)

// record passes an act on to the audit log, with the user's handle.
func (s *Service) record(ctx context.Context, a Act) {
	if s.audit == nil {
		return
	}
	if a.Handle == "" {
		a.Handle = s.handleFor(ctx, a.User)
	}
	s.audit(ctx, a)
}

// handleFor is the handle of a user, for the audit log; "": there is none, or no audit log.
func (s *Service) handleFor(ctx context.Context, user social.UserID) string {
	if s.audit == nil || user.IsZero() {
		return ""
	}
	users, err := s.people.Users(ctx, []social.UserID{user})
	if err != nil || users[user] == nil {
		return ""
	}
	return users[user].Handle
}

// unrecorded are how sign-ins end that say nothing about an account, and would fill the log:
// failures (""), limits, and input that could not be right.
var unrecorded = []fault.Code{"", fault.CodeRateLimited, fault.CodeBlank, fault.CodeInvalid, fault.CodeTooLong}

// recordSignIn records how a sign-in has ended. The act names the user if the account exists.
func (s *Service) recordSignIn(ctx context.Context, a Act, session social.Session, err error) {
	if err == nil {
		a.Kind, a.User, a.Session = ActSignedIn, session.User, session.ID()
		s.record(ctx, a)
		return
	}
	a.Kind, a.Code = ActSignInFailed, codeOf(err)
	if !slices.Contains(unrecorded, a.Code) {
		s.record(ctx, a)
	}
}

// codeOf returns the code of a refusal; "" for a failure.
func codeOf(err error) fault.Code {
	if found := fault.Mistakes(err); len(found) > 0 {
		return found[0].Code
	}
	return ""
}
