package adstore

import (
	"context"
	"time"

	"plaza/ads"
	"plaza/storage/sqlite/internal/sqldb"
)

var (
	insertRecording = sqldb.Define(`INSERT INTO ad_recordings (choice, kind, unit, campaign, zone, at, keep_until, keywords, profile, address,
		due, cost, lease, viewer, staff, shown_by, days) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`)
	waitingRecordings = sqldb.Define(`SELECT kind, choice, campaign FROM ad_recordings WHERE due <= ? ORDER BY due LIMIT ?`)
	// Each recording also removes two old ones, so that they never pile up.
	forgetRecordings = sqldb.Define(`DELETE FROM ad_recordings WHERE (choice, kind) IN
		(SELECT choice, kind FROM ad_recordings WHERE keep_until < ? ORDER BY keep_until LIMIT 2)`)
)

const (
	noLongerWaiting = `due = NULL, cost = NULL, lease = NULL, viewer = NULL, staff = NULL, shown_by = NULL, days = NULL`
	// clickBefore selects the clicks that count for the rate of a click: earlier ones, and counted
	// ones of the same moment.
	clickBefore = `kind = 'CLICK' AND at > ?2 AND at <= ?3 AND (at < ?3 OR due IS NULL) AND choice <> ?4`
)

// Record implements ads.Recorder.
func (s *Store) Record(ctx context.Context, r ads.Recording) (recorded bool, err error) {
	err = s.db.Update(ctx, func(tx *sqldb.Tx) error {
		recorded, err = record(tx, &r)
		return err
	})
	return recorded && err == nil, err
}

func record(tx *sqldb.Tx, r *ads.Recording) (bool, error) {
	if _, err := tx.Exec(forgetRecordings, sqldb.Moment(r.At)); err != nil {
		return false, err
	}
	var profile, address, viewer any
	if r.Kind == ads.Impression {
		viewer = sqldb.OrNull(r.Profile.ID)
	} else {
		profile, address = sqldb.OrNull(r.Profile.ID), sqldb.OrNull(r.Address.ID)
	}
	rows, err := tx.Exec(insertRecording, r.Choice.Bytes(), string(r.Kind), r.Unit.Bytes(), r.Campaign.Bytes(), r.Zone.String(),
		sqldb.Moment(r.At), sqldb.Moment(r.KeepUntil), asJSON(append([]string{}, r.Keywords...)), profile, address,
		sqldb.Moment(r.At), int64(r.Cost), sqldb.OrNull(r.Lease.ID), viewer, r.Staff, sqldb.Moment(r.WaitUntil), r.Days)
	return rows == 1, err
}

// Waiting implements ads.Recorder.
func (s *Store) Waiting(ctx context.Context, due time.Time) ([]ads.Waiting, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) ([]ads.Waiting, error) {
		return sqldb.All(tx, waitingRecordings, func(scan sqldb.Scan) (each ads.Waiting, err error) {
			err = scan(&each.Kind, sqldb.Into(&each.Choice.ID), sqldb.Into(&each.Campaign.ID))
			return each, err
		}, sqldb.Moment(due), ads.MaxCounted)
	})
}
