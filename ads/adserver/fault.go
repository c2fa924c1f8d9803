package adserver

import (
	"errors"

	"plaza/ads"
	"plaza/fault"
)

// ErrExpired is the cause of the fault.Error for a genuine token that has expired.
var ErrExpired = errors.New("expired")

// present turns a store's sentinel error into a fault.Error, with the sentinel as its cause. It
// returns every other error unchanged.
func present(err error) error {
	var answer *fault.Error
	switch {
	case errors.Is(err, ads.ErrNotFound):
		answer = fault.NotFound("", "advertiser, campaign, ad or zone")
	case errors.Is(err, ads.ErrCurrency):
		answer = otherCurrency("")
	case errors.Is(err, ads.ErrConflict):
		answer = fault.Errorf(fault.CodeConflict, "", "Another request changed this at the same time. Try again.")
	case errors.Is(err, ads.ErrFull):
		answer = fault.Errorf(fault.CodeLimitReached, "", "A zone can have at most %d units.", ads.MaxZoneUnits)
	case errors.Is(err, ads.ErrUpgrading):
		answer = fault.Errorf(fault.CodeNotAllowed, "", "CPA bids, weights of keywords, and attributionDays other than 30 are available once the operator has finished the upgrade of Plaza.")
	case errors.Is(err, ads.ErrUnavailable):
		answer = fault.Errorf(fault.CodeUnavailable, "", "The database is not responding. Try again.")
	default:
		return err
	}
	answer.Cause = err
	return answer
}

// otherCurrency says which currencies an ad must share.
func otherCurrency(field string) *fault.Error {
	return fault.Invalidf(field, "An ad must have the currency of its zones, of its campaign's budget, and of the campaign's other ads.")
}
