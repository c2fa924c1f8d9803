package ads

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"plaza/fault"
	"plaza/id"
	"plaza/paging"
)

const (
	// RefundLife is how long after it was recorded something can be refunded. It ends before EventLife does, so that reports can
	// still be made anew.
	RefundLife = 60 * 24 * time.Hour
	// MaxRefund is how many recordings one refund is about.
	MaxRefund = 100_000
	// MaxRefunded is how many recordings one call of Refunds.Continue refunds.
	MaxRefunded = 100
	// MaxCharges is how many charges Refunds.Charged lists.
	MaxCharges = 100
	// MaxReason bounds the reason of a refund, in characters.
	MaxReason = 200

	// refundsAtOnce is how many calls of Refunds.Continue a person waits for; the rest is background work.
	refundsAtOnce = 20
)

// Selection picks recordings of a campaign that were billed, and not refunded.
type Selection struct {
	Campaign CampaignID
	Unit     UnitID    // zero: any
	Choice   ChoiceID  // zero: any
	Kind     Kind      // empty: all
	From, To time.Time // To is not in it
	// Person is whose clicks and conversions, and Address is where clicks came from: of impressions neither is known. Zero: any.
	Person, Address ProfileID
}

// Kinds are those that can be in a selection.
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
	Person ProfileID // of a click or a conversion; zero: unknown
}

// Charges are what is in a selection.
type Charges struct {
	Count  int // MaxRefund + 1 at most: then there may be more
	Amount Micros
	Newest []Charge // MaxCharges at most
}

// Add puts a charge among the newest, which are sorted: engines that find impressions and clicks apart need it.
func (c *Charges) Add(charge Charge) {
	i, _ := slices.BinarySearchFunc(c.Newest, charge, func(a, b Charge) int { return b.At.Compare(a.At) })
	c.Newest = slices.Insert(c.Newest, i, charge)
	c.Newest = c.Newest[:min(len(c.Newest), MaxCharges)]
}

// Refund is money that somebody gives back. It is no sooner stored than it goes on until it is done, whatever happens to servers.
type Refund struct {
	ID RefundID
	Selection
	Most   int    // recordings that it refunds at most
	By     string // the id of who began it
	Reason string // 1 to MaxReason characters
	Begun  time.Time

	Count  int // of recordings that were refunded so far
	Amount Micros
	Done   bool
}

// Refunds gives money back.
//
// To refund a recording is to make it invalid, once and for good: what it was billed becomes what was refunded of it, its campaign's ledger
// gets that back as Campaign.Refund has it, the unit's counter and its place in zones are as though it had not been counted, and the tallies of its hour
// are stale until they are made anew.
type Refunds interface {
	// Charged adds up what is in a selection.
	Charged(ctx context.Context, s Selection) (Charges, error)
	// Begin stores a refund.
	Begin(ctx context.Context, r Refund) error
	// Continue refunds up to MaxRefunded recordings of what a refund selects, and says how far it is. It is done when it has refunded Most of
	// them, or there is none left; from then on nothing happens. Of any number of calls at the same time, each recording
	// is refunded by one. ErrNotFound.
	Continue(ctx context.Context, refund RefundID, now time.Time) (*Refund, error)
	// Unfinished are refunds that are not done, the oldest first, 100 at most.
	Unfinished(ctx context.Context) ([]RefundID, error)
	// ListRefunds reads a page of a campaign's refunds.
	ListRefunds(ctx context.Context, of CampaignID, p Page) ([]*Refund, error)
}

// ChargeQuery asks for charges.
type ChargeQuery struct {
	Campaign CampaignID
	Unit     UnitID   // zero: any
	Choice   ChoiceID // zero: any
	Kind     Kind     // empty: all
	// From and To bound the time; To is not in it. Zero: from 24 hours before To, or, with a choice, from as long ago as can be; until now.
	From, To time.Time
	// Person and Visitor are whose clicks and conversions, as Charge has a person, or as Request has a visitor: at most one of them. Address is the IP address
	// that clicks came from.
	Person  ProfileID
	Visitor string
	Address string
}

// selection reads a query. Errors: INVALID, naming the field; NOT_FOUND for "campaignId" or "unitId".
func (s *Service) selection(ctx context.Context, q ChargeQuery) (Selection, error) {
	if err := s.counting.countDue(ctx, s.now()); err != nil {
		return Selection{}, present(err)
	}
	selected := Selection{Campaign: q.Campaign, Unit: q.Unit, Choice: q.Choice, Kind: q.Kind, From: q.From, To: q.To, Person: q.Person}
	if err := selected.within(s.now()); err != nil {
		return selected, err
	}
	if err := s.whose(ctx, q, &selected); err != nil {
		return selected, err
	}
	if q.Kind == Impression && (!selected.Person.IsZero() || !selected.Address.IsZero()) {
		return selected, fault.Invalidf("kind", "Impressions have no person, visitor or address: only clicks and conversions have.")
	}
	if q.Kind == Conversion && !selected.Address.IsZero() {
		return selected, fault.Invalidf("kind", "Conversions have no address: only clicks have.")
	}
	if _, err := s.Campaign(ctx, "campaignId", q.Campaign); err != nil || q.Unit.IsZero() {
		return selected, err
	}
	unit, err := s.Unit(ctx, "unitId", q.Unit)
	if err == nil && unit.Campaign != q.Campaign {
		err = fault.NotFound("unitId", "ad in this campaign")
	}
	return selected, err
}

// within bounds the time of a selection.
func (s *Selection) within(now time.Time) error {
	oldest, end := now.Add(-RefundLife), now.Truncate(time.Millisecond).Add(time.Millisecond)
	if s.To.IsZero() {
		s.To = end
	}
	if s.To.After(end) {
		return fault.Invalidf("to", "This lies in the future.")
	}
	if s.From.IsZero() {
		s.From = s.To.Add(-24 * time.Hour)
		if !s.Choice.IsZero() || s.From.Before(oldest) {
			s.From = oldest
		}
	}
	if s.From.Before(oldest) {
		return fault.Invalidf("from", "What is older than %d days cannot be refunded.", RefundLife/(24*time.Hour))
	}
	if !s.From.Before(s.To) {
		return fault.Invalidf("to", "The end lies before the start.")
	}
	return nil
}

// whose makes ids of persons and addresses, as recordings have them.
func (s *Service) whose(ctx context.Context, q ChargeQuery, to *Selection) error {
	key, err := s.signingKey(ctx)
	if err != nil {
		return err
	}
	if q.Visitor != "" {
		if !q.Person.IsZero() {
			return fault.Invalidf("visitor", "Either a person or a visitor is meant.")
		}
		if err := checkVisitor(q.Visitor); err != nil {
			return err
		}
		to.Person = hashed(key, "visitor", q.Visitor)
	}
	if q.Address != "" {
		origin, err := originOf(strings.TrimSpace(q.Address))
		if err != nil {
			return fault.Invalidf("address", "This is no IP address.")
		}
		to.Address = hashed(key, "address", origin)
	}
	return nil
}

// Charged are the charges in a selection.
type Charged struct {
	Selection
	Charges
}

// Charged says what a refund of a query would give back: look here first. Errors: INVALID and NOT_FOUND, naming the field.
func (s *Service) Charged(ctx context.Context, q ChargeQuery) (*Charged, error) {
	selected, err := s.selection(ctx, q)
	if err != nil {
		return nil, err
	}
	charges, err := s.store.Charged(ctx, selected)
	return &Charged{selected, charges}, present(err)
}

// RefundRequest asks for a refund.
type RefundRequest struct {
	ChargeQuery
	Count  int    // what Charged has said: where it is not true any more, nothing happens
	Reason string // 1 to MaxReason characters
	By     string // who asks
}

// Check says what is wrong with a request apart from what it selects.
func (r *RefundRequest) Check() error {
	var count error
	if r.Count < 1 || r.Count > MaxRefund {
		count = fault.Invalidf("count", "One refund is about 1 to %d charges.", MaxRefund)
	}
	return fault.All(count, fault.CheckLine("reason", r.Reason, 1, MaxReason))
}

// Refund gives back what was billed, and says how far that is: the rest of a long one is background work, and so is all of one that has begun when
// the database stops answering. Errors are those of Charged; CONFLICT for "count" where another number of charges is there: after a refund, none are.
func (s *Service) Refund(ctx context.Context, r RefundRequest) (*Refund, error) {
	selected, err := s.selection(ctx, r.ChargeQuery)
	if err := fault.All(err, r.Check()); err != nil {
		return nil, err
	}
	charges, err := s.store.Charged(ctx, selected)
	if err != nil {
		return nil, present(err)
	}
	if charges.Count != r.Count {
		return nil, fault.Errorf(fault.CodeConflict, "count", "The number of such charges is %d by now.", charges.Count)
	}
	refund := Refund{
		ID: RefundID{id.At(s.now())}, Selection: selected, Most: r.Count, By: r.By, Reason: r.Reason, Begun: s.now().Truncate(time.Millisecond),
	}
	if err := s.store.Begin(ctx, refund); err != nil {
		return nil, present(err)
	}
	if further, err := s.refund(ctx, &refund); err == nil {
		return further, nil
	}
	return &refund, nil
}

// refund goes on with a refund, for as long as a person waits.
func (s *Service) refund(ctx context.Context, r *Refund) (*Refund, error) {
	for range refundsAtOnce {
		next, err := s.store.Continue(ctx, r.ID, s.now())
		if err != nil {
			return nil, present(err)
		}
		if r = next; r.Done {
			break
		}
	}
	return r, nil
}

// FinishRefunds goes on with all refunds that are not done. One that fails does not keep the others.
func (s *Service) FinishRefunds(ctx context.Context) error {
	for {
		open, err := s.store.Unfinished(ctx)
		if err != nil || len(open) == 0 {
			return present(err)
		}
		var faults []error
		for _, each := range open {
			_, err := s.refund(ctx, &Refund{ID: each})
			faults = append(faults, err)
		}
		if err := errors.Join(faults...); err != nil {
			return err
		}
	}
}

// ListRefunds reads a page of a campaign's refunds, the oldest first.
func (s *Service) ListRefunds(ctx context.Context, of CampaignID, p Page) (Slice[*Refund], error) {
	return slice(p, func(r *Refund) paging.Key { return keyOf(r.ID.ID) }, func(p Page) ([]*Refund, error) { return s.store.ListRefunds(ctx, of, p) })
}
