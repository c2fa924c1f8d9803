package model

import "plaza/social"

// User is the schema's User.
type User struct{ *social.User }

// IsNode marks User as a Node.
func (*User) IsNode() {}

// AvatarURL is null where the user has no picture.
func (u *User) AvatarURL() *string { return Optional(u.User.AvatarURL) }

// Viewer is the schema's Viewer.
type Viewer struct {
	UserID  social.UserID
	NewHash [32]byte // of the token that this operation has just received; zero: it came with its own
}

// ID differs from the user's, because clients' caches can hold both.
func (v *Viewer) ID() string { return v.UserID.Text("viewer") }

// Optional returns nil for the zero value.
func Optional[T comparable](v T) *T {
	var none T
	if v == none {
		return nil
	}
	return &v
}
