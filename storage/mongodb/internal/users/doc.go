// Package users keeps accounts: users, their handles and passwords, their rights, and their sessions,
// as social.Users and social.Sessions say. What a deletion leaves behind is removed by others.
//
// Each user's document also counts follows, which the package of the follower graph does with
// [Store.Collection].
package users
