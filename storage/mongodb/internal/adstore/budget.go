package adstore

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"plaza/ads"
	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// ledgerDoc is a document of adLedgers.
type ledgerDoc struct {
	Campaign ads.CampaignID `bson:"_id"`
	Version  int            `bson:"v"`
	Taken    ads.Micros     `bson:"taken"`
	Spent    ads.Micros     `bson:"spent"`
	Day      string         `bson:"day"`
	DayTaken ads.Micros     `bson:"dayTaken"`
	DaySpent ads.Micros     `bson:"daySpent"`
	Expected ads.Micros     `bson:"expected,omitempty"` // of clicks
	Faded    int64          `bson:"faded,omitempty"`    // the minute for which Expected holds
	// Since version 2: the same for conversions, with the hour.
	Awaited     ads.Micros `bson:"awaited,omitempty"`
	AwaitedHour int64      `bson:"awaitedHour,omitempty"`
}

// leaseDoc is a document of adLeases.
type leaseDoc struct {
	ID       ads.LeaseID    `bson:"_id"`
	Version  int            `bson:"v"`
	Campaign ads.CampaignID `bson:"campaign"`
	Amount   ads.Micros     `bson:"amount"`
	Spent    ads.Micros     `bson:"spent"`
	Day      string         `bson:"day"`
	SettleAt time.Time      `bson:"settleAt"`
}

func (d *ledgerDoc) ledger() ads.Ledger {
	return ads.Ledger{
		Taken: d.Taken, Spent: d.Spent, Day: d.Day, DayTaken: d.DayTaken, DaySpent: d.DaySpent, Expected: d.Expected, Faded: d.Faded,
		Awaited: d.Awaited, AwaitedHour: d.AwaitedHour,
	}
}

// lease returns the part that charging and settling need.
func (d *leaseDoc) lease() *ads.Lease {
	return &ads.Lease{ID: d.ID, Campaign: d.Campaign, Amount: d.Amount, Spent: d.Spent, Day: d.Day}
}

// Lease implements ads.Budgets.
func (a *Store) Lease(ctx context.Context, r ads.LeaseRequest) (lease *ads.Lease, err error) {
	err = a.calls.Write(ctx, "lease budget", []id.ID{r.Campaign.ID}, func(ctx context.Context) error {
		lease = nil
		if err := a.returnLease(ctx, r.Return); err != nil {
			return err
		}
		var c campaignDoc
		err := mdb.OrNotFound(a.campaigns.FindOne(ctx, mdb.Doc("_id", r.Campaign)).Decode(&c))
		if errors.Is(err, social.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		lease, err = a.grant(ctx, c.campaign(), r)
		return err
	})
	if err != nil {
		return nil, err
	}
	return lease, nil
}

func (a *Store) grant(ctx context.Context, c *ads.Campaign, r ads.LeaseRequest) (*ads.Lease, error) {
	ledgers, err := a.readLedgers(ctx, []ads.CampaignID{c.ID})
	if err != nil {
		return nil, err
	}
	ledger := ledgers[c.ID]
	lease := c.Grant(&ledger, r)
	if lease == nil {
		return nil, nil
	}
	if err := a.putLedger(ctx, c.ID, ledger); err != nil {
		return nil, err
	}
	_, err = a.leases.InsertOne(ctx, leaseDoc{
		ID: lease.ID, Version: mdb.FirstVersion, Campaign: c.ID, Amount: lease.Amount, Spent: lease.Spent, Day: lease.Day, SettleAt: lease.SettleAt,
	})
	return lease, err
}

// Return implements ads.Budgets.
func (a *Store) Return(ctx context.Context, r ads.Return) error {
	return a.calls.Write(ctx, "return budget", []id.ID{r.Lease.Campaign.ID}, func(ctx context.Context) error {
		return a.returnLease(ctx, r)
	})
}

func (a *Store) returnLease(ctx context.Context, r ads.Return) error {
	if r.Lease.ID.IsZero() {
		return nil
	}
	leases, err := mdb.FindIn[leaseDoc](ctx, a.leases, "_id", []ads.LeaseID{r.Lease.ID})
	if err != nil || len(leases) == 0 {
		return err
	}
	lease := leases[0].lease()
	ledgers, err := a.readLedgers(ctx, []ads.CampaignID{lease.Campaign})
	if err != nil {
		return err
	}
	ledger := ledgers[lease.Campaign]
	ledger.GiveBack(lease, r.Used)
	if _, err := a.leases.UpdateOne(ctx, mdb.Doc("_id", lease.ID), mdb.Doc("$set", mdb.Doc("amount", lease.Amount))); err != nil {
		return err
	}
	return a.putLedger(ctx, lease.Campaign, ledger)
}

// Expect implements ads.Budgets.
func (a *Store) Expect(ctx context.Context, e ads.Expectation) (amount ads.Micros, err error) {
	err = a.calls.Write(ctx, "expect clicks", []id.ID{e.Campaign.ID}, func(ctx context.Context) error {
		amount, err = a.expect(ctx, e)
		return err
	})
	if err != nil {
		return 0, err
	}
	return amount, nil
}

func (a *Store) expect(ctx context.Context, e ads.Expectation) (ads.Micros, error) {
	campaigns, err := mdb.FindIn[campaignDoc](ctx, a.campaigns, "_id", []ads.CampaignID{e.Campaign})
	if err != nil || len(campaigns) == 0 {
		return 0, err
	}
	ledgers, err := a.readLedgers(ctx, []ads.CampaignID{e.Campaign})
	if err != nil {
		return 0, err
	}
	ledger := ledgers[e.Campaign]
	amount := campaigns[0].campaign().Expect(&ledger, e)
	return amount, a.putLedger(ctx, e.Campaign, ledger)
}

func (a *Store) putLedger(ctx context.Context, campaign ads.CampaignID, l ads.Ledger) error {
	_, err := a.ledgers.ReplaceOne(ctx, mdb.Doc("_id", campaign), ledgerDoc{
		Campaign: campaign, Version: a.writes("adLedgers"), Taken: l.Taken, Spent: l.Spent, Day: l.Day, DayTaken: l.DayTaken, DaySpent: l.DaySpent,
		Expected: l.Expected, Faded: l.Faded, Awaited: l.Awaited, AwaitedHour: l.AwaitedHour,
	}, options.Replace().SetUpsert(true))
	return mdb.OrRetry(err)
}

func (a *Store) readLedgers(ctx context.Context, ids []ads.CampaignID) (map[ads.CampaignID]ads.Ledger, error) {
	docs, err := mdb.FindIn[ledgerDoc](ctx, a.ledgers, "_id", ids)
	all := make(map[ads.CampaignID]ads.Ledger, len(docs))
	for _, d := range docs {
		all[d.Campaign] = d.ledger()
	}
	return all, err
}

// Ledgers implements ads.Budgets.
func (a *Store) Ledgers(ctx context.Context, ids []ads.CampaignID) (all map[ads.CampaignID]ads.Ledger, err error) {
	err = a.calls.Read(ctx, "ledgers", func(ctx context.Context) error {
		all, err = a.readLedgers(ctx, ids)
		return err
	})
	return all, err
}

// hotSettling is the id under which concurrent calls of Settle wait for each other.
var hotSettling = id.Derive(time.Time{}, "settling")

// Settle implements ads.Budgets.
func (a *Store) Settle(ctx context.Context, now time.Time) (settled int, err error) {
	err = a.calls.Write(ctx, "settle leases", []id.ID{hotSettling}, func(ctx context.Context) error {
		due, err := mdb.FindAll[leaseDoc](ctx, a.leases, mdb.Doc("settleAt", mdb.Doc("$lte", now)), ads.MaxSettled,
			options.Find().SetSort(mdb.Doc("settleAt", 1)).SetLimit(ads.MaxSettled))
		settled = len(due)
		if err != nil || settled == 0 {
			return err
		}
		return a.settle(ctx, due)
	})
	if err != nil {
		return 0, err
	}
	return settled, nil
}

func (a *Store) settle(ctx context.Context, due []leaseDoc) error {
	ledgers, err := a.readLedgers(ctx, distinct(due, func(d *leaseDoc) []ads.CampaignID { return []ads.CampaignID{d.Campaign} }))
	if err != nil {
		return err
	}
	for i := range due {
		ledger := ledgers[due[i].Campaign]
		ledger.Settle(due[i].lease())
		ledgers[due[i].Campaign] = ledger
	}
	for campaign, ledger := range ledgers {
		if err := a.putLedger(ctx, campaign, ledger); err != nil {
			return err
		}
	}
	ids := mdb.Map(due, func(d *leaseDoc) ads.LeaseID { return d.ID })
	_, err = a.leases.DeleteMany(ctx, mdb.Doc("_id", mdb.Doc("$in", ids)))
	return err
}
