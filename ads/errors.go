package ads

import (
	"errors"

	"plaza/fault"
)

// What storage engines answer, for errors.Is. The service makes a fault.Error of them.
var (
	// ErrNotFound: what the call names is absent.
	ErrNotFound = fault.ErrNotFound
	// ErrCurrency: a unit bids in another currency than a zone it is placed in, or a zone exists with another one.
	ErrCurrency = fault.Refusal("another currency")
	// ErrConflict: somebody else has saved it at the same time.
	ErrConflict = fault.Refusal("conflict")
	// ErrFull: a zone would have more than MaxZoneUnits units.
	ErrFull = fault.Refusal("zone full")
	// ErrUpgrading: the previous version of Plaza may still use the database, and does not know this kind of bid, weights of keywords, or this attribution of a campaign.
	ErrUpgrading = fault.Refusal("upgrade not finished")
	// ErrUnavailable: the database did not answer in time, or not at all; nothing is known to be stored.
	ErrUnavailable = fault.ErrUnavailable
)

// ErrExpired is the cause of the fault.Error for a token that was good, and has become too old.
var ErrExpired = errors.New("expired")

// present makes a fault.Error of a store's sentinel, which is its cause, and leaves every other error as it is.
func present(err error) error {
	var told *fault.Error
	switch {
	case errors.Is(err, ErrNotFound):
		told = fault.NotFound("", "advertiser, campaign, ad or zone")
	case errors.Is(err, ErrCurrency):
		told = fault.Invalidf("", "A zone, its units and their campaigns' budgets have one currency.")
	case errors.Is(err, ErrConflict):
		told = fault.Errorf(fault.CodeConflict, "", "Somebody else has changed this at the same time.")
	case errors.Is(err, ErrFull):
		told = fault.Errorf(fault.CodeLimitReached, "", "A zone holds at most %d units.", MaxZoneUnits)
	case errors.Is(err, ErrUpgrading):
		told = fault.Errorf(fault.CodeNotAllowed, "", "A bid can be a CPA, keywords can have weights, and campaigns other attributionDays than 30, when the operator has finished the upgrade of Plaza.")
	case errors.Is(err, ErrUnavailable):
		told = fault.Errorf(fault.CodeUnavailable, "", "The database does not answer just now. Try again.")
	default:
		return err
	}
	told.Cause = err
	return told
}
