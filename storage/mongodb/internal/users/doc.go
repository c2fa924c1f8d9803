// Package users stores accounts: users with their handles, passwords, rights, sessions,
// identities on other sites, e-mail addresses, the mails to be sent there, and invitations. It
// implements social.Accounts. [Deletion] removes what else belonged to a deleted user.
//
// A user's document also has the counts of follows. The package graph updates them, in the
// collection that it gets from [Store.Collection].
package users
