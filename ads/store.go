package ads

import (
	"context"
	"time"
)

// Store is all that the domain needs of a storage engine. Every engine passes the suite in storage/storagetest/adstest.
//
// What holds for all calls: a call that returns nil is durable; a call that returns an error has changed nothing,
// unless the error is ErrUnavailable or ctx's, when it may have happened. Each call that writes is one transaction. What a
// call has written, every later call reads, on every server. Texts come back byte for byte. Errors that are no
// sentinel of this package are internal.
type Store interface {
	Catalogue
	Zones
	Recorder
	Keys
}

// Batch is what Catalogue.Add takes: things, and what they refer to, in one go.
type Batch struct {
	Advertisers []Advertiser
	Campaigns   []Campaign
	Zones       []Zone // without units
	Units       []Unit // without impressions and clicks
}

// Catalogue stores what there is to advertise.
type Catalogue interface {
	// Add stores what does not exist, by id, in one transaction, and counts it. What exists already is left as it
	// is (a campaign's state and a unit's counters with it), and so is a second entry of one id: a batch can be added
	// again. A new unit runs at once in its zones, unless its campaign is paused, whoever pauses, resumes or adds at
	// the same time. ErrNotFound: a new campaign's advertiser, or a new unit's campaign or zone, is neither stored nor in the
	// batch. ErrCurrency: a zone exists with another currency, or a new unit bids in another one than its zone's.
	// ErrFull: a zone would have more than MaxZoneUnits units.
	Add(ctx context.Context, b Batch) (added int, err error)
	// PauseCampaign takes the campaign's units out of all zones, found by an index on the campaign; it does
	// nothing (paused is false) where it is paused already. ErrNotFound.
	PauseCampaign(ctx context.Context, id CampaignID) (paused bool, err error)
	// ResumeCampaign puts the campaign's units back into their zones, in the order that their counters give them now;
	// it does nothing (resumed is false) where the campaign is not paused. ErrNotFound.
	ResumeCampaign(ctx context.Context, id CampaignID) (resumed bool, err error)

	// Advertisers reads by id; absent advertisers are missing in the map.
	Advertisers(ctx context.Context, ids []AdvertiserID) (map[AdvertiserID]*Advertiser, error)
	// Campaigns reads by id; absent campaigns are missing in the map.
	Campaigns(ctx context.Context, ids []CampaignID) (map[CampaignID]*Campaign, error)
	// Units reads by id; absent units are missing in the map. Units are found whether they run or not.
	Units(ctx context.Context, ids []UnitID) (map[UnitID]*Unit, error)
}

// Zones reads places with what runs there.
type Zones interface {
	// Zone reads one zone with its running units in order: see Zone.Units. It is one read by an index, of one
	// document or one run of rows, however many zones, campaigns and units there are. ErrNotFound.
	Zone(ctx context.Context, id ZoneID) (*Zone, error)
}

// Kind is what a token stands for.
type Kind string

// The kinds of tokens.
const (
	Impression Kind = "IMPRESSION"
	Click      Kind = "CLICK"
)

// Recording is one impression or click.
type Recording struct {
	Kind   Kind
	Choice ChoiceID // each choice has at most one recording of each kind
	Unit   UnitID
	Zone   ZoneID
	At     time.Time
	// KeepUntil is how long the engine has to remember the recording, so as not to take it twice; later it may
	// forget it. The counters stay.
	KeepUntil time.Time
}

// Recorder counts impressions and clicks.
type Recorder interface {
	// Record adds one to the unit's impressions or clicks, and moves the unit in the order of all zones where it
	// runs, in one transaction. It does nothing (recorded is false) where the choice has a recording of that kind: of any
	// number of calls for one choice and kind, at the same time or one after another, exactly one records. ErrNotFound: no
	// such unit.
	Record(ctx context.Context, r Recording) (recorded bool, err error)
}

// Keys keeps the server's secret.
type Keys interface {
	// SigningKey stores fresh where no key is stored, and returns the one that is: the same for all callers on all
	// servers for as long as the database lives, whoever was first.
	SigningKey(ctx context.Context, fresh []byte) ([]byte, error)
}
