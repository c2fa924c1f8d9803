package adstore

import (
	"encoding/json"
	"time"

	"plaza/ads"
	"plaza/id"
	"plaza/storage/sqlite/internal/sqldb"
)

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
	Start    int64        `json:"start,omitempty"` // see sqldb.Moment
	End      int64        `json:"end,omitempty"`
	TimeZone string       `json:"timeZone,omitempty"`
	Weekdays ads.Weekdays `json:"weekdays,omitempty"`
	FromHour int          `json:"fromHour,omitempty"`
	ToHour   int          `json:"toHour,omitempty"`
}

func scheduleText(s ads.Schedule) string {
	return asJSON(scheduleRow{sqldb.Moment(s.Start), sqldb.Moment(s.End), s.TimeZone, s.Weekdays, s.FromHour, s.ToHour})
}

func readSchedule(text string, to *ads.Schedule) error {
	var row scheduleRow
	err := fromJSON(text, &row)
	*to = ads.Schedule{
		Start: sqldb.MomentOf(row.Start), End: sqldb.MomentOf(row.End), TimeZone: row.TimeZone,
		Weekdays: row.Weekdays, FromHour: row.FromHour, ToHour: row.ToHour,
	}
	return err
}

func readKeywords(text string, to *[]string) error {
	err := fromJSON(text, to)
	if len(*to) == 0 {
		*to = nil
	}
	return err
}

// keywordWeightRow is a keyword's weight in the JSON of a column.
type keywordWeightRow struct {
	Keyword string `json:"keyword"`
	Weight  int    `json:"weight"`
}

func keywordWeightRows(weights []ads.KeywordWeight) string {
	rows := make([]keywordWeightRow, len(weights))
	for i, w := range weights {
		rows[i] = keywordWeightRow(w)
	}
	return asJSON(rows)
}

func readKeywordWeights(text string, to *[]ads.KeywordWeight) error {
	*to = nil
	if text == "[]" { // nearly always
		return nil
	}
	var rows []keywordWeightRow
	err := fromJSON(text, &rows)
	for _, row := range rows {
		*to = append(*to, ads.KeywordWeight(row))
	}
	return err
}

// createdColumn is NULL if the id says when it was created. A replacement then keeps what is stored.
func createdColumn(at time.Time, of id.ID) any {
	if own := ads.OwnCreation(at, of); !own.IsZero() {
		return sqldb.Moment(own)
	}
	return nil
}
