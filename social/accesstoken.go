package social

import "slices"

// Scope is a part of what a program may do with an access token.
type Scope string

// The scopes.
const (
	ScopeReadPublic   Scope = "READ_PUBLIC"   // what a signed-out user may read
	ScopeReadFeed     Scope = "READ_FEED"     // everything that the token's owner may read
	ScopeWritePosts   Scope = "WRITE_POSTS"   // posts, comments, reactions, votes
	ScopeWriteGraph   Scope = "WRITE_GRAPH"   // follows, circles, blocks, mutes
	ScopeWriteProfile Scope = "WRITE_PROFILE" // the profile, and which notifications are read
	ScopeManageAds    Scope = "MANAGE_ADS"    // with the right of the same name
	ScopeModerate     Scope = "MODERATE"      // likewise
	ScopeAdmin        Scope = "ADMIN"         // likewise
)

// AccessTokenStart is how access tokens begin, so that people and secret scanners recognise them.
const AccessTokenStart = "plaza_"

// Grant is what a session of an access token has in addition. With it, a program acts for its
// owner.
type Grant struct {
	Name   string
	Scopes []Scope
}

// has reports whether the grant has a scope, by itself or as a part of another: what everyone may
// read is a part of what the owner may read, and cases of moderation lead to all of that.
func (g *Grant) has(scope Scope) bool {
	switch {
	case slices.Contains(g.Scopes, scope):
		return true
	case scope == ScopeReadPublic:
		return g.has(ScopeReadFeed)
	case scope == ScopeReadFeed:
		return g.has(ScopeModerate)
	}
	return false
}
