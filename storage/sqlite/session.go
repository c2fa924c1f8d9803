package sqlite

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"plaza/social"
	"plaza/storage/sqlite/internal/eventlog"
	"plaza/storage/sqlite/internal/sqldb"
)

var (
	insertSession = sqldb.Define(`INSERT INTO sessions (` + sessionColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?)`)
	session       = sqldb.Define(`SELECT ` + sessionColumns + ` FROM sessions WHERE token_hash = ?`)
	sessionExists = sqldb.Define(`SELECT 1 FROM sessions WHERE token_hash = ?`)
	liveSessions  = sqldb.Define(`SELECT token_hash FROM sessions WHERE token_hash IN (SELECT unhex(value) FROM json_each(?)) AND expires_at > ?`)
	deleteSession = sqldb.Define(`DELETE FROM sessions WHERE token_hash = ?`)
	openSessions  = sqldb.Define(`SELECT ` + sessionColumns + ` FROM sessions INDEXED BY sessions_by_user WHERE user = ? AND expires_at > ?`)
	sessionsOf    = sqldb.Define(`SELECT token_hash FROM sessions INDEXED BY sessions_by_user WHERE user = ? AND token_hash <> ?`)
	signInsOf     = sqldb.Define(`SELECT token_hash FROM sessions INDEXED BY sessions_by_user WHERE user = ? AND token_hash <> ? AND name IS NULL`)
	countTokens   = sqldb.Define(`SELECT count(*) FROM sessions INDEXED BY sessions_by_user WHERE user = ? AND name IS NOT NULL AND expires_at > ?`)
	useSession    = sqldb.Define(`UPDATE sessions SET used_at = ?, expires_at = ? WHERE token_hash = ?`)

	expiredSessions = sqldb.Define(`DELETE FROM sessions WHERE token_hash IN (
		SELECT token_hash FROM sessions INDEXED BY sessions_by_expiry WHERE expires_at <= ? LIMIT ?)`)
	expiredSessionsOf = sqldb.Define(`DELETE FROM sessions INDEXED BY sessions_by_user WHERE user = ? AND token_hash <> ? AND expires_at <= ?`)
)

const sessionColumns = `token_hash, user, expires_at, created_at, used_at, name, scopes`

// InsertSession implements social.Sessions.
func (s *Store) InsertSession(ctx context.Context, session social.Session) error {
	return s.log.Update(ctx, func(tx *eventlog.Tx) error { return addSession(tx, session) })
}

// InsertAccessToken implements social.Sessions.
func (s *Store) InsertAccessToken(ctx context.Context, token social.Session, maximum int) error {
	return s.log.Update(ctx, func(tx *eventlog.Tx) error {
		if err := sqldb.MustHaveRoom(tx, maximum, countTokens, token.User.Bytes(), sqldb.Moment(token.CreatedAt)); err != nil {
			return err
		}
		return addSession(tx, token)
	})
}

func addSession(tx *eventlog.Tx, session social.Session) error {
	if err := refuseDeleted(tx, session.User, social.ErrAccountGone); err != nil {
		return err
	}
	var name, scopes any
	if g := session.Grant; g != nil {
		name, scopes = g.Name, joinScopes(g.Scopes)
	}
	_, err := tx.Exec(insertSession, session.TokenHash[:], session.User.Bytes(), sqldb.Moment(session.ExpiresAt),
		sqldb.Moment(session.CreatedAt), sqldb.Moment(session.UsedAt), name, scopes)
	return err
}

// Session implements social.Sessions.
func (s *Store) Session(ctx context.Context, tokenHash [32]byte, now time.Time) (social.Session, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) (social.Session, error) {
		found, err := sqldb.One(tx, session, scanSession, tokenHash[:])
		if err == nil && !found.ExpiresAt.After(now) {
			err = social.ErrNotFound
		}
		return found, err
	})
}

// LiveSessions implements social.Sessions.
func (s *Store) LiveSessions(ctx context.Context, tokenHashes [][32]byte, now time.Time) ([][32]byte, error) {
	list, err := hashList(tokenHashes)
	if err != nil {
		return nil, err
	}
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) ([][32]byte, error) {
		return sqldb.All(tx, liveSessions, scanHash, list, sqldb.Moment(now))
	})
}

// hashList is a list of hashes for json_each and unhex.
func hashList(hashes [][32]byte) (string, error) {
	keys := make([]string, len(hashes))
	for i, hash := range hashes {
		keys[i] = hex.EncodeToString(hash[:])
	}
	list, err := json.Marshal(keys)
	return string(list), err
}

func scanHash(scan sqldb.Scan) (hash [32]byte, err error) {
	var raw []byte
	err = scan(&raw)
	copy(hash[:], raw)
	return hash, err
}

// SessionsOf implements social.Sessions.
func (s *Store) SessionsOf(ctx context.Context, user social.UserID, now time.Time) ([]social.Session, error) {
	return sqldb.Read(ctx, s.db, func(tx sqldb.Reader) ([]social.Session, error) {
		return sqldb.All(tx, openSessions, scanSession, user.Bytes(), sqldb.Moment(now))
	})
}

func scanSession(scan sqldb.Scan) (found social.Session, err error) {
	var hash []byte
	var expires, created, used int64
	var name, scopes sql.NullString
	err = scan(&hash, sqldb.Into(&found.User.ID), &expires, &created, &used, &name, &scopes)
	copy(found.TokenHash[:], hash)
	found.ExpiresAt, found.CreatedAt, found.UsedAt = sqldb.MomentOf(expires), sqldb.MomentOf(created), sqldb.MomentOf(used)
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
	return s.log.Update(ctx, func(tx *eventlog.Tx) error {
		rows, err := tx.Exec(useSession, sqldb.Moment(at), sqldb.Moment(expires), tokenHash[:])
		if err != nil || rows == 0 {
			return err
		}
		tx.Changes.Add(social.Change{Sessions: [][32]byte{tokenHash}})
		return nil
	})
}

// DeleteSession implements social.Sessions. Deleting a session that does not exist causes no event.
func (s *Store) DeleteSession(ctx context.Context, tokenHash [32]byte, e social.Event) error {
	return s.log.Update(ctx, func(tx *eventlog.Tx) error {
		rows, err := tx.Exec(deleteSession, tokenHash[:])
		if err != nil || rows == 0 {
			return err
		}
		return tx.AppendWith(social.SessionsEnded(tokenHash), e)
	})
}

// EndSessions implements social.Sessions.
func (s *Store) EndSessions(ctx context.Context, user social.UserID, keep [32]byte, which social.SessionKinds) error {
	return s.log.Update(ctx, func(tx *eventlog.Tx) error {
		if keep != [32]byte{} {
			if err := sqldb.Known(tx.Exists(sessionExists, keep[:])); err != nil {
				return err
			}
		}
		return s.endSessions(tx, user, keep, which)
	})
}

// longExpired is how long ago a session expired that ends without an event. Servers have closed its
// sockets by then, and compare the time, even if the clock was set back a little since.
const longExpired = time.Hour

func (s *Store) endSessions(tx *eventlog.Tx, user social.UserID, keep [32]byte, which social.SessionKinds) error {
	list := sessionsOf
	if which == social.SignIns {
		list = signInsOf
	}
	longAgo := sqldb.Moment(s.clock().Add(-longExpired))
	if _, err := tx.Exec(expiredSessionsOf, user.Bytes(), keep[:], longAgo); err != nil {
		return err
	}
	tokens, err := sqldb.All(tx, list, scanHash, user.Bytes(), keep[:])
	if err != nil {
		return err
	}
	for _, token := range tokens {
		if _, err := tx.Exec(deleteSession, token[:]); err != nil {
			return err
		}
		if err := tx.AppendWith(social.SessionsEnded(token), social.NewSessionEnded(user, token)); err != nil {
			return err
		}
	}
	return nil
}

// expireSessions removes sessions that have expired, without events: servers compare the time.
func (s *Store) expireSessions(ctx context.Context) error {
	return s.db.DeleteAll(ctx, expiredSessions, sqldb.Moment(s.clock()))
}
