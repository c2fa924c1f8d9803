package sqlite

import (
	"context"

	"plaza/social"
	"plaza/storage/sqlite/internal/eventlog"
	"plaza/storage/sqlite/internal/sqldb"
)

var (
	insertOpenPoll = sqldb.Define(`INSERT INTO open_polls (post, closes_at) VALUES (?, ?)`)
	pollsToClose   = sqldb.Define(`SELECT post FROM open_polls INDEXED BY open_polls_by_time WHERE closes_at <= ? ORDER BY closes_at LIMIT ?`)
	deleteOpenPoll = sqldb.Define(`DELETE FROM open_polls WHERE post = ?`)
	voters         = sqldb.Define(`SELECT user FROM votes WHERE post = ? ORDER BY user LIMIT ?`)
)

// ClosePolls implements social.Posts. A deleted post takes its row of open_polls along.
func (s *Store) ClosePolls(ctx context.Context, limit int) (closed int, err error) {
	closing, err := s.pollsToClose(ctx, limit)
	if err != nil || len(closing) == 0 {
		return 0, err
	}
	err = s.log.Update(ctx, func(tx *eventlog.Tx) error {
		closed = 0
		for _, post := range closing {
			rows, err := tx.Exec(deleteOpenPoll, post.Bytes())
			if err != nil {
				return err
			}
			if rows == 0 { // it was closed or deleted a moment ago
				continue
			}
			closed++
			if err := tx.Append(social.NewPollClosed(post)); err != nil {
				return err
			}
		}
		return nil
	})
	return closed, err
}

func (s *Store) pollsToClose(ctx context.Context, limit int) ([]social.PostID, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) ([]social.PostID, error) {
		return sqldb.All(tx, pollsToClose, scanPostID, sqldb.Moment(s.clock()), limit)
	})
}

// openPoll notes that a poll is to be closed.
func openPoll(tx *eventlog.Tx, p *social.Post) error {
	_, err := tx.Exec(insertOpenPoll, p.ID.Bytes(), sqldb.Moment(p.Content.Poll.ClosesAt))
	return err
}

// Voters implements social.Posts.
func (s *Store) Voters(ctx context.Context, post social.PostID, limit int) ([]social.UserID, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) ([]social.UserID, error) {
		return sqldb.All(tx, voters, scanUserID, post.Bytes(), limit)
	})
}
