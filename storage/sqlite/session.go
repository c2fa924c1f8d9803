package sqlite

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"plaza/id"
	"plaza/social"
)

var (
	insertSession = define(`INSERT INTO sessions (` + sessionColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?)`)
	session       = define(`SELECT ` + sessionColumns + ` FROM sessions WHERE token_hash = ?`)
	sessionExists = define(`SELECT 1 FROM sessions WHERE token_hash = ?`)
	liveSessions  = define(`SELECT token_hash FROM sessions WHERE token_hash IN (SELECT unhex(value) FROM json_each(?)) AND expires_at > ?`)
	deleteSession = define(`DELETE FROM sessions WHERE token_hash = ?`)
	openSessions  = define(`SELECT ` + sessionColumns + ` FROM sessions INDEXED BY sessions_by_user WHERE user = ? AND expires_at > ?`)
	sessionsOf    = define(`SELECT token_hash FROM sessions INDEXED BY sessions_by_user WHERE user = ? AND token_hash <> ?`)
	signInsOf     = define(`SELECT token_hash FROM sessions INDEXED BY sessions_by_user WHERE user = ? AND token_hash <> ? AND name IS NULL`)
	useSession    = define(`UPDATE sessions SET used_at = ?, expires_at = ? WHERE token_hash = ?`)
)

const sessionColumns = `token_hash, user, expires_at, created_at, used_at, name, scopes`

// InsertSession implements social.Sessions.
func (s *Store) InsertSession(ctx context.Context, session social.Session) error {
	return s.update(ctx, func(w *work) error {
		if err := w.refuseDeleted(session.User, social.ErrAccountGone); err != nil {
			return err
		}
		var name, scopes any
		if g := session.Grant; g != nil {
			name, scopes = g.Name, joinScopes(g.Scopes)
		}
		_, err := w.exec(insertSession, session.TokenHash[:], session.User.Bytes(), moment(session.ExpiresAt),
			moment(session.CreatedAt), moment(session.UsedAt), name, scopes)
		return err
	})
}

// Session implements social.Sessions.
func (s *Store) Session(ctx context.Context, tokenHash [32]byte, now time.Time) (social.Session, error) {
	return read(ctx, s, func(w *work) (social.Session, error) {
		found, err := all(w, session, scanSession, tokenHash[:])
		if err != nil {
			return social.Session{}, err
		}
		if len(found) == 0 || !found[0].ExpiresAt.After(now) {
			return social.Session{}, social.ErrNotFound
		}
		return found[0], nil
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
	var expires, created, used int64
	var name, scopes sql.NullString
	err = scan(&hash, into(&found.User.ID), &expires, &created, &used, &name, &scopes)
	copy(found.TokenHash[:], hash)
	found.ExpiresAt, found.CreatedAt, found.UsedAt = momentOf(expires), momentOf(created), momentOf(used)
	if name.Valid {
		found.Grant = &social.Grant{Name: name.String, Scopes: splitScopes(scopes.String)}
	}
	return found, err
}

func joinScopes(scopes []social.Scope) string {
	texts := make([]string, len(scopes))
	for i, scope := range scopes {
		texts[i] = string(scope)
	}
	return strings.Join(texts, " ")
}

func splitScopes(text string) []social.Scope {
	var scopes []social.Scope
	for scope := range strings.FieldsSeq(text) {
		scopes = append(scopes, social.Scope(scope))
	}
	return scopes
}

// UseSession implements social.Sessions.
func (s *Store) UseSession(ctx context.Context, tokenHash [32]byte, at, expires time.Time) error {
	return s.update(ctx, func(w *work) error {
		rows, err := w.exec(useSession, moment(at), moment(expires), tokenHash[:])
		if err != nil || rows == 0 {
			return err
		}
		w.changes.Add(social.Change{Sessions: [][32]byte{tokenHash}})
		return nil
	})
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
func (s *Store) EndSessions(ctx context.Context, user social.UserID, keep [32]byte, which social.SessionKinds) error {
	return s.update(ctx, func(w *work) error {
		if keep != [32]byte{} {
			if err := known(w.exists(sessionExists, keep[:])); err != nil {
				return err
			}
		}
		return w.endSessions(user, keep, which)
	})
}

func (w *work) endSessions(user social.UserID, keep [32]byte, which social.SessionKinds) error {
	list := sessionsOf
	if which == social.SignIns {
		list = signInsOf
	}
	tokens, err := all(w, list, scanHash, user.Bytes(), keep[:])
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
