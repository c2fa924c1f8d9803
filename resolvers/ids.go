package resolvers

import (
	"strings"

	"plaza/ads"
	"plaza/fault"
	"plaza/social"
)

func userID(field, text string) (social.UserID, error) {
	return parseID(field, "user", text, social.ParseUserID)
}

func circleID(field, text string) (social.CircleID, error) {
	return parseID(field, "circle", text, social.ParseCircleID)
}

func postID(field, text string) (social.PostID, error) {
	return parseID(field, "post", text, social.ParsePostID)
}

func commentID(field, text string) (social.CommentID, error) {
	return parseID(field, "comment", text, social.ParseCommentID)
}

func notificationID(field, text string) (social.NotificationID, error) {
	return parseID(field, "notification", text, social.ParseNotificationID)
}

func advertiserID(field, text string) (ads.AdvertiserID, error) {
	return parseID(field, "advertiser", text, ads.ParseAdvertiserID)
}

func campaignID(field, text string) (ads.CampaignID, error) {
	return parseID(field, "campaign", text, ads.ParseCampaignID)
}

func adUnitID(field, text string) (ads.UnitID, error) {
	return parseID(field, "ad", text, ads.ParseUnitID)
}

func choiceID(field, text string) (ads.ChoiceID, error) {
	return parseID(field, "choice", text, ads.ParseChoiceID)
}

func adPersonID(field, text string) (ads.ProfileID, error) {
	return parseID(field, "person", text, ads.ParseProfileID)
}

// parseID parses an id argument. Errors: INVALID; NOT_FOUND for the zero id, which means "none" in
// the domain.
func parseID[ID interface{ IsZero() bool }](field, kind, text string, parse func(string) (ID, error)) (ID, error) {
	parsed, err := parse(text)
	switch {
	case err != nil:
		return parsed, fault.Invalidf(field, "This is not the id of %s %s.", article(kind), kind)
	case parsed.IsZero():
		return parsed, fault.NotFound(field, kind)
	default:
		return parsed, nil
	}
}

// article returns the indefinite article of a noun, by its first letter, except for "user".
func article(noun string) string {
	if strings.IndexByte("aeio", noun[0]) >= 0 {
		return "an"
	}
	return "a"
}
