package people

import (
	"context"
	"time"

	"plaza/social"
)

// Source is what a storage engine knows about people: see social.Users, social.Graph,
// social.Sessions and social.Identities.
type Source interface {
	Users(ctx context.Context, ids []social.UserID) (map[social.UserID]*social.User, error)
	Relations(ctx context.Context, pairs []social.Pair) (map[social.Pair]social.Relation, error)
	People(ctx context.Context, viewer social.UserID, ids []social.UserID) (map[social.UserID]social.Person, error)
	Session(ctx context.Context, tokenHash [32]byte, now time.Time) (social.Session, error)
	Identities(ctx context.Context, keys [][32]byte) (map[[32]byte]social.Identity, error)
}

// Reader reads users, relations between users, sessions, and identities.
type Reader interface {
	Source

	// Known returns those of the others whose relation to the viewer is in memory; their users are
	// nil unless they are, too.
	Known(ctx context.Context, viewer social.UserID, others []social.UserID) (map[social.UserID]social.Person, error)
}

// Uncached is a Reader that reads the store each time.
func Uncached(from Source) Reader { return stored{from} }

type stored struct{ Source }

// Known implements Reader: nothing is.
func (stored) Known(context.Context, social.UserID, []social.UserID) (map[social.UserID]social.Person, error) {
	return nil, nil
}
