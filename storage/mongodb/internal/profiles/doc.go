// Package profiles implements social.Properties: it stores the definitions of properties, and the
// values that users have filled in. When a property is removed, a job removes its values
// ([JobForget]).
package profiles
