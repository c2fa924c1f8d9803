package moderation

import (
	"maps"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/social"
	"plaza/storage/mongodb/internal/audience"
	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/mdb"
)

// caseDoc is a document of cases.
type caseDoc struct {
	ID      social.CaseID      `bson:"_id"` // of the subject
	Version int                `bson:"v"`
	Kind    social.SubjectKind `bson:"kind"`
	Author  social.UserID      `bson:"author"`
	State   social.CaseState   `bson:"state"`
	Opened  social.CaseID      `bson:"opened"` // social.Case.Order
	Reasons reasonCounts       `bson:"reasons"`
	FirstAt time.Time          `bson:"firstAt"`
	LastAt  time.Time          `bson:"lastAt"`

	Decisions int                `bson:"decisions"`
	Held      *audience.Document `bson:"held,omitempty"` // absent: the subject is not hidden
}

func (d *caseDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.ID(v, &d.ID.ID)
	case "v":
		r.Int(v, &d.Version)
	case "kind":
		mdb.ReadText(r, v, &d.Kind)
	case "author":
		r.ID(v, &d.Author.ID)
	case "state":
		mdb.ReadText(r, v, &d.State)
	case "opened":
		r.ID(v, &d.Opened.ID)
	case "reasons":
		d.Reasons = reasonCounts{}
		r.Inner(v, d.Reasons)
	case "firstAt":
		r.Time(v, &d.FirstAt)
	case "lastAt":
		r.Time(v, &d.LastAt)
	case "decisions":
		r.Int(v, &d.Decisions)
	case "held":
		d.Held = &audience.Document{}
		r.Inner(v, d.Held)
	}
}

func (d *caseDoc) Evolve() error { return readable.Known(casesName, d.Version) }

type reasonCounts map[social.ReportReason]int

func (c reasonCounts) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	var n int
	r.Int(v, &n)
	c[social.ReportReason(field)] = n
}

// newCaseDoc is the case that a report opens.
func newCaseDoc(r *social.Report, opened social.CaseID, version int) caseDoc {
	return caseDoc{
		ID: r.Subject.Case(), Version: version, Kind: r.Subject.Kind(), Author: r.Author, State: social.CaseOpen, Opened: opened,
		Reasons: reasonCounts{r.Reason: 1}, FirstAt: r.At, LastAt: r.At,
	}
}

func (d *caseDoc) toCase() *social.Case {
	return &social.Case{
		ID: d.ID, Subject: social.SubjectOf(d.Kind, d.ID.ID), Author: d.Author, State: d.State, Order: d.Opened,
		Held: (*social.Audience)(d.Held), Decisions: d.Decisions,
		Reasons: maps.Clone(d.Reasons), FirstAt: mdb.UTC(d.FirstAt), LastAt: mdb.UTC(d.LastAt),
	}
}

// reportDoc is a document of reports. A user has one for each subject.
type reportDoc struct {
	ID       bson.Binary         `bson:"_id"` // case and reporter
	Version  int                 `bson:"v"`
	Case     social.CaseID       `bson:"case"`
	Kind     social.SubjectKind  `bson:"kind"`
	Author   social.UserID       `bson:"author"`
	Reporter social.UserID       `bson:"reporter"`
	Opened   social.CaseID       `bson:"opened"` // the case's, when the report was made
	Reason   social.ReportReason `bson:"reason"`
	Text     string              `bson:"text,omitempty"`
	At       time.Time           `bson:"at"`
}

func (d *reportDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.Binary(v, &d.ID)
	case "v":
		r.Int(v, &d.Version)
	case "case":
		r.ID(v, &d.Case.ID)
	case "kind":
		mdb.ReadText(r, v, &d.Kind)
	case "author":
		r.ID(v, &d.Author.ID)
	case "reporter":
		r.ID(v, &d.Reporter.ID)
	case "opened":
		r.ID(v, &d.Opened.ID)
	case "reason":
		mdb.ReadText(r, v, &d.Reason)
	case "text":
		r.Text(v, &d.Text)
	case "at":
		r.Time(v, &d.At)
	}
}

func (d *reportDoc) Evolve() error { return cluster.Versions{}.Known(reportsName, d.Version) }

func reportKey(r *social.Report) bson.Binary {
	return mdb.PairKey(r.Subject.Case().ID, r.Reporter.ID)
}

func newReportDoc(r *social.Report, opened social.CaseID) reportDoc {
	return reportDoc{
		ID: reportKey(r), Version: mdb.FirstVersion, Case: r.Subject.Case(), Kind: r.Subject.Kind(), Author: r.Author, Reporter: r.Reporter,
		Opened: opened, Reason: r.Reason, Text: r.Text, At: r.At,
	}
}

func (d *reportDoc) report() social.Report {
	return social.Report{
		Subject: social.SubjectOf(d.Kind, d.Case.ID), Author: d.Author, Reporter: d.Reporter, Reason: d.Reason, Text: d.Text, At: mdb.UTC(d.At),
	}
}
