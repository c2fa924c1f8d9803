package ads

import (
	"errors"

	"plaza/fault"
)

// The errors that storage engines return, for errors.Is. The service turns them into a fault.Error.
var (
	// ErrNotFound: something that the call refers to does not exist.
	ErrNotFound = fault.ErrNotFound
	// ErrCurrency: a unit's bid and one of its zones have different currencies, or a stored zone
	// has another currency than the given one.
	ErrCurrency = fault.Refusal("another currency")
	// ErrConflict: another writer has saved it at the same time.
	ErrConflict = fault.Refusal("conflict")
	// ErrFull: a zone would have more than MaxZoneUnits units.
	ErrFull = fault.Refusal("zone full")
	// ErrUpgrading: servers of the previous version of Plaza may still use the database. They do
	// not know this kind of bid, weights of keywords, or this attribution of a campaign.
	ErrUpgrading = fault.Refusal("upgrade not finished")
	// ErrUnavailable: the database did not answer in time, or not at all. The write may not have
	// happened.
	ErrUnavailable = fault.ErrUnavailable
)

// ErrExpired is the cause of the fault.Error for a genuine token that has expired.
var ErrExpired = errors.New("expired")

// present turns a store's sentinel error into a fault.Error, with the sentinel as its cause. It
// returns every other error unchanged.
func present(err error) error {
	var answer *fault.Error
	switch {
	case errors.Is(err, ErrNotFound):
		answer = fault.NotFound("", "advertiser, campaign, ad or zone")
	case errors.Is(err, ErrCurrency):
		answer = fault.Invalidf("", "A zone, its units and their campaigns' budgets have one currency.")
	case errors.Is(err, ErrConflict):
		answer = fault.Errorf(fault.CodeConflict, "", "Another request changed this at the same time. Try again.")
	case errors.Is(err, ErrFull):
		answer = fault.Errorf(fault.CodeLimitReached, "", "A zone holds at most %d units.", MaxZoneUnits)
	case errors.Is(err, ErrUpgrading):
		answer = fault.Errorf(fault.CodeNotAllowed, "", "A bid can be a CPA, keywords can have weights, and campaigns other attributionDays than 30, when the operator has finished the upgrade of Plaza.")
	case errors.Is(err, ErrUnavailable):
		answer = fault.Errorf(fault.CodeUnavailable, "", "The database does not answer just now. Try again.")
	default:
		return err
	}
	answer.Cause = err
	return answer
}
