package social

// Scope is what a program may do with an access token, besides reading what its owner may read.
type Scope string

// The scopes.
const (
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
