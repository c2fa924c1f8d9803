package accounts

import (
	"plaza/fault"
	"plaza/social"
)

// ActKind is the kind of an act.
type ActKind string

// The kinds of acts.
const (
	ActSignedIn           ActKind = "signed in"
	ActSignInFailed       ActKind = "sign-in failed"
	ActSignedOut          ActKind = "signed out"
	ActSessionRevoked     ActKind = "session revoked"
	ActOthersRevoked      ActKind = "other sessions revoked"
	ActAllRevoked         ActKind = "everything revoked" // sessions, access tokens, and tokens of other sites
	ActAccessTokenCreated ActKind = "access token created"
	ActAccessTokenRevoked ActKind = "access token revoked"
	ActPasswordChanged    ActKind = "password changed"
	ActPasswordReplaced   ActKind = "password replaced"
	ActPasswordReset      ActKind = "password reset" // by a link in a mail
	ActEmailConfirmed     ActKind = "e-mail address confirmed"
	ActEmailRemoved       ActKind = "e-mail address removed"
	ActPasswordRefused    ActKind = "password refused" // where it confirms something
	ActAccountCreated     ActKind = "account created"
	ActAccountDeleted     ActKind = "account deleted"
	ActAccountDeactivated ActKind = "account deactivated"
	ActAccountReactivated ActKind = "account reactivated"
	ActAccountSuspended   ActKind = "account suspended" // by an operator; moderators' decisions have a log of their own
	ActAccountBanned      ActKind = "account banned"    // the same
	ActAccountReinstated  ActKind = "account reinstated"
	ActUserReadmitted     ActKind = "user readmitted"
	ActInvitationCreated  ActKind = "invitation created"
	ActInvitationRevoked  ActKind = "invitation revoked"
	ActRightGranted       ActKind = "right granted"
	ActRightRevoked       ActKind = "right revoked"
)

// How someone signs in, or gets an account.
const (
	ByPassword    = "password"
	ByIDToken     = "ID token"
	ByIssuedToken = "token of another site"
)

// Act is what the audit log records. It has no token, no password and no text that someone has
// chosen, except for handles of accounts and names of issuers.
type Act struct {
	Kind     ActKind
	User     social.UserID // whose account; zero: not known
	Handle   string        // the user's; "": not known
	Operator bool          // an operator did it, and not the user
	How      string        // ByPassword, …; "": says nothing
	Issuer   string        // of the token; "": none
	// Session names the session that began or ended, as Viewer.sessions does, and AccessToken an
	// access token; zero: none, or several.
	Session     social.SessionID
	AccessToken social.AccessTokenID
	Invitation  social.InvitationID // that was created, revoked or used; zero: none
	Right       social.Right
	Code        fault.Code // why it failed
}
