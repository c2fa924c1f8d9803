package export

import (
	"time"

	"plaza/social"
)

// The records, as docs/export.md describes them. Times are in UTC.

type profile struct {
	ID             string         `json:"id"`
	Handle         string         `json:"handle"`
	Name           string         `json:"name"`
	Bio            string         `json:"bio"`
	AvatarURL      string         `json:"avatarUrl,omitempty"`
	WallPolicy     string         `json:"wallPolicy"`
	CreatedAt      time.Time      `json:"createdAt"`
	FollowersCount int            `json:"followersCount"`
	FollowingCount int            `json:"followingCount"`
	Rights         []social.Right `json:"rights"`
}

func newProfile(u *social.User) profile {
	return profile{
		ID: u.ID.String(), Handle: u.Handle, Name: u.Name, Bio: u.Bio, AvatarURL: u.AvatarURL, WallPolicy: string(u.WallPolicy), CreatedAt: u.CreatedAt().UTC(),
		FollowersCount: u.FollowersCount, FollowingCount: u.FollowingCount, Rights: append([]social.Right{}, u.RightsInOrder()...),
	}
}

type email struct {
	Address   string `json:"address"`
	Confirmed bool   `json:"confirmed"`
}

type property struct {
	Key        string `json:"key"`
	Label      string `json:"label"`
	Value      any    `json:"value"`
	Visibility string `json:"visibility"`
}

func newProperty(p *social.Property, v social.ProfileValue) property {
	return property{p.Key, p.Label, valueOf(p, v.Value), string(v.Visibility)}
}

func valueOf(p *social.Property, v social.PropertyValue) any {
	switch {
	case p.Type == social.PropertyBool:
		return v.Number != 0
	case p.Type == social.PropertyInt:
		return int64(v.Number)
	case v.IsNumber:
		return v.Number
	default:
		return v.Text
	}
}

type setting struct {
	Kind    string `json:"kind"`
	Enabled bool   `json:"enabled"`
}

type session struct {
	ID         string    `json:"id"`
	CreatedAt  time.Time `json:"createdAt"`
	LastUsedAt time.Time `json:"lastUsedAt"`
	ExpiresAt  time.Time `json:"expiresAt"`
}

func newSession(s social.Session) session {
	return session{s.ID().String(), s.Began().UTC(), s.LastUse().UTC(), s.ExpiresAt.UTC()}
}

type accessToken struct {
	ID         string         `json:"id"`
	Name       string         `json:"name"`
	Scopes     []social.Scope `json:"scopes"`
	CreatedAt  time.Time      `json:"createdAt"`
	LastUsedAt *time.Time     `json:"lastUsedAt,omitempty"`
	ExpiresAt  time.Time      `json:"expiresAt"`
}

func newAccessToken(s social.Session) accessToken {
	return accessToken{
		ID: s.AccessTokenID().String(), Name: s.Grant.Name, Scopes: append([]social.Scope{}, s.Grant.Scopes...),
		CreatedAt: s.Began().UTC(), LastUsedAt: moment(s.UsedAt), ExpiresAt: s.ExpiresAt.UTC(),
	}
}

type invitation struct {
	ID        string    `json:"id"`
	CreatedAt time.Time `json:"createdAt"`
	ExpiresAt time.Time `json:"expiresAt"`
	IsUsed    bool      `json:"isUsed"`
}

func newInvitation(i social.Invitation) invitation {
	return invitation{i.ID.String(), i.CreatedAt.UTC(), i.ExpiresAt.UTC(), i.IsUsedUp()}
}

// moment returns nil for the zero time.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

type circle struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	IsDefault bool      `json:"isDefault"`
	CreatedAt time.Time `json:"createdAt"`
}

func newCircle(c *social.Circle) circle {
	return circle{c.ID.String(), c.Name, c.IsDefault, c.CreatedAt().UTC()}
}

// person is another user.
type person struct {
	UserID string    `json:"userId"`
	Handle string    `json:"handle,omitempty"` // empty: deleted while the export was read
	Since  time.Time `json:"since"`
}

func newPerson(e social.Edge, u *social.User) person {
	p := person{UserID: e.To.String(), Since: e.ID.Time().UTC()}
	if u != nil {
		p.Handle = u.Handle
	}
	return p
}

type circleMember struct {
	CircleID string `json:"circleId"`
	person
}

type audience struct {
	Kind      string   `json:"kind"`
	CircleIDs []string `json:"circleIds,omitempty"`
}

func newAudience(a social.Audience) audience {
	kind := a.Kind
	if kind == social.AudienceHidden {
		kind = social.AudienceOnlyMe // as clients see it
	}
	return audience{string(kind), texts(a.Circles)}
}

func texts(circles []social.CircleID) []string {
	all := make([]string, len(circles))
	for i, c := range circles {
		all[i] = c.String()
	}
	return all
}

type post struct {
	ID           string     `json:"id"`
	WallOwnerID  string     `json:"wallOwnerId,omitempty"` // empty: the author's own wall, or that of a user the author may not see
	CreatedAt    time.Time  `json:"createdAt"`
	EditedAt     *time.Time `json:"editedAt,omitempty"`
	Audience     audience   `json:"audience"`
	Replies      audience   `json:"replies"`
	CommentOrder string     `json:"commentOrder"`
	Content      content    `json:"content"`
	History      []version  `json:"history,omitempty"`
}

type version struct {
	Content    content   `json:"content"`
	Audience   audience  `json:"audience"`
	ReplacedAt time.Time `json:"replacedAt"`
}

// newPost makes a record of a post. wallOwner is nil if the author owns the wall, or may not see its
// owner.
func newPost(p *social.Post, wallOwner *social.User, versions []social.Version) post {
	exported := post{
		ID: p.ID.String(), CreatedAt: p.CreatedAt().UTC(), EditedAt: moment(p.EditedAt), Audience: newAudience(p.Audience),
		Replies: audience{string(p.Replies.Kind), texts(p.Replies.Circles)}, CommentOrder: string(p.Order), Content: newContent(p.Content),
	}
	if wallOwner != nil {
		exported.WallOwnerID = wallOwner.ID.String()
	}
	for _, v := range versions {
		exported.History = append(exported.History, version{newContent(v.Content), newAudience(v.Audience), v.EditedAt.UTC()})
	}
	return exported
}

// content has the fields of all types of posts. Text is a status, the caption of a photo, or the
// question of a poll, too.
type content struct {
	Type      string     `json:"type"`
	Text      string     `json:"text"`
	Title     string     `json:"title,omitempty"`
	URL       string     `json:"url,omitempty"`
	Photo     *picture   `json:"photo,omitempty"`
	Place     string     `json:"place,omitempty"`
	Latitude  *float64   `json:"latitude,omitempty"`
	Longitude *float64   `json:"longitude,omitempty"`
	Options   []string   `json:"options,omitempty"`
	ClosesAt  *time.Time `json:"closesAt,omitempty"`
}

type picture struct {
	URL    string `json:"url"`
	Alt    string `json:"alt,omitempty"`
	Width  int    `json:"width,omitempty"` // pixels
	Height int    `json:"height,omitempty"`
}

func newContent(c social.Content) content {
	exported := content{Type: string(c.Type()), Text: c.Text()}
	switch {
	case c.Photo != nil:
		exported.Photo = &picture{c.Photo.URL, c.Photo.Alt, c.Photo.Width, c.Photo.Height}
	case c.Link != nil:
		exported.URL, exported.Title = c.Link.URL, c.Link.Title
	case c.Checkin != nil:
		exported.Place, exported.Latitude, exported.Longitude = c.Checkin.Place, &c.Checkin.Latitude, &c.Checkin.Longitude
		if p := c.Checkin.Photo; p != nil {
			exported.Photo = &picture{p.URL, p.Alt, p.Width, p.Height}
		}
	case c.Poll != nil:
		exported.Options, exported.ClosesAt = c.Poll.Options, moment(c.Poll.ClosesAt)
	}
	return exported
}

type comment struct {
	ID        string     `json:"id"`
	PostID    string     `json:"postId"`
	ParentID  string     `json:"parentId,omitempty"`
	Slug      string     `json:"slug"`
	CreatedAt time.Time  `json:"createdAt"`
	EditedAt  *time.Time `json:"editedAt,omitempty"`
	Text      string     `json:"text"`
}

func newComment(c *social.Comment) comment {
	exported := comment{ID: c.ID.String(), PostID: c.Post.String(), Slug: c.Slug, CreatedAt: c.CreatedAt().UTC(), EditedAt: moment(c.EditedAt), Text: c.Text}
	if !c.Parent.IsZero() {
		exported.ParentID = c.Parent.String()
	}
	return exported
}

// The posts of reactions, votes and muted threads may be those that the user can no longer see, so
// nothing but their ids is listed.
type reaction struct {
	PostID string `json:"postId"`
	Kind   string `json:"kind"`
}

type vote struct {
	PostID string `json:"postId"`
	Option int    `json:"option"` // counted from 0
}

type threadMute struct {
	PostID string `json:"postId"`
}

type decision struct {
	ID        string     `json:"id"`
	SubjectID string     `json:"subjectId"`
	Action    string     `json:"action"`
	Reason    string     `json:"reason"`
	At        time.Time  `json:"at"`
	Until     *time.Time `json:"until,omitempty"` // of a suspension
}

func newDecision(d *social.Decision) decision {
	return decision{d.ID.String(), d.Subject.String(), string(d.Action), d.Reason, d.At.UTC(), moment(d.Until)}
}

// report has no word about what was reported but its id, because the user may no longer see it.
type report struct {
	SubjectID string    `json:"subjectId"`
	Reason    string    `json:"reason"`
	Text      string    `json:"text"`
	At        time.Time `json:"at"`
}

func newReport(r *social.Report) report {
	return report{r.Subject.String(), string(r.Reason), r.Text, r.At.UTC()}
}

// Sighting is an ad that was shown, as a cap counts it: a cap of the ad, of its campaign or of its
// advertiser. One of the three ids is set, or none, if what it named is gone.
type Sighting struct {
	ChoiceID     string    `json:"choiceId"`
	AdID         string    `json:"adId,omitempty"`
	CampaignID   string    `json:"campaignId,omitempty"`
	AdvertiserID string    `json:"advertiserId,omitempty"`
	At           time.Time `json:"at"`
}

// key identifies the sighting among those of a user.
func (s *Sighting) key() social.Key {
	return social.Key(s.ChoiceID + " " + s.AdID + " " + s.CampaignID + " " + s.AdvertiserID)
}
