package users

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// Document is a document of users.
type Document struct {
	ID         social.UserID     `bson:"_id"`
	Version    int               `bson:"v"`
	Handle     string            `bson:"handle"`
	Name       string            `bson:"name"`
	NameOrder  string            `bson:"nameOrder"` // social.NameOrder; since version 2
	Bio        string            `bson:"bio,omitempty"`
	AvatarURL  string            `bson:"avatarUrl,omitempty"`
	WallPolicy social.WallPolicy `bson:"wallPolicy"`
	Followers  int               `bson:"followers"`
	Following  int               `bson:"following"`
	Rights     []social.Right    `bson:"rights,omitempty"`
	Standing   *standingDoc      `bson:"standing,omitempty"` // absent: the account is active
}

// SetField implements mdb.Document.
func (d *Document) SetField(r *mdb.Reader, field []byte, v bsoncore.Value) {
	switch string(field) {
	case "_id":
		r.ID(v, &d.ID.ID)
	case "v":
		r.Int(v, &d.Version)
	case "handle":
		r.Text(v, &d.Handle)
	case "name":
		r.Text(v, &d.Name)
	case "nameOrder":
		r.Text(v, &d.NameOrder)
	case "bio":
		r.Text(v, &d.Bio)
	case "avatarUrl":
		r.Text(v, &d.AvatarURL)
	case "wallPolicy":
		mdb.ReadText(r, v, &d.WallPolicy)
	case "followers":
		r.Int(v, &d.Followers)
	case "following":
		r.Int(v, &d.Following)
	case "rights":
		mdb.ReadArray(r, v, &d.Rights, mdb.ReadText[social.Right])
	case "standing":
		d.Standing = &standingDoc{}
		r.Inner(v, d.Standing)
	}
}

// Evolve implements mdb.Evolving.
func (d *Document) Evolve() error {
	if d.Version < 2 {
		d.NameOrder = social.NameOrder(d.Name, d.ID)
	}
	err := readable.Known("users", d.Version)
	d.Version = version
	return err
}

// handleDoc is a document of handles. It makes handles unique, and keeps the password's hash out of
// ordinary reads.
type handleDoc struct {
	Handle       string        `bson:"_id"`
	Version      int           `bson:"v"`
	User         social.UserID `bson:"user"`
	PasswordHash string        `bson:"passwordHash"`
}

func newDocument(u *social.User, v int) Document {
	return Document{
		ID: u.ID, Version: v, Handle: u.Handle, Name: u.Name, NameOrder: social.NameOrder(u.Name, u.ID), Bio: u.Bio, AvatarURL: u.AvatarURL,
		WallPolicy: u.WallPolicy, Followers: u.FollowersCount, Following: u.FollowingCount, Rights: u.Rights,
	}
}

// User returns the user.
func (d *Document) User() *social.User {
	return &social.User{
		ID: d.ID, Handle: d.Handle, Name: d.Name, Bio: d.Bio, AvatarURL: d.AvatarURL,
		WallPolicy: d.WallPolicy, FollowersCount: d.Followers, FollowingCount: d.Following, Rights: d.Rights, Standing: d.standing(),
	}
}

func newHandleDoc(u *social.NewUser) handleDoc {
	return handleDoc{Handle: u.User.Handle, Version: mdb.FirstVersion, User: u.User.ID, PasswordHash: u.PasswordHash}
}
