package ads

import (
	"cmp"
	"context"
	"time"
)

// Store is all that the domain needs of a storage engine. Every engine passes the suite in storage/storagetest/adstest.
//
// What holds for all calls: a call that returns nil is durable; a call that returns an error has changed nothing,
// unless the error is ErrUnavailable or ctx's, when it may have happened. Each call that writes is one transaction. What a
// call has written, every later call reads, on every server. Texts come back byte for byte, times to the millisecond. Errors that are no
// sentinel of this package are internal.
type Store interface {
	Catalogue
	Zones
	Budgets
	Profiles
	Recorder
	Refunds
	Reports
	Traffics
	Keys
}

// Batch is what Catalogue.Save takes: things, and what they refer to, in one go.
type Batch struct {
	Advertisers []Advertiser
	Campaigns   []Campaign
	Zones       []Zone // without units
	Units       []Unit // impressions, clicks and conversions are not stored
}

// Catalogue stores what there is to advertise.
type Catalogue interface {
	// Save stores entries in one transaction, and counts those that it has stored. An entry of Revision 0 is new: where its
	// id exists already it is left as it is, and so is a second new entry of one id. Any other entry replaces what is
	// stored, if that has this very revision, and else is ErrConflict (also where it is absent). What is stored
	// has the next revision. Zones keep their currency, campaigns their advertiser, and units their campaign and counters.
	//
	// Zones show the change at once: a unit runs in its zones while it and its campaign are active, whoever saves at the same
	// time. ErrNotFound: a campaign's advertiser, or a unit's campaign or zone, is neither stored nor in the batch. ErrCurrency: a
	// zone exists with another currency, or a unit bids in another one than its zone's or its campaign's budget's.
	// ErrFull: a zone would have more than MaxZoneUnits units that are not archived.
	// ErrUpgrading: a unit's bid is a CPA, and servers that do not know it may use the database; they would charge nothing for it. Or its keywords have
	// weights, or a campaign its own attribution, which such servers would ignore and lose; nor could they read the tokens of such a campaign.
	Save(ctx context.Context, b Batch) (saved int, err error)

	// Advertisers reads by id; absent advertisers are missing in the map.
	Advertisers(ctx context.Context, ids []AdvertiserID) (map[AdvertiserID]*Advertiser, error)
	// Campaigns reads by id; absent campaigns are missing in the map.
	Campaigns(ctx context.Context, ids []CampaignID) (map[CampaignID]*Campaign, error)
	// Units reads by id; absent units are missing in the map. Units are found whether they run or not.
	Units(ctx context.Context, ids []UnitID) (map[UnitID]*Unit, error)

	// ListAdvertisers reads a page of all advertisers.
	ListAdvertisers(ctx context.Context, p Page) ([]*Advertiser, error)
	// ListCampaigns reads a page of an advertiser's campaigns.
	ListCampaigns(ctx context.Context, of AdvertiserID, p Page) ([]*Campaign, error)
	// ListUnits reads a page of a campaign's units.
	ListUnits(ctx context.Context, of CampaignID, p Page) ([]*Unit, error)
	// ListZones reads a page of all zones, without their units.
	ListZones(ctx context.Context, p Page) ([]*Zone, error)
}

// Zones reads places with what runs there.
type Zones interface {
	// Zone reads one zone with its running units in order: see Zone.Units. It is one read by an index, of one
	// document or one run of rows, however many zones, campaigns and units there are. ErrNotFound.
	Zone(ctx context.Context, id ZoneID) (*Zone, error)
}

// Budgets keeps what campaigns have spent.
type Budgets interface {
	// Lease gives back r.Return, as Return has it, and takes a portion of a campaign's budget, as Campaign.Grant has it; nil where nothing
	// is to be had, and where there is no such campaign. Of any number of calls at the same time, each sees what the others took.
	Lease(ctx context.Context, r LeaseRequest) (*Lease, error)
	// Return takes out of a lease what was not used, as Ledger.GiveBack has it; a lease that does not exist is left alone.
	Return(ctx context.Context, r Return) error
	// Expect adds to what is expected of clicks, as Campaign.Expect has it; 0 where there is no such campaign. Calls at the same
	// time see each other's as those of Lease do.
	Expect(ctx context.Context, e Expectation) (Micros, error)
	// Settle gives back what is left of leases whose SettleAt is not after now, as Ledger.Settle has it, and removes them: at
	// most MaxSettled of them, the oldest first, each exactly once whoever settles at the same time.
	Settle(ctx context.Context, now time.Time) (settled int, err error)
	// Ledgers reads by campaign; those that never took anything are missing in the map.
	Ledgers(ctx context.Context, ids []CampaignID) (map[CampaignID]Ledger, error)
}

// MaxSettled is how many leases one call settles.
const MaxSettled = 100

// Profiles keeps what people have seen.
type Profiles interface {
	// Reserve chooses among candidates and counts them in the person's profile in one step, as Profile.Reserve has it. A
	// profile that does not exist is empty. Of any number of calls at the same time, each sees what the others reserved.
	Reserve(ctx context.Context, r Reservation) (chosen []int, err error)
	// Profile reads what is remembered; an absent profile is empty.
	Profile(ctx context.Context, id ProfileID) (*Profile, error)
	// ForgetProfile removes what is remembered.
	ForgetProfile(ctx context.Context, id ProfileID) error
}

// Kind is what a token stands for.
type Kind string

// The kinds of tokens.
const (
	Impression Kind = "IMPRESSION"
	Click      Kind = "CLICK"
	// Conversion is what an advertiser wants of a visitor who has clicked: a purchase, say. The click's token stands for it, too.
	Conversion Kind = "CONVERSION"
)

// Kinds are all kinds, in the order in which they are counted: each but the first follows a recording of the one before, of the same choice.
func Kinds() []Kind { return []Kind{Impression, Click, Conversion} }

// Before is the kind that recordings of this kind follow; empty for impressions.
func (k Kind) Before() Kind {
	switch k {
	case Click:
		return Impression
	case Conversion:
		return Click
	default:
		return ""
	}
}

// Recording is one impression, click or conversion.
type Recording struct {
	Kind     Kind
	Choice   ChoiceID // each choice has at most one recording of each kind
	Unit     UnitID
	Campaign CampaignID // the unit's
	Zone     ZoneID
	At       time.Time
	// KeepUntil is how long the engine has to remember the recording, so as not to take it twice, and for reports; later it may
	// forget it. The counters stay.
	KeepUntil time.Time
	// WaitUntil is how long a click waits for its impression, and a conversion for its click, which may arrive after it. From then on it is
	// judged without one.
	WaitUntil time.Time
	// Days is how many days after its click a conversion counts: 1 to MaxAttribution.
	Days int

	Cost     Micros    // what it costs, if it is valid
	Lease    LeaseID   // where that was put aside; zero: nowhere
	Profile  ProfileID // whose caps an impression counts for, and who has clicked or converted; zero: unknown
	Address  ProfileID // a keyed hash of where a click came from; zero: unknown
	Keywords []string  // which matched
	Staff    bool      // by one who manages ads
}

// Key names a recording.
func (r *Recording) Key() RecordingKey { return RecordingKey{r.Kind, r.Choice} }

// Compare orders recordings by time.
func (r Recording) Compare(other Recording) int {
	return cmp.Or(r.At.Compare(other.At), r.Choice.Compare(other.Choice.ID))
}

// RecordingKey names a recording: there is at most one of each.
type RecordingKey struct {
	Kind   Kind
	Choice ChoiceID
}

// Waiting is a recording that has not been counted.
type Waiting struct {
	RecordingKey
	Campaign CampaignID
}

// Invalid says why a recording counts nowhere and costs nothing; empty for valid ones.
type Invalid string

// Why recordings are invalid.
const (
	ByStaff      Invalid = "STAFF"         // by one who manages ads
	NoImpression Invalid = "NO_IMPRESSION" // a click on what was not shown
	NoClick      Invalid = "NO_CLICK"      // a conversion without a click that counts
	TooLate      Invalid = "TOO_LATE"      // a conversion after its campaign's attribution window
	TooMany      Invalid = "TOO_MANY"      // clicks by one person, or from one address, and the conversions of such clicks
	Refunded     Invalid = "REFUNDED"      // somebody who manages ads has given the money back: see Refund
)

// The click rates above which clicks are invalid.
const (
	ClickWindow      = 10 * time.Minute
	MaxPersonClicks  = 10 // by one profile in a ClickWindow
	MaxAddressClicks = 30 // from one address in a ClickWindow
)

// Receipt says how a recording was counted.
type Receipt struct {
	RecordingKey
	Campaign CampaignID
	Zone     ZoneID
	Invalid  Invalid
	Billed   Micros // 0 also where the budget does not have it any more
}

// MaxCounted is how many recordings one call counts.
const MaxCounted = 64

// Recorder takes impressions, clicks and conversions, and counts them later: to take one writes nothing that another one writes, so any number of them
// can be taken at once; to count them changes their campaign, so it is done for many of a campaign together.
type Recorder interface {
	// Record stores a recording, which then waits to be counted. It changes nothing else, and reads nothing. It does nothing (recorded is
	// false) where the choice has a recording of that kind: of any number of calls for one choice and kind, at the same time or
	// one after another, exactly one records.
	Record(ctx context.Context, r Recording) (recorded bool, err error)
	// Waiting are recordings that wait, those that are due first first: MaxCounted of them at most, which were due at the given time. A recording is
	// due when it is made, and one that was found to wait for another one when Recording.LookAgain says so.
	Waiting(ctx context.Context, due time.Time) ([]Waiting, error)
	// Count counts recordings that wait, each exactly once, whoever else does so at the same time, and says how. It takes MaxCounted keys at most. Other
	// waiting recordings of the same choices are counted with them; keys of what does not wait are left out.
	//
	// Kinds come in the order of Kinds, and of each kind earlier recordings before later ones. A recording is judged as Recording.Judge has it; one that
	// must wait for another one stays as it is. A recording of a unit that is absent is removed.
	// A valid one adds one to the unit's impressions, clicks or conversions, moves the unit in the order of all zones where it
	// runs, is charged as Campaign.Charge has it, and, if it is an impression, is confirmed in the profile, as Profile.Confirm has it. (The profile may
	// be confirmed before the rest; all the rest is one transaction.) A click that
	// is TooMany makes those before it invalid, and their conversions, as Evidence.Burst has it, and as Refunds has it. The hour of a recording that is counted
	// late, as Recording.IsLate has it, becomes stale: see Reports. Recordings that wait are in no report.
	Count(ctx context.Context, keys []RecordingKey, now time.Time) ([]Receipt, error)
}

// Keys keeps the server's secret.
type Keys interface {
	// SigningKey stores fresh where no key is stored, and returns the one that is: the same for all callers on all
	// servers for as long as the database lives, whoever was first.
	SigningKey(ctx context.Context, fresh []byte) ([]byte, error)
}
