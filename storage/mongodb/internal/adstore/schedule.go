package adstore

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/ads"
	"plaza/storage/mongodb/internal/mdb"
)

type scheduleDoc struct {
	Start    time.Time `bson:"start,omitempty"`
	End      time.Time `bson:"end,omitempty"`
	TimeZone string    `bson:"timeZone,omitempty"`
	Weekdays int       `bson:"weekdays,omitempty"` // one bit each, Sunday first
	FromHour int       `bson:"fromHour,omitempty"`
	ToHour   int       `bson:"toHour,omitempty"`
}

func newScheduleDoc(s ads.Schedule) scheduleDoc {
	return scheduleDoc{s.Start, s.End, s.TimeZone, int(s.Weekdays), s.FromHour, s.ToHour}
}

func (d *scheduleDoc) schedule() ads.Schedule {
	return ads.Schedule{
		Start: mdb.UTC(d.Start), End: mdb.UTC(d.End), TimeZone: d.TimeZone, Weekdays: ads.Weekdays(d.Weekdays), FromHour: d.FromHour, ToHour: d.ToHour,
	}
}

func (d *scheduleDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "start":
		r.Time(v, &d.Start)
	case "end":
		r.Time(v, &d.End)
	case "timeZone":
		r.Text(v, &d.TimeZone)
	case "weekdays":
		r.Int(v, &d.Weekdays)
	case "fromHour":
		r.Int(v, &d.FromHour)
	case "toHour":
		r.Int(v, &d.ToHour)
	}
}
