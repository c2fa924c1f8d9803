package sqlite

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"plaza/social"
	"plaza/storage/sqlite/internal/sqldb"
)

// postDoc is the part of a post, or of a version, that is stored as JSON.
type postDoc struct {
	circles []byte
	kind    social.PostType
	detail  string
}

func replyKind(p *social.Post) string { return string(cmp.Or(p.Replies.Kind, social.RepliesEveryone)) }

func commentOrder(p *social.Post) string { return string(cmp.Or(p.Order, social.OrderOldest)) }

func encodePost(a social.Audience, c social.Content) (doc postDoc, err error) {
	doc.circles = sqldb.JoinIDs(a.Circles)
	kind, detail, err := encodeContent(c)
	doc.kind, doc.detail = kind, string(detail)
	return doc, err
}

// The stored form of each type of content. These types keep the stored names if the domain renames
// a field. The conversions below do not compile if the domain adds a field.
type (
	statusDetail struct {
		Text string `json:"text,omitempty"`
	}
	photoDetail struct {
		URL     string `json:"url"`
		Alt     string `json:"alt,omitempty"`
		Caption string `json:"caption,omitempty"`
		Width   int    `json:"width,omitempty"`
		Height  int    `json:"height,omitempty"`
	}
	linkDetail struct {
		URL   string `json:"url"`
		Title string `json:"title,omitempty"`
		Text  string `json:"text,omitempty"`
	}
	checkinDetail struct {
		Place     string  `json:"place"`
		Latitude  float64 `json:"latitude"`
		Longitude float64 `json:"longitude"`
		Text      string  `json:"text,omitempty"`

		Photo *pictureDetail `json:"photo,omitempty"`
	}
	pictureDetail struct {
		URL    string `json:"url"`
		Alt    string `json:"alt,omitempty"`
		Width  int    `json:"width,omitempty"`
		Height int    `json:"height,omitempty"`
	}
	pollDetail struct {
		Question string   `json:"question"`
		Options  []string `json:"options"`
		ClosesAt int64    `json:"closesAt,omitempty"` // Unix microseconds
	}
)

func encodeContent(c social.Content) (social.PostType, []byte, error) {
	var kind social.PostType
	var detail any
	switch {
	case c.Status != nil:
		kind, detail = social.TypeStatus, statusDetail(*c.Status)
	case c.Photo != nil:
		kind, detail = social.TypePhoto, photoDetail(*c.Photo)
	case c.Link != nil:
		kind, detail = social.TypeLink, linkDetail(*c.Link)
	case c.Checkin != nil:
		kind, detail = social.TypeCheckin, newCheckinDetail(c.Checkin)
	case c.Poll != nil:
		kind, detail = social.TypePoll, pollDetail{c.Poll.Question, c.Poll.Options, sqldb.Moment(c.Poll.ClosesAt)}
	default:
		return "", nil, errors.New("a post without content")
	}
	encoded, err := encodeJSON(detail)
	return kind, encoded, err
}

func newCheckinDetail(c *social.Checkin) checkinDetail {
	return checkinDetail{Place: c.Place, Latitude: c.Latitude, Longitude: c.Longitude, Text: c.Text, Photo: (*pictureDetail)(c.Photo)}
}

// encodeJSON does not escape <, > and &.
func encodeJSON(value any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), err
}

func decodeContent(kind social.PostType, detail []byte) (c social.Content, err error) {
	switch kind {
	case social.TypeStatus:
		var d statusDetail
		err = json.Unmarshal(detail, &d)
		c.Status = (*social.Status)(&d)
	case social.TypePhoto:
		var d photoDetail
		err = json.Unmarshal(detail, &d)
		c.Photo = (*social.Photo)(&d)
	case social.TypeLink:
		var d linkDetail
		err = json.Unmarshal(detail, &d)
		c.Link = (*social.Link)(&d)
	case social.TypeCheckin:
		var d checkinDetail
		err = json.Unmarshal(detail, &d)
		c.Checkin = &social.Checkin{Place: d.Place, Latitude: d.Latitude, Longitude: d.Longitude, Text: d.Text, Photo: (*social.Picture)(d.Photo)}
	case social.TypePoll:
		var d pollDetail
		err = json.Unmarshal(detail, &d)
		c.Poll = &social.Poll{Question: d.Question, Options: d.Options, ClosesAt: sqldb.MomentOf(d.ClosesAt)}
	default:
		err = fmt.Errorf("a post of the unknown type %q", kind)
	}
	return c, err
}

// unmarshal reads a JSON column. An empty column leaves to unchanged.
func unmarshal(column []byte, to any) error {
	if len(column) == 0 {
		return nil
	}
	return json.Unmarshal(column, to)
}
