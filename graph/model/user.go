package model

import "plaza/social"

// User is the schema's User.
type User struct{ *social.User }

// IsNode marks User as a Node.
func (*User) IsNode() {}

// AvatarURL is null where the user has no picture.
func (u *User) AvatarURL() *string { return Optional(u.User.AvatarURL) }

// Viewer is the schema's Viewer.
type Viewer struct{ UserID social.UserID }

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
