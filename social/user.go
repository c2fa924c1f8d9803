package social

import (
	"context"
	"crypto/sha256"
	"strings"
	"time"
	"unicode/utf8"

	"plaza/fault"
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
	FollowersCount int // includes invisible users
	FollowingCount int
	Rights         []Right // in no order; seen only by the user
	Standing       Standing
}

// CreatedAt is when the user signed up.
func (u *User) CreatedAt() time.Time { return u.ID.Time() }

// NameOrder orders users by the NameKeys of their names, and then by id. Engines store it beside
// the name, and use it to search for prefixes of names.
func NameOrder(name string, user UserID) string { return NameKey(name) + "\x00" + user.ID.String() }

// NameOrderEnd is greater than the NameOrders of all users whose NameKeys begin with the prefix: no
// name has as many of the greatest rune.
func NameOrderEnd(prefix string) string {
	return prefix + strings.Repeat(string(utf8.MaxRune), MaxNameLen+1)
}

// IsNameOrder reports whether a key is that of a list by NameOrder.
func IsNameOrder(k Key) bool {
	name, rest, ok := strings.Cut(string(k), "\x00")
	if !ok || !utf8.ValidString(name) || len(name) > 16*MaxNameLen {
		return false
	}
	_, err := id.ParseText(rest)
	return err == nil
}

// WallPolicy says who may post on a user's wall. Blocked and muted users never may.
type WallPolicy string

// The wall policies.
const (
	WallEveryone WallPolicy = "EVERYONE"
	WallFollowed WallPolicy = "FOLLOWED" // only those the owner follows
	WallNobody   WallPolicy = "NOBODY"   // only the owner
)

// NewUser is what signing up stores: the user, the password's hash (empty: sign-in is disabled),
// the user's built-in circle, the key of the identity that the account belongs to (zero: none), and
// the invitation that creates it (zero: none).
type NewUser struct {
	User         User
	PasswordHash string
	Following    Circle
	Identity     [32]byte
	Invitation   InvitationID

	// At is when the user signs up: an invitation that has expired by then is not valid, and a
	// handle that a deleted account had until less than HandleRest ago is taken. Zero: an operator
	// decides, and such a handle may be given.
	At time.Time
}

// KeyOfLeftHandle is what is stored of the handle of a deleted account.
func KeyOfLeftHandle(handle string) [32]byte { return sha256.Sum256([]byte("left handle " + handle)) }

// Users stores accounts and profiles.
type Users interface {
	// InsertUser stores the user, the hash, the circle, the identity and the event, and uses the
	// invitation once, in one transaction. ErrInvitationOver: the invitation is unknown, expired or
	// used up, also by concurrent calls. ErrIdentityKnown: the identity has an account, or had one,
	// also by a concurrent call. ErrTaken: the handle is in use, also by a concurrent sign-up, or is
	// still kept (NewUser.At).
	InsertUser(ctx context.Context, u NewUser, e Event) error
	// UpdateProfile stores the fields that are set, leaves the others (including concurrent
	// changes), and appends the event. ErrNotFound.
	UpdateProfile(ctx context.Context, id UserID, change ProfileChange, e Event) error
	// GrantRight gives the user a right and appends the event. False, and no event: the user has
	// it. ErrNotFound.
	GrantRight(ctx context.Context, id UserID, right Right, e Event) (bool, error)
	// RevokeRight takes a right from the user and appends the event. False, and no event: the user
	// does not have it. ErrNotFound.
	RevokeRight(ctx context.Context, id UserID, right Right, e Event) (bool, error)
	// UsersWithRights reads all users who have a right, in no order: they are few.
	UsersWithRights(ctx context.Context) ([]*User, error)
	// DeleteUser removes the user, the handle (which is kept for HandleRest from now on) and the user's
	// sessions, reduces the user's identities to their keys, and appends e and an EventSessionEnded
	// for each session and identity, in one transaction. From then on Relation.Gone holds between the user and everyone, permanently; the follow counts of
	// others may still include the user for a while. The Worker removes the rest, with exact
	// counts: follows, blocks, mutes, circles, posts, comments, reactions, votes, the profile, and
	// whatever concurrent calls may still have stored. Posts by others on the user's wall move to
	// their authors' walls. Each removal of a reaction, a vote or a wall is one transaction with its
	// EventPostReduced. ErrNotFound.
	DeleteUser(ctx context.Context, id UserID, e Event) error
	// IsHandleKept reports whether the handle was that of an account that was deleted less than
	// HandleRest before at.
	IsHandleKept(ctx context.Context, handle string, at time.Time) (bool, error)
	// IsDeleting reports whether the Worker has anything of a deleted user left to remove.
	IsDeleting(ctx context.Context, id UserID) (bool, error)
	// Users reads by id; absent users are missing in the map.
	Users(ctx context.Context, ids []UserID) (map[UserID]*User, error)
	// UsersByHandle reads by handle (lower case); absent users are missing in the map.
	UsersByHandle(ctx context.Context, handles []string) (map[string]*User, error)
	// HasUsers reports whether any account exists.
	HasUsers(ctx context.Context) (bool, error)
	// UsersNamed lists the users whose NameKey begins with the prefix (a NameKey), by NameOrder,
	// ascending; keys are NameOrders.
	UsersNamed(ctx context.Context, prefix string, p Page) ([]*User, error)
	// PasswordHash reads what InsertUser stored. ErrNotFound: no such handle.
	PasswordHash(ctx context.Context, handle string) (UserID, string, error)
	// SetPassword replaces the hash of a user's password and ends the user's sessions, as
	// EndSessions does, and makes the user's tokens of the kind MailReset void, in one
	// transaction. ErrNotFound: the user is deleted, the hash is another one by now, or the
	// change's own token is unknown, void or expired.
	SetPassword(ctx context.Context, change PasswordChange) error
}

// PasswordChange replaces the hash of a password.
type PasswordChange struct {
	User     UserID
	Handle   string
	From, To string   // the hashes
	Keep     [32]byte // the token's hash of the session that goes on; zero: none

	// Reset is the hash of the MailToken that allows the change, and that it uses up; zero: none
	// was needed. At is the time by which it must not have expired.
	Reset [32]byte
	At    time.Time
}

// ProfileChange holds the changes of a profile; nil fields are not changed.
type ProfileChange struct {
	Name, Bio, AvatarURL *string
	WallPolicy           *WallPolicy
}

// Check validates the new values. Errors: INVALID, BLANK, TOO_LONG.
func (c ProfileChange) Check() error {
	var name, bio, avatar error
	if c.Name != nil {
		name = fault.CheckLine("name", *c.Name, 1, MaxNameLen)
	}
	if c.Bio != nil {
		bio = fault.CheckText("bio", *c.Bio, 0, MaxBioLen)
	}
	if c.AvatarURL != nil && *c.AvatarURL != "" {
		avatar = fault.CheckURL("avatarUrl", *c.AvatarURL)
	}
	return fault.All(name, bio, avatar)
}
