package social

import (
	"crypto/sha256"

	"plaza/id"
)

// The kinds of ids. Their text forms are TypeIDs: user_…, circle_…, post_…, comment_…, session_….
type (
	UserID    struct{ id.ID }
	CircleID  struct{ id.ID }
	PostID    struct{ id.ID }
	CommentID struct{ id.ID }
	// PropertyID identifies one definition of a property; clients use its key.
	PropertyID struct{ id.ID }
	// EdgeID identifies one follow, block or mute, and orders lists of them by their start.
	EdgeID struct{ id.ID }
	// MailID identifies a mail that is to be sent.
	MailID struct{ id.ID }
	// SessionID identifies a session to its user, and says nothing about its token.
	SessionID struct{ id.ID }
	// AccessTokenID identifies an access token to its owner, and says nothing about the token.
	AccessTokenID struct{ id.ID }
	// InvitationID identifies an invitation to its inviter, and says nothing about its code.
	InvitationID struct{ id.ID }
	// NotificationID identifies a notification to its recipient.
	NotificationID struct{ id.ID }
	// CaseID identifies a case to moderators.
	CaseID struct{ id.ID }
	// DecisionID identifies an entry of the audit log.
	DecisionID struct{ id.ID }
	// EventID identifies one entry of the event log.
	EventID struct{ id.ID }
)

// The prefixes of the ids that clients see.
const (
	UserPrefix    = "user"
	CirclePrefix  = "circle"
	PostPrefix    = "post"
	CommentPrefix = "comment"
	SessionPrefix = "session"

	NotificationPrefix = "notification"
	AccessTokenPrefix  = "token"
	InvitationPrefix   = "invitation"
	CasePrefix         = "case"
	DecisionPrefix     = "decision"
)

func (i UserID) String() string { return i.Text(UserPrefix) }

func (i CircleID) String() string { return i.Text(CirclePrefix) }

func (i PostID) String() string { return i.Text(PostPrefix) }

func (i CommentID) String() string { return i.Text(CommentPrefix) }

func (i SessionID) String() string { return i.Text(SessionPrefix) }

func (i NotificationID) String() string { return i.Text(NotificationPrefix) }

func (i AccessTokenID) String() string { return i.Text(AccessTokenPrefix) }

func (i InvitationID) String() string { return i.Text(InvitationPrefix) }

func (i CaseID) String() string { return i.Text(CasePrefix) }

func (i DecisionID) String() string { return i.Text(DecisionPrefix) }

// ParseUserID reads user_…; any other text is id.ErrMalformed, as in the functions below.
func ParseUserID(text string) (UserID, error) {
	parsed, err := id.Parse(UserPrefix, text)
	return UserID{parsed}, err
}

// ParseCircleID reads circle_….
func ParseCircleID(text string) (CircleID, error) {
	parsed, err := id.Parse(CirclePrefix, text)
	return CircleID{parsed}, err
}

// ParsePostID reads post_….
func ParsePostID(text string) (PostID, error) {
	parsed, err := id.Parse(PostPrefix, text)
	return PostID{parsed}, err
}

// ParseCommentID reads comment_….
func ParseCommentID(text string) (CommentID, error) {
	parsed, err := id.Parse(CommentPrefix, text)
	return CommentID{parsed}, err
}

// ParseSessionID reads session_….
func ParseSessionID(text string) (SessionID, error) {
	parsed, err := id.Parse(SessionPrefix, text)
	return SessionID{parsed}, err
}

// ParseNotificationID reads notification_….
func ParseNotificationID(text string) (NotificationID, error) {
	parsed, err := id.Parse(NotificationPrefix, text)
	return NotificationID{parsed}, err
}

// ParseAccessTokenID reads token_….
func ParseAccessTokenID(text string) (AccessTokenID, error) {
	parsed, err := id.Parse(AccessTokenPrefix, text)
	return AccessTokenID{parsed}, err
}

// ParseInvitationID reads invitation_….
func ParseInvitationID(text string) (InvitationID, error) {
	parsed, err := id.Parse(InvitationPrefix, text)
	return InvitationID{parsed}, err
}

// ParseCaseID reads case_….
func ParseCaseID(text string) (CaseID, error) {
	parsed, err := id.Parse(CasePrefix, text)
	return CaseID{parsed}, err
}

// hashedID derives an id from a secret, for a purpose, and does not reveal it: the id is the first
// 128 bits of a SHA-256.
func hashedID(purpose string, secret []byte) id.ID {
	sum := sha256.Sum256(append([]byte(purpose), secret...))
	return id.ID(sum[:len(id.ID{})])
}
