package model

import (
	"strconv"
	"time"

	"plaza/social"
	"plaza/social/network"
)

// Post is one of the five types below.
type Post interface {
	Node
	IsPost()
	Domain() *social.Post
}

// Each type of post.
type (
	StatusPost  struct{ BasePost }
	PhotoPost   struct{ BasePost }
	LinkPost    struct{ BasePost }
	CheckinPost struct{ BasePost }
	PollPost    struct{ BasePost }
)

// NewPost wraps a post by its type, for a viewer who sees it.
func NewPost(viewer *network.Viewer, p *social.Post) Post {
	base := BasePost{p, viewer}
	switch p.Content.Type() {
	case social.TypePhoto:
		return &PhotoPost{base}
	case social.TypeLink:
		return &LinkPost{base}
	case social.TypeCheckin:
		return &CheckinPost{base}
	case social.TypePoll:
		return &PollPost{base}
	default:
		return &StatusPost{base}
	}
}

// PostEdge is an entry of a list of posts.
type PostEdge struct {
	Cursor string
	Node   Post
	// Ad chooses what is to be shown behind the entry; nil: there is no place for an ad.
	Ad func() (*AdChoice, error)
}

// Sponsored resolves PostEdge.sponsored.
func (e *PostEdge) Sponsored() (*AdChoice, error) {
	if e.Ad == nil {
		return nil, nil
	}
	return e.Ad()
}

// BasePost has what all types of posts share.
type BasePost struct {
	*social.Post
	Viewer *network.Viewer
}

// IsNode marks posts as Nodes.
func (BasePost) IsNode() {}

// IsPost marks posts.
func (BasePost) IsPost() {}

// Domain is the post as the domain knows it.
func (b BasePost) Domain() *social.Post { return b.Post }

// Text is the post's own words.
func (b BasePost) Text() string { return b.Content.Text() }

// Audience is who may see the post.
func (b BasePost) Audience() *Audience { return &Audience{b} }

// Audience is the schema's Audience.
type Audience struct{ Of BasePost }

// Kind is which kind of audience it is.
func (a *Audience) Kind() social.AudienceKind {
	if social.IsHidden(a.Of.Post) {
		return social.AudienceOnlyMe
	}
	return a.Of.Post.Audience.Kind
}

// ReplyPolicy is who may reply: nil for everyone but the author.
func (b BasePost) ReplyPolicy() *ReplyPolicy {
	if !social.CanSeeReplyPolicy(b.Viewer.ID, b.Post) {
		return nil
	}
	return &ReplyPolicy{b.Replies}
}

// ReplyPolicy is the schema's ReplyPolicy, for the post's author.
type ReplyPolicy struct{ Of social.ReplyPolicy }

// Kind is which kind of policy it is.
func (r *ReplyPolicy) Kind() social.ReplyKind { return r.Of.Kind }

// CommentOrder is the order in which the thread is listed unless a client asks for another.
func (b BasePost) CommentOrder() social.CommentOrder { return b.Order }

// ViewerCanEdit says whether the viewer may edit the post.
func (b BasePost) ViewerCanEdit() bool { return social.CanEditPost(b.Viewer.ID, b.Post) }

// ViewerCanDelete says whether the viewer may delete the post.
func (b BasePost) ViewerCanDelete() bool { return social.CanDeletePost(b.Viewer.ID, b.Post) }

// NewPostVersion shows an earlier version of a post.
func NewPostVersion(v social.Version) *PostVersion {
	version := &PostVersion{Text: v.Content.Text(), ReplacedAt: v.EditedAt}
	switch c := v.Content; c.Type() {
	case social.TypePhoto:
		version.URL = &c.Photo.URL
	case social.TypeLink:
		version.URL, version.Title = &c.Link.URL, &c.Link.Title
	case social.TypeCheckin:
		version.Place = &c.Checkin.Place
		if c.Checkin.Photo != nil {
			version.URL = &c.Checkin.Photo.URL
		}
	case social.TypeStatus, social.TypePoll: // words alone
	}
	return version
}

// ReactionCounts has the kinds in the schema's order.
func (b BasePost) ReactionCounts() []*ReactionCount {
	counts := make([]*ReactionCount, 0, len(b.Reactions))
	for _, kind := range social.ReactionKinds {
		if n := b.Reactions[kind]; n > 0 {
			counts = append(counts, &ReactionCount{Kind: kind, Count: n})
		}
	}
	return counts
}

// URL is the address of the picture.
func (p *PhotoPost) URL() string { return p.Content.Photo.URL }

// Alt is what the picture shows, for those who do not see it.
func (p *PhotoPost) Alt() string { return p.Content.Photo.Alt }

// Caption is what the picture shows.
func (p *PhotoPost) Caption() string { return p.Content.Photo.Caption }

// Width is null where it is unknown.
func (p *PhotoPost) Width() *int { return Optional(p.Content.Photo.Width) }

// Height is null where it is unknown.
func (p *PhotoPost) Height() *int { return Optional(p.Content.Photo.Height) }

// URL is the page's address.
func (p *LinkPost) URL() string { return p.Content.Link.URL }

// Title is the page's title.
func (p *LinkPost) Title() string { return p.Content.Link.Title }

// Place is the place's name.
func (p *CheckinPost) Place() string { return p.Content.Checkin.Place }

// Latitude is in degrees north.
func (p *CheckinPost) Latitude() float64 { return p.Content.Checkin.Latitude }

// Longitude is in degrees east.
func (p *CheckinPost) Longitude() float64 { return p.Content.Checkin.Longitude }

// Photo is the picture of a check-in, or null.
func (p *CheckinPost) Photo() *Picture {
	if p.Content.Checkin.Photo == nil {
		return nil
	}
	return &Picture{p.Content.Checkin.Photo}
}

// Picture is the schema's Picture.
type Picture struct{ of *social.Picture }

// URL is the address of the picture.
func (p *Picture) URL() string { return p.of.URL }

// Alt is what the picture shows, for those who do not see it.
func (p *Picture) Alt() string { return p.of.Alt }

// Width is null where it is unknown.
func (p *Picture) Width() *int { return Optional(p.of.Width) }

// Height is null where it is unknown.
func (p *Picture) Height() *int { return Optional(p.of.Height) }

// Question is what the poll asks.
func (p *PollPost) Question() string { return p.Content.Poll.Question }

// Options are what can be voted for, with the counts.
func (p *PollPost) Options() []*PollOption {
	options := make([]*PollOption, len(p.Content.Poll.Options))
	for i, text := range p.Content.Poll.Options {
		options[i] = &PollOption{ID: p.Post.ID.Text("polloption") + "_" + strconv.Itoa(i), Index: i, Text: text, VotesCount: p.Votes[i]}
	}
	return options
}

// ClosesAt is the zero time where the poll never closes.
func (p *PollPost) ClosesAt() time.Time { return p.Content.Poll.ClosesAt }

// IsClosed says whether the poll is over.
func (p *PollPost) IsClosed() bool { return p.Viewer.IsClosed(p.Content.Poll) }

// ViewerCanVote says whether the viewer may vote, or move their vote.
func (p *PollPost) ViewerCanVote() bool { return p.Viewer.CanVote(p.Content.Poll) }

// VotesCount is how many have voted.
func (p *PollPost) VotesCount() int {
	sum := 0
	for _, n := range p.Votes {
		sum += n
	}
	return sum
}
