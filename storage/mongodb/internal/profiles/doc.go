// Package profiles keeps what users have filled in, and the definitions of what they can: as
// social.Properties says. What a user has filled in of a property that was removed goes in a job,
// [JobForget].
package profiles
