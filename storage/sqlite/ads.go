package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/ncruces/go-sqlite3"

	"plaza/ads"
)

// adStore is the file as an ads.Store.
type adStore struct{ file *Store }

// Ads is the file as the ad domain sees it. It lives as long as the Store does.
func (s *Store) Ads() ads.Store { return adStore{s} }

// Save implements ads.Catalogue.
func (s adStore) Save(ctx context.Context, b ads.Batch) (saved int, err error) {
	err = s.file.update(ctx, func(w *work) error {
		saved, err = w.saveAds(&b)
		return err
	})
	if err != nil {
		return 0, err
	}
	return saved, nil
}

func (w *work) saveAds(b *ads.Batch) (saved int, err error) {
	for _, save := range []func() (int, error){
		func() (int, error) { return saveEach(b.Advertisers, w.saveAdvertiser) },
		func() (int, error) { return saveEach(b.Campaigns, w.saveCampaign) },
		func() (int, error) { return saveEach(b.Zones, w.saveAdZone) },
		func() (int, error) { return saveEach(b.Units, w.saveAdUnit) },
	} {
		n, err := save()
		if err != nil {
			return 0, err
		}
		saved += n
	}
	return saved, nil
}

func saveEach[T any](entries []T, save func(*T) (bool, error)) (saved int, err error) {
	for i := range entries {
		stored, err := save(&entries[i])
		if err != nil {
			return 0, err
		}
		if stored {
			saved++
		}
	}
	return saved, nil
}

// insertAd stores a row unless its key exists. A foreign key that points to nothing is
// ads.ErrNotFound.
func (w *work) insertAd(st *statement, args ...any) (added bool, err error) {
	rows, err := w.exec(st, args...)
	if errors.Is(err, sqlite3.CONSTRAINT_FOREIGNKEY) {
		err = ads.ErrNotFound
	}
	return rows == 1, err
}

// replaceAd changes a row if it has the given revision.
func (w *work) replaceAd(st *statement, args ...any) (bool, error) {
	rows, err := w.exec(st, args...)
	return rows == 1, changed(rows, err, ads.ErrConflict)
}

// adSpan is a page as SQL sees it, between two bounds of the list's kind.
func adSpan[K any](p ads.Page, key func(string) K, top K) (low, high K, sp span) {
	low, high = key(string(p.After)), top
	if p.Before != "" {
		high = key(string(p.Before))
	}
	return low, high, span{descending: p.Last, reverse: p.Last, limit: p.Limit}
}

func rawKey(key string) []byte { return []byte(key) }

func textKey(key string) string { return key }

// listAds reads a page of the entries that belong to of, or of all entries if of is nil.
func listAds[T any](ctx context.Context, s *Store, st directed, p ads.Page, scan func(scan) (T, error), of ...any) ([]T, error) {
	low, high, sp := adSpan(p, rawKey, topKey)
	return read(ctx, s, func(w *work) ([]T, error) {
		items, err := all(w, st.along(sp), scan, append([]any{low, high, sp.limit}, of...)...)
		return inListOrder(sp, items), err
	})
}

// asJSON encodes a list or a schedule for a column. Its types can always be encoded.
func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// fromJSON decodes a column that asJSON wrote. The target must be empty.
func fromJSON(text string, to any) error {
	if text == "[]" || text == "{}" { // as most are; choosing an ad reads many of them
		return nil
	}
	return json.Unmarshal([]byte(text), to)
}

// capRow is a cap in the JSON of a column.
type capRow struct {
	Count int        `json:"count"`
	Per   ads.Window `json:"per"`
}

func capRows(caps []ads.Cap) string {
	rows := make([]capRow, len(caps))
	for i, c := range caps {
		rows[i] = capRow(c)
	}
	return asJSON(rows)
}

func readCaps(text string, to *[]ads.Cap) error {
	var rows []capRow
	err := fromJSON(text, &rows)
	*to = nil
	for _, row := range rows {
		*to = append(*to, ads.Cap(row))
	}
	return err
}

// scheduleRow is a schedule in the JSON of a column.
type scheduleRow struct {
	Start    int64        `json:"start,omitempty"` // as moment has them
	End      int64        `json:"end,omitempty"`
	TimeZone string       `json:"timeZone,omitempty"`
	Weekdays ads.Weekdays `json:"weekdays,omitempty"`
	FromHour int          `json:"fromHour,omitempty"`
	ToHour   int          `json:"toHour,omitempty"`
}

func scheduleText(s ads.Schedule) string {
	return asJSON(scheduleRow{moment(s.Start), moment(s.End), s.TimeZone, s.Weekdays, s.FromHour, s.ToHour})
}

func readSchedule(text string, to *ads.Schedule) error {
	var row scheduleRow
	err := fromJSON(text, &row)
	*to = ads.Schedule{
		Start: momentOf(row.Start), End: momentOf(row.End), TimeZone: row.TimeZone,
		Weekdays: row.Weekdays, FromHour: row.FromHour, ToHour: row.ToHour,
	}
	return err
}

// scanTime reads a moment.
type scanTime struct{ to *time.Time }

// Scan implements sql.Scanner.
func (s scanTime) Scan(value any) error {
	stored, _ := value.(int64)
	*s.to = momentOf(stored)
	return nil
}
