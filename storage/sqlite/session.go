package sqlite

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"time"

	"plaza/id"
	"plaza/social"
)

var (
	insertSession = define(`INSERT INTO sessions (token_hash, user, expires_at) VALUES (?, ?, ?)`)
	session       = define(`SELECT user, expires_at FROM sessions WHERE token_hash = ?`)
	sessionExists = define(`SELECT 1 FROM sessions WHERE token_hash = ?`)
	liveSessions  = define(`SELECT token_hash FROM sessions WHERE token_hash IN (SELECT unhex(value) FROM json_each(?)) AND expires_at > ?`)
	deleteSession = define(`DELETE FROM sessions WHERE token_hash = ?`)
	openSessions  = define(`SELECT token_hash, user, expires_at FROM sessions INDEXED BY sessions_by_user WHERE user = ? AND expires_at > ?`)
	sessionsOf    = define(`SELECT token_hash FROM sessions INDEXED BY sessions_by_user WHERE user = ? AND token_hash <> ?`)
)

// InsertSession implements social.Sessions.
func (s *Store) InsertSession(ctx context.Context, session social.Session) error {
	return s.update(ctx, func(w *work) error {
		if err := w.refuseDeleted(session.User, social.ErrAccountGone); err != nil {
			return err
		}
		_, err := w.exec(insertSession, session.TokenHash[:], session.User.Bytes(), moment(session.ExpiresAt))
		return err
	})
}

// Session implements social.Sessions.
func (s *Store) Session(ctx context.Context, tokenHash [32]byte, now time.Time) (social.Session, error) {
	return read(ctx, s, func(w *work) (social.Session, error) {
		found := social.Session{TokenHash: tokenHash}
		var expires int64
		if err := known(w.row(session, []any{into(&found.User.ID), &expires}, tokenHash[:])); err != nil {
			return found, err
		}
		found.ExpiresAt = momentOf(expires)
		if !found.ExpiresAt.After(now) {
			return found, social.ErrNotFound
		}
		return found, nil
	})
}

// LiveSessions implements social.Sessions.
func (s *Store) LiveSessions(ctx context.Context, tokenHashes [][32]byte, now time.Time) ([][32]byte, error) {
	keys := make([]string, len(tokenHashes))
	for i, hash := range tokenHashes {
		keys[i] = hex.EncodeToString(hash[:])
	}
	list, err := json.Marshal(keys)
	if err != nil {
		return nil, err
	}
	return read(ctx, s, func(w *work) ([][32]byte, error) {
		return all(w, liveSessions, scanHash, string(list), moment(now))
	})
}

func scanHash(scan scan) (hash [32]byte, err error) {
	var raw []byte
	err = scan(&raw)
	copy(hash[:], raw)
	return hash, err
}

// SessionsOf implements social.Sessions.
func (s *Store) SessionsOf(ctx context.Context, user social.UserID, now time.Time) ([]social.Session, error) {
	return read(ctx, s, func(w *work) ([]social.Session, error) {
		return all(w, openSessions, scanSession, user.Bytes(), moment(now))
	})
}

func scanSession(scan scan) (found social.Session, err error) {
	var hash []byte
	var expires int64
	err = scan(&hash, into(&found.User.ID), &expires)
	copy(found.TokenHash[:], hash)
	found.ExpiresAt = momentOf(expires)
	return found, err
}

// DeleteSession implements social.Sessions. Deleting a session that does not exist causes no event.
func (s *Store) DeleteSession(ctx context.Context, tokenHash [32]byte, e social.Event) error {
	return s.update(ctx, func(w *work) error {
		rows, err := w.exec(deleteSession, tokenHash[:])
		if err != nil || rows == 0 {
			return err
		}
		return w.appendWith(social.SessionsEnded(tokenHash), e)
	})
}

// EndSessions implements social.Sessions.
func (s *Store) EndSessions(ctx context.Context, user social.UserID, keep [32]byte) error {
	return s.update(ctx, func(w *work) error {
		if keep != [32]byte{} {
			if err := known(w.exists(sessionExists, keep[:])); err != nil {
				return err
			}
		}
		return w.endSessions(user, keep)
	})
}

func (w *work) endSessions(user social.UserID, keep [32]byte) error {
	tokens, err := all(w, sessionsOf, scanHash, user.Bytes(), keep[:])
	if err != nil {
		return err
	}
	for _, token := range tokens {
		if _, err := w.exec(deleteSession, token[:]); err != nil {
			return err
		}
		e := social.Event{ID: social.EventID{ID: id.New()}, Kind: social.EventSessionEnded, Actor: user, Session: token}
		if err := w.appendWith(social.SessionsEnded(token), e); err != nil {
			return err
		}
	}
	return nil
}
