package app

import (
	"context"
	_ "time/tzdata" // campaigns have time zones; a machine may lack the database of time zones

	"plaza/demo"
	"plaza/storage"
)

// Run serves until ctx ends, and drains. It opens the database with open, and waits for a database
// that does not answer (fault.ErrUnavailable), also while it fills the database for Demo. In the
// meantime the server listens, but is not ready. Run returns the other errors of open, an error if
// the address is in use, and one if Demo rejects the database.
func Run(ctx context.Context, open func(context.Context) (storage.Store, error), c Config) error {
	st, f, err := c.awaitStore(ctx, open)
	if err != nil {
		return unlessEnded(ctx, err)
	}
	defer func() { _ = st.Close() }()
	upgrading, stopUpgrading := context.WithCancel(ctx)
	upgraded := inBackground(upgrading, func(ctx context.Context) { upgradeDocuments(ctx, st) })
	defer func() { stopUpgrading(); <-upgraded }()
	if f == nil {
		if f, err = c.newFront(ctx); err != nil {
			return err
		}
	}
	defer f.Close()
	if c.PublicURL == "" {
		c.PublicURL = "http://" + f.Address()
	}
	var community *demo.Community
	if c.Demo {
		if community, err = c.seedDemo(ctx, st, f); err != nil {
			return unlessEnded(ctx, err)
		}
	}
	s := newServer(st, &c, c.limits(), community)
	_, stop, err := serveMetrics(ctx, c.MetricsAddr, s.Metrics)
	if err != nil {
		return err
	}
	defer stop()
	return s.serve(ctx, f)
}

// unlessEnded returns err, or nil if ctx has ended: then the server was asked to stop, and the
// error is a consequence.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}

// upgradeDocuments upgrades documents of earlier versions while the server runs, if the engine has
// such documents.
func upgradeDocuments(ctx context.Context, st storage.Store) {
	if keeper, ok := st.(interface{ UpgradeDocuments(context.Context) }); ok {
		keeper.UpgradeDocuments(ctx)
	}
}
