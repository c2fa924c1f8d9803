package social

import (
	"context"
	"slices"
	"time"
)

// User is a person's account and profile.
type User struct {
	ID             UserID
	Handle         string // unique; lower case letters, digits and underscores
	Name           string
	Bio            string
	AvatarURL      string // http(s), or empty
	WallPolicy     WallPolicy
	Rights         []Right // sorted; few have any
	FollowersCount int     // counts everybody
	FollowingCount int
}

// Right is what the operator of the server lets some people do.
type Right string

// RightManageAds is the right to see and change everything about ads.
const RightManageAds Right = "ads:manage"

// Has says whether the user has a right.
func (u *User) Has(right Right) bool { return slices.Contains(u.Rights, right) }

// CreatedAt is when the user signed up.
func (u *User) CreatedAt() time.Time { return u.ID.Time() }

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
	// SetRight gives the user a right, or takes it away, and appends the event; it does nothing (changed is false) where that
	// is so already. ErrNotFound.
	SetRight(ctx context.Context, id UserID, right Right, has bool, e Event) (changed bool, err error)
	// Users reads by id; absent users are missing in the map.
	Users(ctx context.Context, ids []UserID) (map[UserID]*User, error)
	// UsersByHandle reads by handle (lower case); absent users are missing in the map.
	UsersByHandle(ctx context.Context, handles []string) (map[string]*User, error)
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
	// DeleteSession removes it and appends the event; without an error where it is gone already.
	DeleteSession(ctx context.Context, tokenHash [32]byte, e Event) error
}
