package social

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"plaza/id"
)

// User is a person's account and profile.
type User struct {
	ID             UserID
	Handle         string // unique; lower case letters, digits and underscores
	Name           string
	Bio            string
	AvatarURL      string // http(s), or empty
	WallPolicy     WallPolicy
	FollowersCount int // counts everybody
	FollowingCount int
	Rights         []Right // in no order; seen by nobody else
}

// CreatedAt is when the user signed up.
func (u *User) CreatedAt() time.Time { return u.ID.Time() }

// NameOrder orders users by the NameKeys of their names, and then by id. Engines store it beside the name, and look for
// the beginnings of names in it.
func NameOrder(name string, user UserID) string { return NameKey(name) + "\x00" + user.ID.String() }

// IsNameOrder says whether a key is that of a list by NameOrder.
func IsNameOrder(k Key) bool {
	name, rest, ok := strings.Cut(string(k), "\x00")
	if !ok || !utf8.ValidString(name) || len(name) > 16*MaxNameLen {
		return false
	}
	_, err := id.ParseText(rest)
	return err == nil
}

// WallPolicy says who may put posts on a user's wall, apart from blocked and muted users, who never may.
type WallPolicy string

// The wall policies.
const (
	WallEveryone WallPolicy = "EVERYONE"
	WallFollowed WallPolicy = "FOLLOWED" // only those whom the owner follows
	WallNobody   WallPolicy = "NOBODY"   // only the owner
)

// NewUser is what signing up stores: the user, the password's hash (empty: nobody can sign in), and the
// user's built-in circle.
type NewUser struct {
	User         User
	PasswordHash string
	Following    Circle
}

// Users stores accounts and profiles.
type Users interface {
	// InsertUser stores the user, the hash, the circle and the event in one transaction. ErrTaken: the handle
	// is in use, however many sign up at once.
	InsertUser(ctx context.Context, u NewUser, e Event) error
	// UpdateProfile stores what the change gives, leaves the rest as it is (also what others change at the same time), and
	// appends the event. ErrNotFound.
	UpdateProfile(ctx context.Context, id UserID, change ProfileChange, e Event) error
	// GrantRight gives the user a right and appends the event. False, and no event: the user has it. ErrNotFound.
	GrantRight(ctx context.Context, id UserID, right Right, e Event) (bool, error)
	// RevokeRight takes a right from the user and appends the event. False, and no event: the user does not have it. ErrNotFound.
	RevokeRight(ctx context.Context, id UserID, right Right, e Event) (bool, error)
	// UsersWithRights reads everybody who has a right, in no order: they are few.
	UsersWithRights(ctx context.Context) ([]*User, error)
	// DeleteUser removes the user, the handle, which is free at once, and the user's sessions, and appends e and an EventSessionEnded for
	// each of these, in one transaction. From then on Relation.Gone holds between the user and everybody, for good; users who follow,
	// or are followed by, the user are counted as before for a while. What else there is of the user the Worker removes, with exact
	// counts: follows, blocks, mutes, circles, posts, comments, reactions, votes, the profile, and whatever calls that were under way
	// may still have stored. Posts by others on the user's wall move to their authors' walls. ErrNotFound.
	DeleteUser(ctx context.Context, id UserID, e Event) error
	// IsDeleting says whether the Worker has something of a deleted user left to remove.
	IsDeleting(ctx context.Context, id UserID) (bool, error)
	// Users reads by id; absent users are missing in the map.
	Users(ctx context.Context, ids []UserID) (map[UserID]*User, error)
	// UsersByHandle reads by handle (lower case); absent users are missing in the map.
	UsersByHandle(ctx context.Context, handles []string) (map[string]*User, error)
	// HasUsers says whether anyone has an account.
	HasUsers(ctx context.Context) (bool, error)
	// UsersNamed lists the users whose NameKey begins with the prefix (a NameKey), by NameOrder, ascending; keys are NameOrders.
	UsersNamed(ctx context.Context, prefix string, p Page) ([]*User, error)
	// PasswordHash reads what InsertUser stored. ErrNotFound: no such handle.
	PasswordHash(ctx context.Context, handle string) (UserID, string, error)
}

// Session is one sign-in. Only the SHA-256 of its token is stored.
type Session struct {
	TokenHash [32]byte
	User      UserID
	ExpiresAt time.Time
}

// Sessions stores sign-ins.
type Sessions interface {
	// InsertSession stores s.
	InsertSession(ctx context.Context, s Session) error
	// Session reads by the token's hash. ErrNotFound: never was, or deleted, or expired before now.
	Session(ctx context.Context, tokenHash [32]byte, now time.Time) (Session, error)
	// LiveSessions returns the hashes of those sessions that are there and do not expire before now, in any order.
	LiveSessions(ctx context.Context, tokenHashes [][32]byte, now time.Time) ([][32]byte, error)
	// DeleteSession removes it and appends the event; without an error where it is gone already.
	DeleteSession(ctx context.Context, tokenHash [32]byte, e Event) error
}
