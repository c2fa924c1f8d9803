package relay

import (
	"strings"

	"plaza/ads"
	"plaza/fault"
	"plaza/social"
)

// UserID parses the id of a user. Errors of all these functions: those of ParseID.
func UserID(argument, text string) (social.UserID, error) {
	return ParseID(argument, "user", text, social.ParseUserID)
}

// CircleID parses the id of a circle.
func CircleID(argument, text string) (social.CircleID, error) {
	return ParseID(argument, "circle", text, social.ParseCircleID)
}

// PostID parses the id of a post.
func PostID(argument, text string) (social.PostID, error) {
	return ParseID(argument, "post", text, social.ParsePostID)
}

// CommentID parses the id of a comment.
func CommentID(argument, text string) (social.CommentID, error) {
	return ParseID(argument, "comment", text, social.ParseCommentID)
}

// NotificationID parses the id of a notification.
func NotificationID(argument, text string) (social.NotificationID, error) {
	return ParseID(argument, "notification", text, social.ParseNotificationID)
}

// SessionID parses the id of a session.
func SessionID(argument, text string) (social.SessionID, error) {
	return ParseID(argument, "session", text, social.ParseSessionID)
}

// AccessTokenID parses the id of an access token.
func AccessTokenID(argument, text string) (social.AccessTokenID, error) {
	return ParseID(argument, "access token", text, social.ParseAccessTokenID)
}

// InvitationID parses the id of an invitation.
func InvitationID(argument, text string) (social.InvitationID, error) {
	return ParseID(argument, "invitation", text, social.ParseInvitationID)
}

// CaseID parses the id of a case.
func CaseID(argument, text string) (social.CaseID, error) {
	return ParseID(argument, "case", text, social.ParseCaseID)
}

// SubjectID parses the id of a post, a comment or a user that is reported.
func SubjectID(argument, text string) (s social.Subject, err error) {
	switch prefix, _, _ := strings.Cut(text, "_"); prefix {
	case social.PostPrefix:
		s.Post, err = PostID(argument, text)
	case social.CommentPrefix:
		s.Comment, err = CommentID(argument, text)
	case social.UserPrefix:
		s.User, err = UserID(argument, text)
	default:
		err = fault.Invalidf(argument, "This is not the id of a post, a comment or a user.")
	}
	return s, err
}

// AdvertiserID parses the id of an advertiser.
func AdvertiserID(argument, text string) (ads.AdvertiserID, error) {
	return ParseID(argument, "advertiser", text, ads.ParseAdvertiserID)
}

// CampaignID parses the id of a campaign.
func CampaignID(argument, text string) (ads.CampaignID, error) {
	return ParseID(argument, "campaign", text, ads.ParseCampaignID)
}

// AdUnitID parses the id of an ad.
func AdUnitID(argument, text string) (ads.UnitID, error) {
	return ParseID(argument, "ad", text, ads.ParseUnitID)
}

// AdChoiceID parses the id of a choice of an ad.
func AdChoiceID(argument, text string) (ads.ChoiceID, error) {
	return ParseID(argument, "choice", text, ads.ParseChoiceID)
}

// AdPersonID parses the id of a person who has seen ads.
func AdPersonID(argument, text string) (ads.ProfileID, error) {
	return ParseID(argument, "person", text, ads.ParseProfileID)
}

// ParseID parses the id of an object of that kind. Errors: INVALID; NOT_FOUND for the zero id,
// which means "none" in the domain.
func ParseID[ID interface{ IsZero() bool }](argument, kind, text string, parse func(string) (ID, error)) (ID, error) {
	parsed, err := parse(text)
	switch {
	case err != nil:
		return parsed, fault.Invalidf(argument, "This is not the id of %s %s.", article(kind), kind)
	case parsed.IsZero():
		return parsed, fault.NotFound(argument, kind)
	default:
		return parsed, nil
	}
}

// SetID parses an id if one was given.
func SetID[ID any](to *ID, argument string, given *string, parse func(argument, text string) (ID, error)) (err error) {
	if given != nil {
		*to, err = parse(argument, *given)
	}
	return err
}

// article returns the indefinite article of a noun, by its first letter, except for "user".
func article(noun string) string {
	if strings.IndexByte("aeio", noun[0]) >= 0 {
		return "an"
	}
	return "a"
}
