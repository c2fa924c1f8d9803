package social

import (
	"time"

	"plaza/fault"
)

// MaxSuspension is how long a suspension may last.
const MaxSuspension = 10 * 366 * 24 * time.Hour

// Sanction makes the ruling of a decision about an account, on a case (nil: an operator decides
// without one). Errors: INVALID (the end of a suspension), CONFLICT (it would change nothing, or
// soften a ban).
func (u *User) Sanction(d Decision, c *Case) (Ruling, error) {
	if err := u.Standing.check(&d); err != nil {
		return Ruling{}, err
	}
	if c != nil {
		return c.Rule(d, nil, nil)
	}
	return Ruling{Decision: d, Sanctions: true}, nil
}

// Sanctioned returns the standing after a decision with that action; the owner's part stays.
func (s Standing) Sanctioned(d *Decision) Standing {
	after := Standing{Left: s.Left}
	switch d.Action {
	case ActionSuspend:
		after.Sanction, after.Until, after.Reason = SanctionSuspended, d.Until, d.Reason
	case ActionBan:
		after.Sanction, after.Reason = SanctionBanned, d.Reason
	case ActionDismiss, ActionHide, ActionRestore, ActionRemove, ActionReinstate:
	}
	return after
}

// CheckUntil validates the end of a suspension, which other decisions do not have. Error: INVALID.
func (d *Decision) CheckUntil() error {
	switch {
	case d.Action != ActionSuspend && !d.Until.IsZero():
		return fault.Invalidf("until", "Only a suspension has an end.")
	case d.Action == ActionSuspend && !d.Until.After(d.At):
		return fault.Invalidf("until", "A suspension needs an end in the future.")
	case d.Action == ActionSuspend && d.Until.Sub(d.At) > MaxSuspension:
		return fault.Invalidf("until", "A suspension lasts for at most ten years: ban the account instead.")
	}
	return nil
}

// check validates a decision about an account that has this standing now. Errors: those of
// CheckUntil; CONFLICT (it would change nothing, or soften a ban).
func (s Standing) check(d *Decision) error {
	if err := d.CheckUntil(); err != nil {
		return err
	}
	is := s.Sanction
	if is == SanctionSuspended && !d.At.Before(s.Until) {
		is = SanctionNone
	}
	switch {
	case d.Action == ActionSuspend && is == SanctionBanned:
		return fault.Errorf(fault.CodeConflict, "", "This account is banned: reinstate it first.")
	case d.Action == ActionBan && is == SanctionBanned:
		return fault.Errorf(fault.CodeConflict, "", "This account is banned already.")
	case d.Action == ActionReinstate && is == SanctionNone:
		return fault.Errorf(fault.CodeConflict, "", "This account is neither suspended nor banned.")
	}
	return nil
}
