package ads

import (
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
