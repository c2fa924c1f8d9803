// Package moderation stores reports, cases and decisions, as social.Cases and social.Decisions say.
package moderation
