package adstore

import (
	"context"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/ads"
	"plaza/storage/mongodb/internal/mdb"
)

// books holds the ledgers and leases that a transaction changes. Each is read once and written
// once.
type books struct {
	store     *Store
	campaigns map[ads.CampaignID]*ads.Campaign
	ledgers   map[ads.CampaignID]ads.Ledger
	leases    map[ads.LeaseID]*ads.Lease

	changed map[ads.CampaignID]bool
	spent   map[ads.LeaseID]bool
}

func (a *Store) openBooks(ctx context.Context, campaigns []ads.CampaignID, leases []ads.LeaseID) (*books, error) {
	b := &books{
		store: a, campaigns: map[ads.CampaignID]*ads.Campaign{}, ledgers: map[ads.CampaignID]ads.Ledger{}, leases: map[ads.LeaseID]*ads.Lease{},
		changed: map[ads.CampaignID]bool{}, spent: map[ads.LeaseID]bool{},
	}
	if err := b.add(ctx, campaigns); err != nil {
		return nil, err
	}
	docs, err := mdb.FindIn[leaseDoc](ctx, a.leases, "_id", leases)
	for i := range docs {
		b.leases[docs[i].ID] = docs[i].lease()
	}
	return b, err
}

// add reads the ledgers of campaigns that have not been read yet.
func (b *books) add(ctx context.Context, campaigns []ads.CampaignID) error {
	campaigns = slices.DeleteFunc(slices.Clone(campaigns), func(c ads.CampaignID) bool { return b.campaigns[c] != nil })
	if len(campaigns) == 0 {
		return nil
	}
	found, err := b.store.readCampaigns(ctx, campaigns)
	if err != nil {
		return err
	}
	ledgers, err := b.store.readLedgers(ctx, campaigns)
	for id, c := range found {
		b.campaigns[id], b.ledgers[id] = c, ledgers[id]
	}
	return err
}

// charge spends what a recording costs. It returns the amount billed, and the day whose budget was
// charged.
func (b *books) charge(campaign ads.CampaignID, r *ads.Recording) (ads.Micros, string) {
	c := b.campaigns[campaign]
	if r.Cost == 0 || c == nil {
		return 0, ""
	}
	ledger, lease := b.ledgers[campaign], b.leases[r.Lease]
	day, billed := c.Charge(&ledger, lease, r)
	if !billed {
		return 0, ""
	}
	if lease != nil {
		b.spent[r.Lease] = true
	}
	b.ledgers[campaign], b.changed[campaign] = ledger, true
	return r.Cost, day
}

// giveBack returns to the ledgers what recordings were billed.
func (b *books) giveBack(ctx context.Context, some []recordingDoc, now time.Time) (amount ads.Micros, err error) {
	if err := b.add(ctx, distinct(some, func(d *recordingDoc) []ads.CampaignID { return []ads.CampaignID{d.Campaign} })); err != nil {
		return 0, err
	}
	for i := range some {
		d := &some[i]
		ledger := b.ledgers[d.Campaign]
		b.campaigns[d.Campaign].Refund(&ledger, d.Billed, d.Day, now)
		b.ledgers[d.Campaign], b.changed[d.Campaign] = ledger, true
		amount += d.Billed
	}
	return amount, nil
}

// close writes what has changed.
func (b *books) close(ctx context.Context) error {
	for campaign := range b.changed {
		if err := b.store.putLedger(ctx, campaign, b.ledgers[campaign]); err != nil {
			return err
		}
	}
	if len(b.spent) == 0 {
		return nil
	}
	var updates []mongo.WriteModel
	for lease := range b.spent {
		updates = append(updates, mongo.NewUpdateOneModel().SetFilter(mdb.Doc("_id", lease)).SetUpdate(mdb.Doc("$set", mdb.Doc("spent", b.leases[lease].Spent))))
	}
	_, err := b.store.leases.BulkWrite(ctx, updates, options.BulkWrite().SetOrdered(false))
	return err
}
