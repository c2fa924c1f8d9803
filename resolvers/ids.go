package resolvers

import (
	"plaza/social"
)

// malformed is the mistake of an argument that is no id of the kind that it should be.
func malformed(field, kind string) error {
	return &social.Error{Code: social.CodeInvalid, Field: field, Message: "This is not the id of a " + kind + "."}
}

func userID(field, text string) (social.UserID, error) {
	parsed, err := social.ParseUserID(text)
	if err != nil {
		return parsed, malformed(field, "user")
	}
	return parsed, nil
}

func circleID(field, text string) (social.CircleID, error) {
	parsed, err := social.ParseCircleID(text)
	if err != nil {
		return parsed, malformed(field, "circle")
	}
	return parsed, nil
}

func postID(field, text string) (social.PostID, error) {
	parsed, err := social.ParsePostID(text)
	if err != nil {
		return parsed, malformed(field, "post")
	}
	return parsed, nil
}

func commentID(field, text string) (social.CommentID, error) {
	parsed, err := social.ParseCommentID(text)
	if err != nil {
		return parsed, malformed(field, "comment")
	}
	return parsed, nil
}
