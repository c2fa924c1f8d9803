// Package moderation stores reports and cases, as social.Cases says.
package moderation
