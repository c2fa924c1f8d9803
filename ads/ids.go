package ads

import "plaza/id"

// The kinds of ids. Their text forms are TypeIDs: advertiser_…, campaign_…, ad_…, adchoice_….
type (
	AdvertiserID struct{ id.ID }
	CampaignID   struct{ id.ID }
	UnitID       struct{ id.ID }
	// ChoiceID identifies one choice of one unit. Both tokens of the choice contain it, and each
	// token counts once.
	ChoiceID struct{ id.ID }
	// LeaseID identifies a portion of a budget. Clients never see it.
	LeaseID struct{ id.ID }
	// RefundID identifies a refund: adrefund_….
	RefundID struct{ id.ID }
	// TrafficID identifies what one server has counted in one hour. Clients never see it.
	TrafficID struct{ id.ID }
)

// The prefixes of the ids that clients see.
const (
	AdvertiserPrefix = "advertiser"
	CampaignPrefix   = "campaign"
	UnitPrefix       = "ad"
	ChoicePrefix     = "adchoice"
	RefundPrefix     = "adrefund"
	PersonPrefix     = "adperson" // a ProfileID, for people who manage ads: it does not reveal who the person is
)

func (i AdvertiserID) String() string { return i.Text(AdvertiserPrefix) }
func (i CampaignID) String() string   { return i.Text(CampaignPrefix) }
func (i UnitID) String() string       { return i.Text(UnitPrefix) }
func (i ChoiceID) String() string     { return i.Text(ChoicePrefix) }
func (i RefundID) String() string     { return i.Text(RefundPrefix) }
func (i ProfileID) String() string    { return i.Text(PersonPrefix) }

// ParseAdvertiserID parses advertiser_…. Error: id.ErrMalformed.
func ParseAdvertiserID(text string) (AdvertiserID, error) {
	parsed, err := id.Parse(AdvertiserPrefix, text)
	return AdvertiserID{parsed}, err
}

// ParseCampaignID parses campaign_…. Error: id.ErrMalformed.
func ParseCampaignID(text string) (CampaignID, error) {
	parsed, err := id.Parse(CampaignPrefix, text)
	return CampaignID{parsed}, err
}

// ParseUnitID parses ad_…. Error: id.ErrMalformed.
func ParseUnitID(text string) (UnitID, error) {
	parsed, err := id.Parse(UnitPrefix, text)
	return UnitID{parsed}, err
}

// ParseChoiceID parses adchoice_…. Error: id.ErrMalformed.
func ParseChoiceID(text string) (ChoiceID, error) {
	parsed, err := id.Parse(ChoicePrefix, text)
	return ChoiceID{parsed}, err
}

// ParseProfileID parses adperson_…. Error: id.ErrMalformed.
func ParseProfileID(text string) (ProfileID, error) {
	parsed, err := id.Parse(PersonPrefix, text)
	return ProfileID{parsed}, err
}

// ProfileID identifies a person whose impressions are counted. It is a keyed hash, so it does not
// reveal who the person is.
type ProfileID struct{ id.ID }
