// Package moderation stores reports, cases and decisions, as social.Cases and social.Decisions say. Each report and each
// decision changes the one document that numbers them, so there is one transaction at a time, and the order of cases and decisions is the order of commits.
package moderation
