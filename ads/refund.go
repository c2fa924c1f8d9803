package ads

import (
	"context"
	"slices"
	"time"
)

const (
	// RefundLife is how long after it was recorded something can be refunded. It is shorter than
	// EventLife, so that the recordings for the affected reports still exist.
	RefundLife = 60 * 24 * time.Hour
	// MaxRefund is the most recordings that one refund can cover.
	MaxRefund = 100_000
	// MaxRefunded is the most recordings that one call of Refunds.Continue refunds.
	MaxRefunded = 100
	// MaxCharges is the most charges that Refunds.Charged lists.
	MaxCharges = 100
	// MaxReason limits the reason of a refund, in characters.
	MaxReason = 200
)

// Selection selects recordings of a campaign that were billed and not refunded.
type Selection struct {
	Campaign CampaignID
	Unit     UnitID    // zero: any
	Choice   ChoiceID  // zero: any
	Kind     Kind      // empty: all
	From, To time.Time // To is exclusive
	// Person selects clicks and conversions by one person, and Address clicks from one address.
	// Impressions have neither. Zero: any.
	Person, Address ProfileID
}

// Kinds returns the kinds of recordings that the selection can contain.
func (s *Selection) Kinds() []Kind {
	switch {
	case s.Kind != "":
		return []Kind{s.Kind}
	case !s.Address.IsZero():
		return []Kind{Click}
	case !s.Person.IsZero():
		return []Kind{Click, Conversion}
	default:
		return Kinds()
	}
}

// Charge is a recording that was billed.
type Charge struct {
	Choice ChoiceID
	Kind   Kind
	Unit   UnitID
	Zone   ZoneID
	At     time.Time
	Amount Micros
	Person ProfileID // who clicked or converted; zero: unknown
}

// Charges summarizes the recordings in a selection.
type Charges struct {
	Count  int // at most MaxRefund + 1, which means that there may be more
	Amount Micros
	Newest []Charge // at most MaxCharges
}

// Add inserts a charge into Newest, which is sorted. Engines that read impressions and clicks
// separately need it.
func (c *Charges) Add(charge Charge) {
	i, _ := slices.BinarySearchFunc(c.Newest, charge, func(a, b Charge) int { return b.At.Compare(a.At) })
	c.Newest = slices.Insert(c.Newest, i, charge)
	c.Newest = c.Newest[:min(len(c.Newest), MaxCharges)]
}

// Refund is an amount given back to a campaign. Once stored, it continues until it is done, even if
// servers crash.
type Refund struct {
	ID RefundID
	Selection
	Most   int    // the most recordings that it may refund
	By     string // the id of the user who requested it
	Reason string // 1 to MaxReason characters
	Begun  time.Time

	Count  int // recordings refunded so far
	Amount Micros
	Done   bool
}

// Refunds gives money back.
//
// Refunding a recording makes it invalid, once and permanently: the amount billed becomes the
// amount refunded, its campaign's ledger gets the money back as Campaign.Refund describes, and the
// unit's counter and place in zones are as though the recording had never been counted. The tallies
// of its hour are stale until they are rebuilt.
type Refunds interface {
	// Charged adds up the recordings in a selection.
	Charged(ctx context.Context, s Selection) (Charges, error)
	// Begin stores a refund.
	Begin(ctx context.Context, r Refund) error
	// Continue refunds up to MaxRefunded of the recordings that a refund selects, and returns its
	// progress. The refund is done when it has refunded Most recordings, or when none is left;
	// later calls do nothing. If calls run at the same time, each recording is refunded by one of
	// them. ErrNotFound.
	Continue(ctx context.Context, refund RefundID, now time.Time) (*Refund, error)
	// Unfinished lists refunds that are not done, oldest first, at most 100.
	Unfinished(ctx context.Context) ([]RefundID, error)
	// ListRefunds reads a page of a campaign's refunds.
	ListRefunds(ctx context.Context, of CampaignID, p Page) ([]*Refund, error)
}
