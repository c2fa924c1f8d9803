package social

import (
	"cmp"
	"slices"

	"plaza/fault"
)

// AudienceKind selects who may see a post. Its author always may, and so may the owner of its wall,
// except with AudienceHidden.
type AudienceKind string

// The kinds of audience.
const (
	AudiencePublic  AudienceKind = "PUBLIC"  // everyone, signed in or not
	AudienceCircles AudienceKind = "CIRCLES" // everyone in any of the author's circles
	AudienceListed  AudienceKind = "LISTED"  // everyone in one of the listed circles
	AudienceOnlyMe  AudienceKind = "ONLY_ME" // only the author
	// AudienceHidden means that moderators have hidden the post. Only its author sees it, even on
	// another user's wall, and only moderators can change the audience. Clients see AudienceOnlyMe.
	AudienceHidden AudienceKind = "HIDDEN"
)

// Audience is who may see a post.
type Audience struct {
	Kind    AudienceKind
	Circles []CircleID // of AudienceListed: the author's own; otherwise none
}

// ReplyKind selects who may reply to a post, among those who see it. Its author always may.
type ReplyKind string

// The kinds of reply policies.
const (
	RepliesEveryone ReplyKind = "EVERYONE" // everyone who is signed in
	RepliesCircles  ReplyKind = "CIRCLES"  // everyone in any of the author's circles
	RepliesListed   ReplyKind = "LISTED"   // everyone in one of the listed circles
	RepliesNobody   ReplyKind = "NOBODY"   // only the author
)

// ReplyPolicy is who may reply to a post. Like the audience, it is evaluated against the author's
// current circles.
type ReplyPolicy struct {
	Kind    ReplyKind
	Circles []CircleID // of RepliesListed: the author's own; otherwise none
}

// Normal returns the audience with each circle once, in the order of their ids.
func (a Audience) Normal() Audience {
	a.Circles = normalCircles(a.Circles)
	return a
}

// Normal returns the policy with each circle once, in the order of their ids.
func (r ReplyPolicy) Normal() ReplyPolicy {
	return ReplyPolicy{Kind: cmp.Or(r.Kind, RepliesEveryone), Circles: normalCircles(r.Circles)}
}

func normalCircles(circles []CircleID) []CircleID {
	circles = slices.Clone(circles)
	slices.SortFunc(circles, func(x, y CircleID) int { return x.Compare(y.ID) })
	return slices.Compact(circles)
}

// Check validates an audience without looking up its circles. Errors: INVALID, TOO_LONG.
func (a Audience) Check() error {
	return checkListed("audience.circleIds", a.Circles, a.Kind == AudienceListed)
}

// Check validates a reply policy without looking up its circles. Errors: INVALID, TOO_LONG.
func (r ReplyPolicy) Check() error {
	return checkListed("replies.circleIds", r.Circles, r.Kind == RepliesListed)
}

func checkListed(field string, circles []CircleID, listed bool) error {
	if listed {
		return fault.CheckCount(field, len(circles), 1, MaxListedCircles)
	}
	if len(circles) > 0 {
		return fault.Invalidf(field, "Circles are allowed only with LISTED.")
	}
	return nil
}
