// Package users stores accounts: users with their handles, passwords, rights, sessions, and
// identities on other sites. It implements social.Users, social.Sessions and social.Identities.
// [Deletion] removes what else belonged to a deleted user.
//
// A user's document also has the counts of follows. The package graph updates them, in the
// collection that it gets from [Store.Collection].
package users
