package model

import "plaza/social"

// User is the schema's User.
type User struct{ *social.User }

// IsNode marks User as a Node.
func (*User) IsNode() {}

// AvatarURL is null where the user has no picture.
func (u *User) AvatarURL() *string { return optional(u.User.AvatarURL) }

// Viewer is the schema's Viewer.
type Viewer struct{ ID social.UserID }

func optional[T comparable](v T) *T {
	var none T
	if v == none {
		return nil
	}
	return &v
}
