package model

import "plaza/social"

// Circle is the schema's Circle.
type Circle struct{ *social.Circle }

// IsNode marks Circle as a Node.
func (*Circle) IsNode() {}
