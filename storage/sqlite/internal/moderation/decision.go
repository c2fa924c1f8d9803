package moderation

import (
	"context"

	"plaza/id"
	"plaza/social"
	"plaza/storage/sqlite/internal/eventlog"
	"plaza/storage/sqlite/internal/sqldb"
)

const decisionColumns = `id, subject, kind, author, moderator, action, reason, at, until`

var (
	insertDecision = sqldb.Define(`INSERT INTO decisions (` + decisionColumns + `, told) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	allDecisions   = sqldb.DefineDirected(`SELECT ` + decisionColumns + ` FROM decisions
		WHERE id > ? AND id < ? ORDER BY id $order LIMIT ?`)
	decisionsForAuthor = sqldb.DefineDirected(`SELECT ` + decisionColumns + ` FROM decisions INDEXED BY decisions_told
		WHERE author = ? AND told = 1 AND id > ? AND id < ? ORDER BY id $order LIMIT ?`)
)

// CarryOut changes the subject of a ruling, in the transaction that stores the ruling.
type CarryOut func(tx *eventlog.Tx, r *social.Ruling, e social.Event) error

// Decide implements social.Decisions.
func (s *Store) Decide(ctx context.Context, r social.Ruling, e social.Event) error {
	return s.log.Update(ctx, func(tx *eventlog.Tx) error {
		if err := saveRuled(tx, r.Case); err != nil {
			return err
		}
		next, err := s.NextID(tx, id.ID{})
		if err != nil {
			return err
		}
		_, err = tx.Exec(insertDecision, next.Bytes(), r.Subject.Case().Bytes(), string(r.Subject.Kind()), r.Author.Bytes(), r.Moderator.Bytes(), string(r.Action),
			r.Reason, sqldb.Moment(r.At), sqldb.Moment(r.Until), r.ReachesAuthor())
		if err != nil {
			return err
		}
		return s.CarryOut(tx, &r, e)
	})
}

// saveRuled stores a case (nil: there is none) as it is after a ruling. ErrConflict: it was changed
// since it was read.
func saveRuled(tx *eventlog.Tx, ruled *social.Case) error {
	if ruled == nil {
		return nil
	}
	found, err := sqldb.All(tx, caseByID, scanCase, ruled.ID.Bytes())
	if err != nil {
		return err
	}
	if len(found) == 0 || found[0].Order != ruled.Order || found[0].Decisions != ruled.Decisions-1 {
		return social.ErrConflict
	}
	c := found[0] // with the reports that have come since
	c.State, c.Held, c.Decisions = ruled.State, ruled.Held, ruled.Decisions
	return save(tx, c)
}

// Decisions implements social.Decisions.
func (s *Store) Decisions(ctx context.Context, p social.Page) ([]*social.Decision, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) ([]*social.Decision, error) {
		sp := sqldb.Descending(p)
		found, err := sqldb.All(tx, allDecisions.Along(sp), scanDecision, sp.Low, sp.High, sp.Limit)
		return sqldb.InListOrder(sp, found), err
	})
}

// DecisionsForAuthor implements social.Decisions.
func (s *Store) DecisionsForAuthor(ctx context.Context, author social.UserID, p social.Page) ([]*social.Decision, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) ([]*social.Decision, error) {
		sp := sqldb.Descending(p)
		found, err := sqldb.All(tx, decisionsForAuthor.Along(sp), scanDecision, author.Bytes(), sp.Low, sp.High, sp.Limit)
		return sqldb.InListOrder(sp, found), err
	})
}

func scanDecision(scan sqldb.Scan) (*social.Decision, error) {
	d := &social.Decision{}
	var subject id.ID
	var kind social.SubjectKind
	var until int64
	err := scan(sqldb.Into(&d.ID.ID), sqldb.Into(&subject), &kind, sqldb.Into(&d.Author.ID), sqldb.Into(&d.Moderator.ID), &d.Action, &d.Reason,
		sqldb.IntoTime(&d.At), &until)
	d.Until = sqldb.MomentOf(until)
	d.Subject = social.SubjectOf(kind, subject)
	return d, err
}

// heldColumns returns the kind of a hidden post's audience and its circles; NULL: it is not hidden.
func heldColumns(c *social.Case) (kind, circles any) {
	if c.Held == nil {
		return nil, nil
	}
	return string(c.Held.Kind), sqldb.JoinIDs(c.Held.Circles)
}

func heldOf(kind *string, circles []byte) (*social.Audience, error) {
	if kind == nil {
		return nil, nil
	}
	of, err := sqldb.SplitIDs[social.CircleID](circles)
	return &social.Audience{Kind: social.AudienceKind(*kind), Circles: of}, err
}
