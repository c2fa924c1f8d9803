// Package users stores accounts: users with their handles, passwords, rights and sessions. It
// implements social.Users and social.Sessions. [Deletion] removes what else belonged to a deleted
// user.
//
// A user's document also has the counts of follows. The package graph updates them, in the
// collection that it gets from [Store.Collection].
package users
