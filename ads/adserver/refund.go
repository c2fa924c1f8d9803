package adserver

import (
	"context"
	"errors"
	"strings"
	"time"

	"plaza/ads"
	"plaza/fault"
	"plaza/id"
	"plaza/paging"
)

// refundsAtOnce is how many calls of Refunds.Continue run while the caller waits; the rest runs in
// the background.
const refundsAtOnce = 20

// ChargeQuery selects charges.
type ChargeQuery struct {
	Campaign ads.CampaignID
	Unit     ads.UnitID   // zero: any
	Choice   ads.ChoiceID // zero: any
	Kind     ads.Kind     // empty: all
	// From and To limit the time; To is exclusive. If To is zero, it is now. If From is zero, it is
	// 24 hours before To, or, with a choice, as early as possible.
	From, To time.Time
	// Person or Visitor selects clicks and conversions by one person: by the id in Charge, or by
	// the visitor's id in Request. At most one of them can be set. Address is the IP address that
	// clicks came from.
	Person  ads.ProfileID
	Visitor string
	Address string
}

// selection parses a query. Errors: INVALID, naming the field; NOT_FOUND for "campaignId" or
// "unitId".
func (s *Service) selection(ctx context.Context, q ChargeQuery) (ads.Selection, error) {
	if err := s.counting.countDue(ctx, s.now()); err != nil {
		return ads.Selection{}, present(err)
	}
	selected := ads.Selection{Campaign: q.Campaign, Unit: q.Unit, Choice: q.Choice, Kind: q.Kind, From: q.From, To: q.To, Person: q.Person}
	if err := limitTime(&selected, s.now()); err != nil {
		return selected, err
	}
	if err := s.origins(ctx, q, &selected); err != nil {
		return selected, err
	}
	if q.Kind == ads.Impression && (!selected.Person.IsZero() || !selected.Address.IsZero()) {
		return selected, fault.Invalidf("kind", "Impressions have no person, visitor or address: only clicks and conversions do.")
	}
	if q.Kind == ads.Conversion && !selected.Address.IsZero() {
		return selected, fault.Invalidf("kind", "Conversions have no address: only clicks do.")
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

// limitTime checks the time range of a selection, and fills in the defaults.
func limitTime(s *ads.Selection, now time.Time) error {
	oldest, end := now.Add(-ads.RefundLife), now.Truncate(time.Millisecond).Add(time.Millisecond)
	if s.To.IsZero() {
		s.To = end
	}
	if s.To.After(end) {
		return fault.Invalidf("to", "This is in the future.")
	}
	if s.From.IsZero() {
		s.From = s.To.Add(-24 * time.Hour)
		if !s.Choice.IsZero() || s.From.Before(oldest) {
			s.From = oldest
		}
	}
	if s.From.Before(oldest) {
		return fault.Invalidf("from", "Charges older than %d days cannot be refunded.", ads.RefundLife/(24*time.Hour))
	}
	if !s.From.Before(s.To) {
		return fault.Invalidf("to", "The end must be after the start.")
	}
	return nil
}

// origins translates a query's person, visitor and address into the ids that recordings store.
func (s *Service) origins(ctx context.Context, q ChargeQuery, to *ads.Selection) error {
	key, err := s.signingKey(ctx)
	if err != nil {
		return err
	}
	if q.Visitor != "" {
		if !q.Person.IsZero() {
			return fault.Invalidf("visitor", "Give either a person or a visitor, not both.")
		}
		if err := checkVisitor(q.Visitor); err != nil {
			return err
		}
		to.Person = VisitorProfile(key, q.Visitor)
	}
	if q.Address != "" {
		origin, err := originOf(strings.TrimSpace(q.Address))
		if err != nil {
			return fault.Invalidf("address", "This is not an IP address.")
		}
		to.Address = ads.Hashed(key, "address", origin)
	}
	return nil
}

// Charged is the answer to a ChargeQuery.
type Charged struct {
	ads.Selection
	ads.Charges
}

// Charged returns what a refund of the query would give back. Call it before Refund. Errors:
// INVALID and NOT_FOUND, naming the field.
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
	Count  int    // as returned by Charged; if it is no longer correct, nothing is refunded
	Reason string // 1 to MaxReason characters
	By     string // the id of the user who requests it
}

// Check validates a request, apart from its query.
func (r *RefundRequest) Check() error {
	var count error
	if r.Count < 1 || r.Count > ads.MaxRefund {
		count = fault.Invalidf("count", "A refund must cover 1 to %d charges.", ads.MaxRefund)
	}
	return fault.All(count, fault.CheckLine("reason", r.Reason, 1, ads.MaxReason))
}

// Refund gives back what was billed, and returns its progress. The rest of a long refund continues
// in the background, and so does a refund that has begun when the database stops answering. Errors
// are those of Charged; CONFLICT for "count" if the number of charges differs: after a refund, it
// is 0.
func (s *Service) Refund(ctx context.Context, r RefundRequest) (*ads.Refund, error) {
	selected, err := s.selection(ctx, r.ChargeQuery)
	if err := fault.All(err, r.Check()); err != nil {
		return nil, err
	}
	charges, err := s.store.Charged(ctx, selected)
	if err != nil {
		return nil, present(err)
	}
	if charges.Count != r.Count {
		return nil, fault.Errorf(fault.CodeConflict, "count", "The number of such charges is now %d.", charges.Count)
	}
	refund := ads.Refund{
		ID: ads.RefundID{ID: id.At(s.now())}, Selection: selected, Most: r.Count, By: r.By, Reason: r.Reason, Begun: s.now().Truncate(time.Millisecond),
	}
	if err := s.store.Begin(ctx, refund); err != nil {
		return nil, present(err)
	}
	if further, err := s.refund(ctx, &refund); err == nil {
		return further, nil
	}
	return &refund, nil
}

// refund continues a refund for as long as the caller waits.
func (s *Service) refund(ctx context.Context, r *ads.Refund) (*ads.Refund, error) {
	for range refundsAtOnce {
		next, err := s.store.Continue(ctx, r.ID, s.now())
		if err != nil {
			return nil, present(err)
		}
		s.wallet.refunded(next.Campaign)
		if r = next; r.Done {
			break
		}
	}
	return r, nil
}

// FinishRefunds continues all refunds that are not done. One that fails does not block the others.
func (s *Service) FinishRefunds(ctx context.Context) error {
	for {
		open, err := s.store.Unfinished(ctx)
		if err != nil || len(open) == 0 {
			return present(err)
		}
		var faults []error
		for _, each := range open {
			_, err := s.refund(ctx, &ads.Refund{ID: each})
			faults = append(faults, err)
		}
		if err := errors.Join(faults...); err != nil {
			return err
		}
	}
}

// ListRefunds reads a page of a campaign's refunds, oldest first.
func (s *Service) ListRefunds(ctx context.Context, of ads.CampaignID, p ads.Page) (ads.Slice[*ads.Refund], error) {
	return slice(p, func(r *ads.Refund) paging.Key { return keyOf(r.ID.ID) }, func(p ads.Page) ([]*ads.Refund, error) { return s.store.ListRefunds(ctx, of, p) })
}
