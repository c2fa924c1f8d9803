// Package users stores accounts: users with their handles, passwords, rights, sessions,
// identities on other sites, e-mail addresses, and the mails to be sent there. It implements
// social.Users, social.Sessions, social.Identities and social.Emails.
// [Deletion] removes what else belonged to a deleted user.
//
// A user's document also has the counts of follows. The package graph updates them, in the
// collection that it gets from [Store.Collection].
package users
