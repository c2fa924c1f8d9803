package model

import (
	"time"

	"plaza/ads"
	"plaza/ads/adserver"
)

// AdManager is the schema's AdManager. Only users who may manage ads get one.
type AdManager struct{}

// Advertiser is the schema's Advertiser.
type Advertiser struct{ *ads.Advertiser }

// IsNode marks Advertiser as a Node.
func (*Advertiser) IsNode() {}

// Caps is never nil.
func (a *Advertiser) Caps() []ads.Cap { return capList(a.Advertiser.Caps) }

func capList(caps []ads.Cap) []ads.Cap { return append([]ads.Cap{}, caps...) }

// AdCampaign is the schema's AdCampaign.
type AdCampaign struct {
	*ads.Campaign
	Ledger ads.Ledger
	Now    time.Time // when it was read
}

// IsNode marks AdCampaign as a Node.
func (*AdCampaign) IsNode() {}

// AdvertiserID is who pays.
func (c *AdCampaign) AdvertiserID() ads.AdvertiserID { return c.Advertiser }

// IsHouse says whether these are the site's own ads.
func (c *AdCampaign) IsHouse() bool { return c.House }

// Schedule is when the campaign runs.
func (c *AdCampaign) Schedule() *AdSchedule { return &AdSchedule{&c.Campaign.Schedule} }

// Budget is null where there is no bound.
func (c *AdCampaign) Budget() *AdBudget {
	if !c.Campaign.Budget.Limited() {
		return nil
	}
	return &AdBudget{&c.Campaign.Budget}
}

// Spent is what the campaign has spent.
func (c *AdCampaign) Spent() ads.Micros { return c.Ledger.Spent }

// SpentToday is what it has spent on the day that it last spent anything on; 0 on another day.
func (c *AdCampaign) SpentToday() ads.Micros {
	if c.Ledger.Day != c.Campaign.Schedule.Day(c.Now) {
		return 0
	}
	return c.Ledger.DaySpent
}

// Caps is never nil.
func (c *AdCampaign) Caps() []ads.Cap { return capList(c.Campaign.Caps) }

// AdSchedule is the schema's AdSchedule.
type AdSchedule struct{ *ads.Schedule }

// Start is null where there is no bound.
func (s *AdSchedule) Start() *time.Time { return Optional(s.Schedule.Start) }

// End is null where there is no bound.
func (s *AdSchedule) End() *time.Time { return Optional(s.Schedule.End) }

// TimeZone is an IANA name.
func (s *AdSchedule) TimeZone() string {
	if s.Schedule.TimeZone == "" {
		return "UTC"
	}
	return s.Schedule.TimeZone
}

// Weekdays are the days on which the campaign runs; none for all.
func (s *AdSchedule) Weekdays() []time.Weekday {
	return append([]time.Weekday{}, s.Schedule.Weekdays.List()...)
}

// ToHour is 24 where there is no bound.
func (s *AdSchedule) ToHour() int {
	if s.Schedule.ToHour == 0 {
		return 24
	}
	return s.Schedule.ToHour
}

// AdBudget is the schema's AdBudget.
type AdBudget struct{ *ads.Budget }

// Currency is an ISO 4217 code.
func (b *AdBudget) Currency() string { return string(b.Budget.Currency) }

// Total is null where there is no bound.
func (b *AdBudget) Total() *ads.Micros { return Optional(b.Budget.Total) }

// Daily is null where there is no bound.
func (b *AdBudget) Daily() *ads.Micros { return Optional(b.Budget.Daily) }

// AdUnit is the schema's AdUnit.
type AdUnit struct {
	*ads.Unit
	// Owners returns a campaign's owner. Units that are read together share it, so that one read is
	// enough for all of them.
	Owners func(ads.CampaignID) (*adserver.Owner, error)
}

// IsNode marks AdUnit as a Node.
func (*AdUnit) IsNode() {}

// CampaignID is the unit's campaign.
func (u *AdUnit) CampaignID() ads.CampaignID { return u.Campaign }

// Bid is what the advertiser pays.
func (u *AdUnit) Bid() *AdBid { return &AdBid{&u.Unit.Bid} }

// ImageURL is null where there is no picture.
func (u *AdUnit) ImageURL() *string { return Optional(u.Unit.ImageURL) }

// Keywords is never nil.
func (u *AdUnit) Keywords() []string { return append([]string{}, u.Unit.Keywords...) }

// KeywordWeights is never nil.
func (u *AdUnit) KeywordWeights() []ads.KeywordWeight {
	return append([]ads.KeywordWeight{}, u.Unit.KeywordWeights...)
}

// Weight is null if the unit competes alone.
func (u *AdUnit) Weight() *int { return Optional(u.Unit.Weight) }

// Caps is never nil.
func (u *AdUnit) Caps() []ads.Cap { return capList(u.Unit.Caps) }

// Zones is where the unit is placed.
func (u *AdUnit) Zones() []*AdPlacement {
	places := make([]*AdPlacement, len(u.Unit.Zones))
	for i := range u.Unit.Zones {
		places[i] = &AdPlacement{Site: u.Unit.Zones[i].Site, Zone: u.Unit.Zones[i].Name}
	}
	return places
}

// Impressions is how often the unit was shown.
func (u *AdUnit) Impressions() int { return int(u.Unit.Impressions) }

// Clicks is how often the unit was clicked.
func (u *AdUnit) Clicks() int { return int(u.Unit.Clicks) }

// Conversions is a number that GraphQL can write.
func (u *AdUnit) Conversions() int { return int(u.Unit.Conversions) }

// AdBid is the schema's AdBid.
type AdBid struct{ *ads.Bid }

// Currency is an ISO 4217 code.
func (b *AdBid) Currency() string { return string(b.Bid.Currency) }

// AdPlacement is the schema's AdPlacement.
type AdPlacement struct{ Site, Zone string }

// AdZone is the schema's AdZone.
type AdZone struct{ *ads.Zone }

// Site is the site's name.
func (z *AdZone) Site() string { return z.ID.Site }

// Currency is what all bids are in.
func (z *AdZone) Currency() string { return string(z.Zone.Currency) }

// ZoneName is the zone's name on its site.
func (z *AdZone) ZoneName() string { return z.ID.Name }

// AdCandidate is the schema's AdCandidate.
type AdCandidate struct{ *adserver.Explanation }

// AdID is the unit's id.
func (c *AdCandidate) AdID() ads.UnitID { return c.Unit }

// MatchedKeywords is never nil.
func (c *AdCandidate) MatchedKeywords() []string { return append([]string{}, c.Matched...) }

// AdReport is the schema's AdReport.
type AdReport struct {
	By    ads.Dimension
	Lines []ads.ReportRow
}

// Rows is never nil.
func (r *AdReport) Rows() []*AdReportRow {
	rows := make([]*AdReportRow, len(r.Lines))
	for i := range r.Lines {
		rows[i] = &AdReportRow{&r.Lines[i]}
	}
	return rows
}

// CSV is the report as a text.
func (r *AdReport) CSV() string { return ads.CSV(r.By, r.Lines) }

// AdReportRow is the schema's AdReportRow.
type AdReportRow struct{ *ads.ReportRow }

// Currency is an ISO 4217 code.
func (r *AdReportRow) Currency() string { return string(r.ReportRow.Currency) }

// Impressions is how often ads were shown.
func (r *AdReportRow) Impressions() int { return int(r.ReportRow.Impressions) }

// Clicks is how often they were clicked.
func (r *AdReportRow) Clicks() int { return int(r.ReportRow.Clicks) }

// Conversions is a number that GraphQL can write.
func (r *AdReportRow) Conversions() int { return int(r.ReportRow.Conversions) }

// CostPerConversion is null without conversions.
func (r *AdReportRow) CostPerConversion() *ads.Micros {
	cost, ok := r.ReportRow.CostPerConversion()
	if !ok {
		return nil
	}
	return &cost
}

// Invalid is what does not count.
func (r *AdReportRow) Invalid() int { return int(r.ReportRow.Invalid) }

// Requested is null where nothing was asked for.
func (r *AdReportRow) Requested() *int { return Optional(int(r.ReportRow.Requested)) }

// Filled is null where nothing was asked for.
func (r *AdReportRow) Filled() *int { return r.unlessUnasked(int(r.ReportRow.Filled)) }

func (r *AdReportRow) unlessUnasked(n int) *int {
	if r.ReportRow.Requested == 0 {
		return nil
	}
	return &n
}

// FillRate is null where nothing was asked for.
func (r *AdReportRow) FillRate() *float64 {
	if r.ReportRow.Requested == 0 {
		return nil
	}
	rate := r.ReportRow.FillRate()
	return &rate
}

// AdForecast is the schema's AdForecast.
type AdForecast struct{ *adserver.Forecast }

// Requested is how many ads will be asked for.
func (f *AdForecast) Requested() int { return int(f.Forecast.Requested) }

// Available is how many impressions these make.
func (f *AdForecast) Available() int { return int(f.Forecast.Available) }

// Booked is how many campaigns will take.
func (f *AdForecast) Booked() int { return int(f.Forecast.Booked) }

// Remaining is how many are left.
func (f *AdForecast) Remaining() int { return int(f.Forecast.Remaining) }

// Bookings is never nil.
func (f *AdForecast) Bookings() []*AdBooking {
	bookings := make([]*AdBooking, len(f.Forecast.Bookings))
	for i := range f.Forecast.Bookings {
		bookings[i] = &AdBooking{&f.Forecast.Bookings[i]}
	}
	return bookings
}

// AdBooking is the schema's AdBooking.
type AdBooking struct{ *adserver.Booking }

// CampaignID is whose it is.
func (b *AdBooking) CampaignID() ads.CampaignID { return b.Campaign }

// Impressions is how many it will take.
func (b *AdBooking) Impressions() int { return int(b.Booking.Impressions) }

// IsUnlimited says whether the campaign has no budget.
func (b *AdBooking) IsUnlimited() bool { return b.Unlimited }

// AdCharges is the schema's AdCharges.
type AdCharges struct{ *adserver.Charged }

// Newest is never nil.
func (c *AdCharges) Newest() []*AdCharge {
	newest := make([]*AdCharge, len(c.Charges.Newest))
	for i := range c.Charges.Newest {
		newest[i] = &AdCharge{&c.Charges.Newest[i]}
	}
	return newest
}

// AdCharge is the schema's AdCharge.
type AdCharge struct{ *ads.Charge }

// ChoiceID is the choice that was billed.
func (c *AdCharge) ChoiceID() string { return c.Choice.String() }

// AdID is the unit's id.
func (c *AdCharge) AdID() ads.UnitID { return c.Unit }

// Site is the site's name.
func (c *AdCharge) Site() string { return c.Charge.Zone.Site }

// Zone is the zone's name on its site.
func (c *AdCharge) Zone() string { return c.Charge.Zone.Name }

// Person is null if the visitor is unknown.
func (c *AdCharge) Person() *string { return idText(c.Charge.Person) }

// AdRefund is the schema's AdRefund.
type AdRefund struct{ *ads.Refund }

// ID is adrefund_….
func (r *AdRefund) ID() string { return r.Refund.ID.String() }

// CampaignID is whose money it is.
func (r *AdRefund) CampaignID() ads.CampaignID { return r.Campaign }

// AdID is null for all of the campaign.
func (r *AdRefund) AdID() *string { return idText(r.Unit) }

// ChoiceID is null for all choices.
func (r *AdRefund) ChoiceID() *string { return idText(r.Choice) }

// Kind is null for both.
func (r *AdRefund) Kind() *ads.Kind { return Optional(r.Refund.Kind) }

// Person is null for anybody.
func (r *AdRefund) Person() *string { return idText(r.Refund.Person) }

// CoversOneAddress says whether it covers clicks from one address.
func (r *AdRefund) CoversOneAddress() bool { return !r.Address.IsZero() }

// ByUserID is who has begun it.
func (r *AdRefund) ByUserID() string { return r.By }

// CreatedAt is when it was begun.
func (r *AdRefund) CreatedAt() time.Time { return r.Begun }

// IsDone says whether it is over.
func (r *AdRefund) IsDone() bool { return r.Done }

// idText is null for the zero id.
func idText[ID interface {
	IsZero() bool
	String() string
}](i ID) *string {
	if i.IsZero() {
		return nil
	}
	text := i.String()
	return &text
}
