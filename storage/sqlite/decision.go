package sqlite

import (
	"plaza/social"
	"plaza/storage/sqlite/internal/eventlog"
	"plaza/storage/sqlite/internal/sqldb"
)

// carryOut does what a ruling says to its subject, in the transaction that stores the ruling.
func (s *Store) carryOut(tx *eventlog.Tx, r *social.Ruling, e social.Event) error {
	switch {
	case r.Post != nil:
		return replacePost(tx, r.Post, nil, e)
	case r.Comment != nil:
		rows, err := tx.Exec(hideComment, r.Comment.Hidden, r.Comment.ID.Bytes())
		if err := sqldb.Changed(rows, err, social.ErrNotFound); err != nil {
			return err
		}
		return tx.Append(e)
	case r.Removes && r.Subject.Kind() == social.SubjectPost:
		return removePost(tx, r.Subject.Post, e)
	case r.Removes:
		return deleteComment(tx, r.Subject.Comment, e)
	case r.Sanctions:
		_, err := s.changeStanding(tx, r.Author, r.At, e, func(before social.Standing) social.Standing { return before.Sanctioned(&r.Decision) })
		return err
	default:
		return nil
	}
}
