package social

import (
	"slices"
	"strings"

	"plaza/fault"
)

// Right is a permission beyond managing one's own account. Only the command line grants and revokes
// rights.
type Right string

// The rights. RightAdmin includes all others.
const (
	RightAdmin     Right = "admin"      // defines the community's profile properties
	RightManageAds Right = "ads:manage" // advertisers, campaigns, ad units and zones
	RightModerate  Right = "moderate"   // reads reports, and decides cases
)

// Rights holds all rights, in display order.
var Rights = []Right{RightAdmin, RightManageAds, RightModerate}

// ParseRight reads a right's name. Error: INVALID.
func ParseRight(text string) (Right, error) {
	if right := Right(text); slices.Contains(Rights, right) {
		return right, nil
	}
	names := make([]string, len(Rights))
	for i, right := range Rights {
		names[i] = string(right)
	}
	return "", fault.Invalidf("right", "The right %q does not exist. The rights are %s.", text, strings.Join(names, ", "))
}

// HasRight reports whether the user has the right, directly or as an admin.
func (u *User) HasRight(right Right) bool {
	return slices.Contains(u.Rights, right) || slices.Contains(u.Rights, RightAdmin)
}

// RightsInOrder returns the user's own rights, in the order of [Rights].
func (u *User) RightsInOrder() []Right {
	return slices.DeleteFunc(slices.Clone(Rights), func(right Right) bool { return !slices.Contains(u.Rights, right) })
}
