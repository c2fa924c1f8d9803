package ads

import (
	"cmp"
	"context"
	"time"
)

// Store is what the domain needs from a storage engine. Every engine passes the suite in
// storage/storagetest/adstest.
//
// These guarantees hold for all calls: a call that returns nil is durable; a call that returns an
// error has changed nothing, unless the error is ErrUnavailable or ctx's: then the outcome is
// unknown. Each call that writes is one transaction. Every later call, on every server, reads what
// a call has written. Texts are returned byte for byte, times to the millisecond. Errors that are
// not sentinels of this package are internal.
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

// Batch is the input of Catalogue.Save: entries that may refer to each other.
type Batch struct {
	Advertisers []Advertiser
	Campaigns   []Campaign
	Zones       []Zone // their Units are ignored
	Units       []Unit // their counters are not stored
}

// Catalogue stores advertisers, campaigns, units and zones.
type Catalogue interface {
	// Save stores entries in one transaction, and returns how many it has stored. An entry with
	// Revision 0 is new: if its id exists already, in the store or earlier in the batch, the entry
	// is skipped. Any other entry replaces the stored one if that has the same revision; otherwise
	// the error is ErrConflict, also if there is no stored one. Each stored entry gets the next
	// revision. Zones keep their currency, campaigns their advertiser, and units their campaign and
	// counters. CreatedAt is stored if it is not that of the id (see OwnCreation); otherwise an entry
	// keeps the stored one. Entries are read with their Creation.
	//
	// Zones show the change immediately: a unit runs in its zones while it and its campaign are
	// active, even if several writers save at the same time. ErrNotFound: a campaign's advertiser,
	// or a unit's campaign or zone, is neither stored nor in the batch. ErrCurrency: a zone exists
	// with another currency, a unit's bid has another currency than one of its zones or its
	// campaign's budget, or the campaign of a new unit has units, but none in that currency. (Only
	// earlier versions of Plaza have stored campaigns with several currencies.) ErrFull: a zone
	// would have more than MaxZoneUnits units that are not archived. ErrUpgrading: a unit's bid is
	// a CPA, its keywords have weights, or a campaign has its own attribution, and servers of an
	// older version may use the database. They would charge nothing for a CPA, would ignore and
	// lose the weights and the attribution, and could not read the tokens of such a campaign.
	Save(ctx context.Context, b Batch) (saved int, err error)

	// Advertisers reads by id; the map omits those that do not exist.
	Advertisers(ctx context.Context, ids []AdvertiserID) (map[AdvertiserID]*Advertiser, error)
	// Campaigns reads by id; the map omits those that do not exist.
	Campaigns(ctx context.Context, ids []CampaignID) (map[CampaignID]*Campaign, error)
	// Units reads by id, whether or not the units run; the map omits those that do not exist.
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

// Zones reads zones with the units that run there.
type Zones interface {
	// Zone reads one zone with its running units in order: see Zone.Units. It is one read by an
	// index, of one document or one run of rows, however many zones, campaigns and units exist.
	// ErrNotFound.
	Zone(ctx context.Context, id ZoneID) (*Zone, error)
}

// Budgets records what campaigns have spent.
type Budgets interface {
	// Lease first gives back r.Return, as the method Return does, and then takes a portion of a
	// campaign's budget, as Campaign.Grant describes. It returns nil if nothing is available or the
	// campaign does not exist. Each of several concurrent calls sees what the others took.
	Lease(ctx context.Context, r LeaseRequest) (*Lease, error)
	// Return takes the unused part out of a lease, as Ledger.GiveBack describes. If the lease does
	// not exist, it does nothing.
	Return(ctx context.Context, r Return) error
	// Expect adds to the expected clicks or conversions, as Campaign.Expect describes; it returns 0
	// if the campaign does not exist. Each of several concurrent calls sees what the others added.
	Expect(ctx context.Context, e Expectation) (Micros, error)
	// Settle gives back what is left of leases whose SettleAt is not after now, as Ledger.Settle
	// describes, and removes them: at most MaxSettled, oldest first. Each is settled exactly once,
	// even if several servers settle at the same time.
	Settle(ctx context.Context, now time.Time) (settled int, err error)
	// Ledgers reads by campaign; the map omits those that have never taken anything.
	Ledgers(ctx context.Context, ids []CampaignID) (map[CampaignID]Ledger, error)
}

// MaxSettled is the most leases that one call settles.
const MaxSettled = 100

// Profiles stores what people have seen.
type Profiles interface {
	// Reserve chooses among candidates and counts them in the person's profile in one step, as
	// Profile.Reserve describes. A profile that does not exist is empty. Each of several concurrent
	// calls sees what the others reserved.
	Reserve(ctx context.Context, r Reservation) (chosen []int, err error)
	// Profile reads a profile; one that does not exist is empty.
	Profile(ctx context.Context, id ProfileID) (*Profile, error)
	// ForgetUser deletes the profile of a user, and removes the user from some of their clicks and
	// conversions, at most MaxForgotten of each; left means that there may be more. Their cost, and
	// how they count, stay the same. It finds the user by the stored key, and does nothing if there is
	// none. Engines do this when an account is deleted.
	ForgetUser(ctx context.Context, user string) (left bool, err error)
}

// MaxForgotten is the most clicks, and the most conversions, that one call of Profiles.ForgetUser
// changes.
const MaxForgotten = 100

// Recording is one impression, click or conversion.
type Recording struct {
	Kind     Kind
	Choice   ChoiceID // each choice has at most one recording of each kind
	Unit     UnitID
	Campaign CampaignID // the unit's
	Zone     ZoneID
	At       time.Time
	// KeepUntil is how long the engine must keep the recording, to refuse repeats and for reports.
	// It may delete it later. The counters stay.
	KeepUntil time.Time
	// WaitUntil is how long a click waits for its impression, and a conversion for its click,
	// either of which may arrive after it. After that it is judged without one.
	WaitUntil time.Time
	// Days is how many days after its click a conversion counts: 1 to MaxAttribution.
	Days int

	Cost     Micros    // what it costs if it is valid
	Lease    LeaseID   // the lease that Cost was put aside in; zero: none
	Profile  ProfileID // the person: an impression counts for their caps, or they clicked or converted; zero: unknown
	Address  ProfileID // a keyed hash of the address that a click came from; zero: unknown
	Keywords []string  // those that matched
	Staff    bool      // by a person who manages ads
}

// Key returns the key of a recording.
func (r *Recording) Key() RecordingKey { return RecordingKey{r.Kind, r.Choice} }

// Compare orders recordings by time.
func (r Recording) Compare(other Recording) int {
	return cmp.Or(r.At.Compare(other.At), r.Choice.Compare(other.Choice.ID))
}

// RecordingKey identifies a recording.
type RecordingKey struct {
	Kind   Kind
	Choice ChoiceID
}

// Waiting is a recording that has not been counted yet.
type Waiting struct {
	RecordingKey
	Campaign CampaignID
}

// Invalid is the reason why a recording is not counted and costs nothing; empty for valid ones.
type Invalid string

// Why recordings are invalid.
const (
	ByStaff      Invalid = "STAFF"         // by a person who manages ads
	NoImpression Invalid = "NO_IMPRESSION" // a click without a valid impression
	NoClick      Invalid = "NO_CLICK"      // a conversion without a valid click
	TooLate      Invalid = "TOO_LATE"      // a conversion after its campaign's attribution window
	TooMany      Invalid = "TOO_MANY"      // clicks by one person, or from one address, and the conversions of such clicks
	Refunded     Invalid = "REFUNDED"      // a person who manages ads has given the money back: see Refund
)

// The rates above which clicks are invalid.
const (
	ClickWindow      = 10 * time.Minute
	MaxPersonClicks  = 10 // by one profile in a ClickWindow
	MaxAddressClicks = 30 // from one address in a ClickWindow
)

// Receipt reports how a recording was counted.
type Receipt struct {
	RecordingKey
	Campaign CampaignID
	Zone     ZoneID
	Invalid  Invalid
	Billed   Micros // 0 also if the budget was used up
}

// MaxCounted is the most recordings that one call counts.
const MaxCounted = 64

// Recorder stores impressions, clicks and conversions, and counts them later. Storing one writes
// nothing that another one writes, so any number of them can be stored at the same time. Counting
// them changes their campaign, so the recordings of a campaign are counted in batches.
type Recorder interface {
	// Record stores a recording, which then waits to be counted. It changes nothing else, and reads
	// nothing. If the choice already has a recording of that kind, it does nothing and recorded is
	// false: of any number of calls for one choice and kind, concurrent or not, exactly one
	// records.
	Record(ctx context.Context, r Recording) (recorded bool, err error)
	// Waiting lists at most MaxCounted waiting recordings that were due at the given time, earliest
	// first. A recording is due when it is made. If it was found to wait for another one, it is due
	// again at Recording.LookAgain.
	Waiting(ctx context.Context, due time.Time) ([]Waiting, error)
	// Count counts waiting recordings, each exactly once even if several servers count at the same
	// time, and reports how it counted them. It accepts at most MaxCounted keys. It also counts
	// other waiting recordings of the same choices, and skips keys of recordings that do not wait.
	//
	// Recordings are counted in the order of Kinds, and within a kind in the order of time. A
	// recording is judged as Recording.Judge describes; if it must wait for another one, it is
	// unchanged. A recording of a unit that does not exist is removed. A valid one adds one to the
	// unit's impressions, clicks or conversions, moves the unit in the order of all zones where it
	// runs, and is charged as Campaign.Charge describes. A valid impression is also confirmed in
	// the profile, as Profile.Confirm describes. (The profile may be confirmed before the rest; all
	// the rest is one transaction.) A click that is TooMany invalidates earlier clicks and their
	// conversions, as Evidence.Burst and Refunds describe. If Recording.IsLate, the hour of the
	// recording becomes stale: see Reports. Reports leave out waiting recordings.
	Count(ctx context.Context, keys []RecordingKey, now time.Time) ([]Receipt, error)
}

// Keys stores the server's secret.
type Keys interface {
	// SigningKey stores fresh unless a key is stored, and returns the stored key: the same for all
	// callers on all servers for as long as the database exists.
	SigningKey(ctx context.Context, fresh []byte) ([]byte, error)
}
