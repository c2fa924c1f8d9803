// Package users keeps accounts: users, their handles and passwords, their rights, their sessions, and
// their identities on other sites, as social.Users, social.Sessions and social.Identities say. What a deleted user leaves behind is up to [Deletion].
//
// A user's document also counts follows. That is done by the package of the follower graph, in the
// collection that it gets from [Store.Collection].
package users
