package social

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"plaza/fault"
)

// check says what is wrong with a content that somebody wants to post now.
func (c Content) check(now time.Time) error {
	if n := c.fieldsSet(); n != 1 {
		return fault.Invalidf("content", "Exactly one kind of content must be given; here are %d.", n)
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
	if err := fault.CheckURL("content.photo.url", p.URL); err != nil {
		return err
	}
	if p.Width < 0 || p.Width > MaxPixels {
		return fault.Invalidf("content.photo.width", "A width is 1 to %d pixels.", MaxPixels)
	}
	if p.Height < 0 || p.Height > MaxPixels {
		return fault.Invalidf("content.photo.height", "A height is 1 to %d pixels.", MaxPixels)
	}
	if err := fault.CheckLine("content.photo.alt", p.Alt, 0, MaxAltLen); err != nil {
		return err
	}
	return fault.CheckText("content.photo.caption", p.Caption, 0, MaxTextLen)
}

func (l *Link) check() error {
	if err := fault.CheckURL("content.link.url", l.URL); err != nil {
		return err
	}
	if err := fault.CheckLine("content.link.title", l.Title, 0, MaxTitleLen); err != nil {
		return err
	}
	return fault.CheckText("content.link.text", l.Text, 0, MaxTextLen)
}

func (c *Checkin) check() error {
	if err := fault.CheckLine("content.checkin.place", c.Place, 1, MaxPlaceLen); err != nil {
		return err
	}
	if !(math.Abs(c.Latitude) <= 90) { // also refuses NaN
		return fault.Invalidf("content.checkin.latitude", "A latitude is -90 to 90 degrees.")
	}
	if !(math.Abs(c.Longitude) <= 180) {
		return fault.Invalidf("content.checkin.longitude", "A longitude is -180 to 180 degrees.")
	}
	return fault.CheckText("content.checkin.text", c.Text, 0, MaxTextLen)
}

func (p *Poll) check(now time.Time) error {
	if err := fault.CheckText("content.poll.question", p.Question, 1, MaxQuestionLen); err != nil {
		return err
	}
	if len(p.Options) < MinPollOptions || len(p.Options) > MaxPollOptions {
		return fault.Invalidf("content.poll.options", "A poll has %d to %d options.", MinPollOptions, MaxPollOptions)
	}
	for i, option := range p.Options {
		field := fmt.Sprintf("content.poll.options.%d", i)
		if err := fault.CheckLine(field, option, 1, MaxPollOptionLen); err != nil {
			return err
		}
		same := func(other string) bool { return strings.TrimSpace(other) == strings.TrimSpace(option) }
		if slices.IndexFunc(p.Options, same) != i {
			return fault.Invalidf(field, "This option is there twice.")
		}
	}
	if !p.ClosesAt.IsZero() && !p.ClosesAt.After(now) {
		return fault.Invalidf("content.poll.closesAt", "A poll closes in the future.")
	}
	return nil
}

// checkEdit says what is wrong with replacing old by c.
func (c Content) checkEdit(old Content, now time.Time) error {
	if c.fieldsSet() == 1 && c.Type() != old.Type() {
		return fault.Invalidf("content", "A post keeps its type, which is %s.", old.Type())
	}
	if c.Poll != nil && old.Poll != nil {
		return c.Poll.checkEdit(old.Poll, now)
	}
	return c.check(now)
}

// checkEdit lets the question alone change: the votes were given for these options, until that time.
func (p *Poll) checkEdit(old *Poll, now time.Time) error {
	if !slices.Equal(p.Options, old.Options) {
		return fault.Invalidf("content.poll.options", "A poll keeps its options.")
	}
	if !p.ClosesAt.IsZero() && !p.ClosesAt.Equal(old.ClosesAt) {
		return fault.Invalidf("content.poll.closesAt", "A poll keeps its closing time.")
	}
	undated := *p
	undated.ClosesAt = time.Time{} // which may be over by now
	return undated.check(now)
}

// edited is c in the place of old: a poll keeps its closing time.
func (c Content) edited(old Content) Content {
	if c.Poll != nil {
		kept := *c.Poll
		kept.ClosesAt = old.Poll.ClosesAt
		c.Poll = &kept
	}
	return c
}
