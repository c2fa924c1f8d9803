package moderation

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/audience"
	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/serials"
)

// CarryOut changes the subject of a ruling, inside the transaction that stores the ruling.
type CarryOut func(ctx context.Context, r *social.Ruling, e social.Event) error

// decisionDoc is a document of decisions.
type decisionDoc struct {
	ID        social.DecisionID  `bson:"_id"`
	Version   int                `bson:"v"`
	Case      social.CaseID      `bson:"case"` // the subject's id
	Kind      social.SubjectKind `bson:"kind"`
	Author    social.UserID      `bson:"author"`
	To        social.UserID      `bson:"to,omitempty"` // the author, if they may read the decision
	Moderator social.UserID      `bson:"moderator"`
	Action    social.Action      `bson:"action"`
	Reason    string             `bson:"reason"`
	At        time.Time          `bson:"at"`
	Until     time.Time          `bson:"until,omitempty"` // of a suspension
}

func (d *decisionDoc) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.ID(v, &d.ID.ID)
	case "v":
		r.Int(v, &d.Version)
	case "case":
		r.ID(v, &d.Case.ID)
	case "kind":
		mdb.ReadText(r, v, &d.Kind)
	case "author":
		r.ID(v, &d.Author.ID)
	case "to":
		r.ID(v, &d.To.ID)
	case "moderator":
		r.ID(v, &d.Moderator.ID)
	case "action":
		mdb.ReadText(r, v, &d.Action)
	case "reason":
		r.Text(v, &d.Reason)
	case "at":
		r.Time(v, &d.At)
	case "until":
		r.Time(v, &d.Until)
	}
}

func (d *decisionDoc) Evolve() error { return cluster.Versions{}.Known(decisionsName, d.Version) }

func newDecisionDoc(d *social.Decision) decisionDoc {
	doc := decisionDoc{
		ID: d.ID, Version: mdb.FirstVersion, Case: d.Subject.Case(), Kind: d.Subject.Kind(), Author: d.Author, Moderator: d.Moderator,
		Action: d.Action, Reason: d.Reason, At: d.At, Until: d.Until,
	}
	if d.ReachesAuthor() {
		doc.To = d.Author
	}
	return doc
}

func (d *decisionDoc) decision() *social.Decision {
	return &social.Decision{
		ID: d.ID, Subject: social.SubjectOf(d.Kind, d.Case.ID), Author: d.Author, Moderator: d.Moderator, Action: d.Action, Reason: d.Reason,
		At: mdb.UTC(d.At), Until: mdb.UTC(d.Until),
	}
}

// Decide implements social.Decisions.
func (s *Store) Decide(ctx context.Context, r social.Ruling, e social.Event) error {
	if r.Comment != nil && r.Comment.Hidden && s.writes(casesName) < version {
		return social.ErrTooEarly
	}
	var hot []id.ID
	if !e.Post.IsZero() {
		hot = []id.ID{e.Post.ID}
	}
	return s.calls.Write(ctx, "decide", hot, func(ctx context.Context) error {
		serial, err := serials.Next(ctx, s.sequences, caseSequence, 0, 1, true)
		if err != nil {
			return err
		}
		if err := s.saveRuled(ctx, r.Case); err != nil {
			return err
		}
		r.ID = social.DecisionID{ID: id.WithSerial(serial)}
		if _, err := s.decisions.InsertOne(ctx, newDecisionDoc(&r.Decision)); err != nil {
			return err
		}
		return s.carryOut(ctx, &r, e)
	})
}

// saveRuled stores a case (nil: there is none) as it is after a ruling. ErrConflict: it was changed
// since it was read.
func (s *Store) saveRuled(ctx context.Context, c *social.Case) error {
	if c == nil {
		return nil
	}
	set := mdb.Doc("state", c.State, "decisions", c.Decisions)
	update := mdb.Doc("$set", set)
	if c.Held != nil {
		update = mdb.Doc("$set", append(set, bson.E{Key: "held", Value: audience.Document(*c.Held)}))
	} else {
		update = append(update, bson.E{Key: "$unset", Value: mdb.Doc("held", 1)})
	}
	err := mdb.UpdateOne(ctx, s.cases, mdb.Doc("_id", c.ID, "opened", c.Order, "decisions", c.Decisions-1), update)
	if errors.Is(err, social.ErrNotFound) {
		return social.ErrConflict
	}
	return err
}

// Decisions implements social.Decisions.
func (s *Store) Decisions(ctx context.Context, p social.Page) ([]*social.Decision, error) {
	return s.listDecisions(ctx, mdb.ListQuery{Filter: bson.D{}, Key: "_id", Value: mdb.IDKey, Desc: true, Hint: "_id_", Page: p})
}

// DecisionsForAuthor implements social.Decisions.
func (s *Store) DecisionsForAuthor(ctx context.Context, author social.UserID, p social.Page) ([]*social.Decision, error) {
	return s.listDecisions(ctx, mdb.ListQuery{Filter: mdb.Doc("to", author), Key: "_id", Value: mdb.IDKey, Desc: true, Hint: byTold, Page: p})
}

func (s *Store) listDecisions(ctx context.Context, q mdb.ListQuery) (found []*social.Decision, err error) {
	err = s.calls.Read(ctx, "decisions", func(ctx context.Context) error {
		docs, err := mdb.ReadList[decisionDoc](ctx, s.decisions, q)
		found = mdb.Map(docs, (*decisionDoc).decision)
		return err
	})
	return found, err
}
