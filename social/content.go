package social

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"plaza/fault"
)

// Check validates the content of a new post.
func (c Content) Check(now time.Time) error {
	if n := c.fieldsSet(); n != 1 {
		return fault.Invalidf("content", "Exactly one kind of content must be given; got %d.", n)
	}
	switch c.Type() {
	case TypeStatus:
		return fault.CheckText("content.status.text", c.Status.Text, 1, MaxTextLen)
	case TypePhoto:
		return c.Photo.check()
	case TypeLink:
		return c.Link.check()
	case TypeCheckin:
		return c.Checkin.check()
	default:
		return c.Poll.check(now)
	}
}

// Rest returns what a content says besides its Text, and the addresses in it.
func (c Content) Rest() (details, urls []string) {
	switch {
	case c.Photo != nil:
		details, urls = []string{c.Photo.Alt}, []string{c.Photo.URL}
	case c.Link != nil:
		details, urls = []string{c.Link.Title}, []string{c.Link.URL}
	case c.Checkin != nil:
		details = []string{c.Checkin.Place}
		if picture := c.Checkin.Photo; picture != nil {
			details, urls = append(details, picture.Alt), []string{picture.URL}
		}
	case c.Poll != nil:
		details = slices.Clone(c.Poll.Options)
	}
	return slices.DeleteFunc(details, func(text string) bool { return text == "" }), urls
}

// TextLen returns how many bytes its Text, its details and its addresses have.
func (c Content) TextLen() int {
	details, urls := c.Rest()
	n := len(c.Text())
	for _, texts := range [][]string{details, urls} {
		for _, text := range texts {
			n += len(text)
		}
	}
	return n
}

func (c Content) fieldsSet() int {
	n := 0
	for _, set := range []bool{c.Status != nil, c.Photo != nil, c.Link != nil, c.Checkin != nil, c.Poll != nil} {
		if set {
			n++
		}
	}
	return n
}

func (p *Photo) check() error {
	return fault.All(
		Picture{p.URL, p.Alt, p.Width, p.Height}.check("content.photo"),
		fault.CheckText("content.photo.caption", p.Caption, 0, MaxTextLen),
	)
}

func (p Picture) check(field string) error {
	return fault.All(
		fault.CheckURL(field+".url", p.URL),
		checkPixels(field+".width", "width", p.Width),
		checkPixels(field+".height", "height", p.Height),
		fault.CheckLine(field+".alt", p.Alt, 0, MaxAltLen),
	)
}

func checkPixels(field, what string, n int) error {
	if n < 0 || n > MaxPixels {
		return fault.Invalidf(field, "A %s must be 1 to %d pixels.", what, MaxPixels)
	}
	return nil
}

func (l *Link) check() error {
	return fault.All(
		fault.CheckURL("content.link.url", l.URL),
		fault.CheckLine("content.link.title", l.Title, 0, MaxTitleLen),
		fault.CheckText("content.link.text", l.Text, 0, MaxTextLen),
	)
}

func (c *Checkin) check() error {
	var picture error
	if c.Photo != nil {
		picture = c.Photo.check("content.checkin.photo")
	}
	return fault.All(
		fault.CheckLine("content.checkin.place", c.Place, 1, MaxPlaceLen),
		checkDegrees("content.checkin.latitude", "latitude", c.Latitude, 90),
		checkDegrees("content.checkin.longitude", "longitude", c.Longitude, 180),
		fault.CheckText("content.checkin.text", c.Text, 0, MaxTextLen),
		picture,
	)
}

func checkDegrees(field, what string, degrees, most float64) error {
	if !(math.Abs(degrees) <= most) { // also rejects NaN
		return fault.Invalidf(field, "A %s must be -%g to %g degrees.", what, most, most)
	}
	return nil
}

func (p *Poll) check(now time.Time) error {
	return fault.All(p.checkQuestion(), p.checkOptions(), p.checkClosing(now))
}

func (p *Poll) checkOptions() error {
	if err := fault.CheckCount("content.poll.options", len(p.Options), MinPollOptions, MaxPollOptions); err != nil {
		return err
	}
	wrong := make([]error, len(p.Options))
	for i, option := range p.Options {
		field := fmt.Sprintf("content.poll.options.%d", i)
		same := func(other string) bool { return strings.TrimSpace(other) == strings.TrimSpace(option) }
		wrong[i] = fault.CheckLine(field, option, 1, MaxPollOptionLen)
		if wrong[i] == nil && slices.IndexFunc(p.Options, same) != i {
			wrong[i] = fault.Invalidf(field, "This option is a duplicate.")
		}
	}
	return fault.All(wrong...)
}

func (p *Poll) checkClosing(now time.Time) error {
	if !p.ClosesAt.IsZero() && !p.ClosesAt.After(now) {
		return fault.Invalidf("content.poll.closesAt", "A poll must close in the future.")
	}
	return nil
}

// CheckReplacement validates new content without knowing the post: of a poll, only the question can
// change.
func (c Content) CheckReplacement(now time.Time) error {
	if c.Poll != nil && c.fieldsSet() == 1 {
		return c.Poll.checkQuestion()
	}
	return c.Check(now)
}

// CheckEdit validates the replacement of old by c.
func (c Content) CheckEdit(old Content, now time.Time) error {
	if c.fieldsSet() == 1 && c.Type() != old.Type() {
		return fault.Invalidf("content", "The type of a post can't be changed; it is %s.", old.Type())
	}
	if c.Poll != nil && old.Poll != nil {
		return c.Poll.checkEdit(old.Poll)
	}
	return c.Check(now)
}

// checkEdit only allows changing the question: people have voted for the options, and rely on the
// closing time.
func (p *Poll) checkEdit(old *Poll) error {
	var options, closing error
	if !slices.Equal(p.Options, old.Options) {
		options = fault.Invalidf("content.poll.options", "A poll's options can't be changed.")
	}
	if !p.ClosesAt.IsZero() && !p.ClosesAt.Equal(old.ClosesAt) {
		closing = fault.Invalidf("content.poll.closesAt", "A poll's closing time can't be changed.")
	}
	return fault.All(p.checkQuestion(), options, closing)
}

func (p *Poll) checkQuestion() error {
	return fault.CheckText("content.poll.question", p.Question, 1, MaxQuestionLen)
}

// Edited returns c as the replacement of old: a poll keeps its closing time.
func (c Content) Edited(old Content) Content {
	if c.Poll != nil {
		kept := *c.Poll
		kept.ClosesAt = old.Poll.ClosesAt
		c.Poll = &kept
	}
	return c
}
