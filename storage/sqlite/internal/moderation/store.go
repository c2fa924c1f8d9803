package moderation

import (
	"context"
	"encoding/json"
	"time"

	"plaza/id"
	"plaza/social"
	"plaza/storage/sqlite/internal/eventlog"
	"plaza/storage/sqlite/internal/sqldb"
)

const caseColumns = `id, kind, author, state, sort, reasons, first_at, last_at, decisions, held_audience, held_circles`

var (
	casesByID = sqldb.Define(`SELECT ` + caseColumns + ` FROM cases WHERE id IN (SELECT unhex(value) FROM json_each(?))`)
	caseByID  = sqldb.Define(`SELECT ` + caseColumns + ` FROM cases WHERE id = ?`)
	casesIn   = sqldb.DefineDirected(`SELECT ` + caseColumns + ` FROM cases INDEXED BY cases_by_state
		WHERE state = ? AND sort > ? AND sort < ? ORDER BY sort $order LIMIT ?`)
	saveCase = sqldb.Define(`INSERT INTO cases (` + caseColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET
		state = excluded.state, sort = excluded.sort, reasons = excluded.reasons, first_at = excluded.first_at, last_at = excluded.last_at,
		decisions = excluded.decisions, held_audience = excluded.held_audience, held_circles = excluded.held_circles`)

	isReported = sqldb.Define(`SELECT 1 FROM reports WHERE case_id = ? AND reporter = ? AND sort = ?`)
	saveReport = sqldb.Define(`INSERT INTO reports (case_id, reporter, sort, reason, text, at) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (case_id, reporter) DO UPDATE SET sort = excluded.sort, reason = excluded.reason, text = excluded.text, at = excluded.at`)
	countReports = sqldb.Define(`SELECT count(*) FROM reports INDEXED BY reports_by_reporter WHERE reporter = ? AND at >= ? AND case_id <> ?`)
	reportsBy    = sqldb.Define(`SELECT reports.case_id, cases.kind, cases.author, reports.reason, reports.text, reports.at
		FROM reports INDEXED BY reports_by_reporter JOIN cases ON cases.id = reports.case_id
		WHERE reports.reporter = ? AND (reports.at, reports.case_id) > (?, ?) ORDER BY reports.at, reports.case_id LIMIT ?`)
	newestReports = sqldb.Define(`SELECT reporter, reason, text, at FROM reports INDEXED BY reports_by_opening
		WHERE sort = ? ORDER BY at DESC LIMIT ?`)

	someReportsBy = sqldb.Define(`DELETE FROM reports WHERE (case_id, reporter) IN (
		SELECT case_id, reporter FROM reports INDEXED BY reports_by_reporter WHERE reporter = ? LIMIT ?)`)
	someCasesOf = sqldb.Define(`DELETE FROM cases WHERE id IN (SELECT id FROM cases INDEXED BY cases_by_author WHERE author = ? LIMIT ?)`)
)

// Store implements social.Cases and social.Decisions on a file.
type Store struct {
	db  *sqldb.DB
	log *eventlog.Log
	Config
}

// Config is what a Store needs of the rest of the file.
type Config struct {
	NextID   NextID
	Refused  Refused
	CarryOut CarryOut
}

// NextID returns an id that sorts after all earlier ones, if none is given.
type NextID func(tx *eventlog.Tx, given id.ID) (id.ID, error)

// Refused returns the refusal if a user has deleted their account.
type Refused func(tx sqldb.Reader, user social.UserID, refusal error) error

var (
	_ social.Cases     = (*Store)(nil)
	_ social.Decisions = (*Store)(nil)
)

// New returns the store for the cases in a file.
func New(db *sqldb.DB, log *eventlog.Log, c Config) *Store {
	return &Store{db: db, log: log, Config: c}
}

// Report implements social.Cases.
func (s *Store) Report(ctx context.Context, r social.Report, maximum int) (reported bool, err error) {
	err = s.log.Update(ctx, func(tx *eventlog.Tx) error {
		if err := s.Refused(tx, r.Reporter, social.ErrAccountGone); err != nil {
			return err
		}
		if err := s.Refused(tx, r.Author, social.ErrNotFound); err != nil {
			return err
		}
		c, did, err := s.counted(tx, &r)
		if reported = did; err != nil || !did {
			return err
		}
		if err := sqldb.MustHaveRoom(tx, maximum, countReports, r.Reporter.Bytes(), sqldb.Moment(r.At.Add(-24*time.Hour)), c.ID.Bytes()); err != nil {
			return err
		}
		if err := save(tx, c); err != nil {
			return err
		}
		_, err = tx.Exec(saveReport, c.ID.Bytes(), r.Reporter.Bytes(), c.Order.Bytes(), string(r.Reason), r.Text, sqldb.Moment(r.At))
		return err
	})
	return reported && err == nil, err
}

// counted is the case of a report with that report, opened if it must be. False: the reporter is
// counted already.
func (s *Store) counted(tx *eventlog.Tx, r *social.Report) (*social.Case, bool, error) {
	found, err := sqldb.All(tx, caseByID, scanCase, r.Subject.Case().Bytes())
	if err != nil {
		return nil, false, err
	}
	if len(found) == 0 {
		found = []*social.Case{{ID: r.Subject.Case(), Subject: r.Subject, Author: r.Author, State: social.CaseDecided}}
	}
	c := found[0]
	if c.State == social.CaseDecided {
		opened, err := s.NextID(tx, id.ID{})
		c.State, c.Order = social.CaseOpen, social.CaseID{ID: opened}
		c.Reasons, c.FirstAt, c.LastAt = map[social.ReportReason]int{r.Reason: 1}, r.At, r.At
		return c, true, err
	}
	before, err := tx.Exists(isReported, c.ID.Bytes(), r.Reporter.Bytes(), c.Order.Bytes())
	if err != nil || before {
		return nil, false, err
	}
	c.Reasons[r.Reason]++
	if r.At.After(c.LastAt) {
		c.LastAt = r.At
	}
	return c, true, nil
}

func save(tx *eventlog.Tx, c *social.Case) error {
	reasons, err := json.Marshal(c.Reasons)
	if err != nil {
		return err
	}
	kind, circles := heldColumns(c)
	_, err = tx.Exec(saveCase, c.ID.Bytes(), string(c.Subject.Kind()), c.Author.Bytes(), string(c.State), c.Order.Bytes(), string(reasons),
		sqldb.Moment(c.FirstAt), sqldb.Moment(c.LastAt), c.Decisions, kind, circles)
	return err
}

// ReportsBy implements social.Cases.
func (s *Store) ReportsBy(ctx context.Context, reporter social.UserID, after social.ReportPosition, limit int) ([]social.Report, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) ([]social.Report, error) {
		return sqldb.All(tx, reportsBy, func(scan sqldb.Scan) (social.Report, error) {
			r := social.Report{Reporter: reporter}
			var of id.ID
			var kind social.SubjectKind
			err := scan(sqldb.Into(&of), &kind, sqldb.Into(&r.Author.ID), &r.Reason, &r.Text, sqldb.IntoTime(&r.At))
			r.Subject = social.SubjectOf(kind, of)
			return r, err
		}, reporter.Bytes(), sqldb.Moment(after.At), after.Case.Bytes(), limit)
	})
}

// Cases implements social.Cases.
func (s *Store) Cases(ctx context.Context, ids []social.CaseID) (map[social.CaseID]*social.Case, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) (map[social.CaseID]*social.Case, error) {
		return sqldb.ByKey(tx, casesByID, func(scan sqldb.Scan) (social.CaseID, *social.Case, error) {
			c, err := scanCase(scan)
			return c.ID, c, err
		}, sqldb.HexList(ids))
	})
}

// CasesIn implements social.Cases.
func (s *Store) CasesIn(ctx context.Context, state social.CaseState, p social.Page) ([]*social.Case, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) ([]*social.Case, error) {
		sp := sqldb.Ascending(p)
		found, err := sqldb.All(tx, casesIn.Along(sp), scanCase, string(state), sp.Low, sp.High, sp.Limit)
		return sqldb.InListOrder(sp, found), err
	})
}

func scanCase(scan sqldb.Scan) (*social.Case, error) {
	c := &social.Case{}
	var kind social.SubjectKind
	var reasons string
	var held *string
	var circles []byte
	err := scan(sqldb.Into(&c.ID.ID), &kind, sqldb.Into(&c.Author.ID), &c.State, sqldb.Into(&c.Order.ID), &reasons,
		sqldb.IntoTime(&c.FirstAt), sqldb.IntoTime(&c.LastAt), &c.Decisions, &held, &circles)
	if err != nil {
		return c, err
	}
	if c.Held, err = heldOf(held, circles); err != nil {
		return c, err
	}
	c.Subject = social.SubjectOf(kind, c.ID.ID)
	return c, json.Unmarshal([]byte(reasons), &c.Reasons)
}

// NewestReports implements social.Cases.
func (s *Store) NewestReports(ctx context.Context, cases []*social.Case, n int) (map[social.CaseID][]social.Report, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) (map[social.CaseID][]social.Report, error) {
		found := make(map[social.CaseID][]social.Report, len(cases))
		for _, c := range cases {
			reports, err := sqldb.All(tx, newestReports, func(scan sqldb.Scan) (social.Report, error) {
				r := social.Report{Subject: c.Subject, Author: c.Author}
				err := scan(sqldb.Into(&r.Reporter.ID), &r.Reason, &r.Text, sqldb.IntoTime(&r.At))
				return r, err
			}, c.Order.Bytes(), n)
			if err != nil {
				return nil, err
			}
			found[c.ID] = reports
		}
		return found, nil
	})
}

// Forget removes some of the reports by a deleted user, and some of the cases about the user with
// their reports. It says whether there may be more.
func Forget(tx *eventlog.Tx, user social.UserID) (left bool, err error) {
	return sqldb.DeleteSome(tx.Tx, user, someReportsBy, someCasesOf)
}
