// Package moderation stores reports and cases, as social.Cases says. Each report changes the one document that numbers
// the openings of cases, so there is one transaction at a time, and the order of cases is the order of commits.
package moderation
