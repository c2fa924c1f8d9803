package social

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"plaza/fault"
)

// PublicationKind is what an author does that publishes something.
type PublicationKind string

// The kinds of publications.
const (
	PublishPost        PublicationKind = "post.create"
	PublishPostEdit    PublicationKind = "post.edit"
	PublishAudience    PublicationKind = "post.audience" // a post gets an audience that is reviewed
	PublishComment     PublicationKind = "comment.create"
	PublishCommentEdit PublicationKind = "comment.edit"
)

// maxRejectionLen limits what an author reads of a Verdict's reason, in characters.
const maxRejectionLen = 500

// Publication is what an author is about to publish, for a Reviewer.
type Publication struct {
	Kind     PublicationKind
	Author   UserID
	Handle   string       // the author's
	Audience AudienceKind // of the post
	Post     PostID       // the post that exists; zero: it is new
	Comment  CommentID    // the comment that is edited; zero: there is none
	Content  Content      // of a post
	Text     string       // of a comment
}

// IsPost reports whether it is a post, and not a comment.
func (p *Publication) IsPost() bool {
	return p.Kind == PublishPost || p.Kind == PublishPostEdit || p.Kind == PublishAudience
}

// Verdict is what a Reviewer decides.
type Verdict struct {
	Allowed bool
	Reason  string // for the author; may be empty
}

// Reviewer decides whether something may be published, before it is stored. It is safe for
// concurrent use.
type Reviewer interface {
	// Review returns within a few seconds. Every error means that the Reviewer could not decide; it
	// has logged the cause.
	Review(ctx context.Context, p *Publication) (Verdict, error)
}

// Rejection is the error of a verdict that does not allow to publish: REJECTED, with the reason
// without control characters, at most 500 characters of it.
func (v Verdict) Rejection() error {
	runes := slices.DeleteFunc([]rune(strings.ToValidUTF8(v.Reason, "")), unicode.IsControl)
	if len(runes) == 0 {
		runes = []rune("This site does not publish this.")
	}
	return fault.Errorf(fault.CodeRejected, "", "%s", string(runes[:min(len(runes), maxRejectionLen)]))
}
