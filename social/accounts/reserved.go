package accounts

import (
	"strings"

	"plaza/fault"
)

// reservedHandles look official, or like a part of the site's addresses. People can't sign up with
// them; existing accounts keep theirs, and operators may create such accounts. Entries are in the
// form of bareHandle.
var reservedHandles = setOf(`
	plaza admin admins administrator administrators root superuser sysadmin system sysop operator operators
	moderator moderators mod mods staff team official owner webmaster hostmaster postmaster
	support help helpdesk contact feedback info service security abuse fraud safety trust verify verification verified
	billing payment payments sales press legal privacy terms copyright dmca
	mail email mailerdaemon noreply donotreply notification notifications newsletter
	api graphql graphiql query mutation subscription schema websocket ws oauth oidc sso
	account accounts login logout signin signout signup register registration password reset session sessions settings profile
	user users me self viewer node nodes post posts comment comments wall news feed incoming search circle circles
	ad ads advertising click export import media image images avatar avatars static assets download downloads
	health healthz livez readyz ready live status metrics debug wellknown robots favicon sitemap
	www web ftp smtp imap dns localhost null nil undefined none true false everyone anonymous deleted unknown
`)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// bareHandle returns a handle as people read it: in lower case and without underscores.
func bareHandle(handle string) string {
	return strings.ReplaceAll(strings.ToLower(handle), "_", "")
}

// These replace digits by the letters that they look like, except 5: user5 is not users. A 1 may be
// an i or an l, so where there is one, an l counts as an i.
var (
	withLetters = strings.NewReplacer("0", "o", "3", "e", "4", "a", "7", "t")
	withI       = strings.NewReplacer("0", "o", "3", "e", "4", "a", "7", "t", "1", "i", "l", "i")
)

// readAsI contains the reserved handles as withI converts them.
var readAsI = func() map[string]bool {
	set := map[string]bool{}
	for word := range reservedHandles {
		set[withI.Replace(word)] = true
	}
	return set
}()

// isReserved reports whether a handle looks like a reserved one.
func isReserved(handle string) bool {
	bare := bareHandle(handle)
	if strings.Contains(bare, "1") {
		return readAsI[withI.Replace(bare)]
	}
	return reservedHandles[withLetters.Replace(bare)]
}

// checkReserved refuses handles that only operators may give to accounts. Error: RESERVED.
func checkReserved(handle string) error {
	if isReserved(handle) {
		return fault.Errorf(fault.CodeReserved, "handle", "This handle is reserved: choose another one.")
	}
	return nil
}
