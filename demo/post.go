package demo

import (
	"context"
	"fmt"
	"strings"
	"time"

	"plaza/social"
	"plaza/social/network"
)

// post is one post of the script, with everything that happens to it.
type post struct {
	name      string // unique
	day       int    // from 0
	clock     string // hours:minutes, UTC
	by        string
	on        string // whose wall; "": the author's own
	to        audience
	content   social.Content
	closes    int // of a poll: the day on which it closes, at 20:00
	edited    *edit
	votes     [][]string // of a poll: for each option
	reactions reactions
	comments  []comment
}

// audience is a post's audience; the zero value is everyone.
type audience struct {
	kind    social.AudienceKind
	circles []string // the author's
}

var (
	toCircles = audience{kind: social.AudienceCircles}
	toNobody  = audience{kind: social.AudienceOnlyMe}
)

// toThe returns the audience of the members of some of the author's circles.
func toThe(circles ...string) audience { return audience{social.AudienceListed, circles} }

// edit replaces a post's content some minutes after it was made.
type edit struct {
	minutes int
	content social.Content
}

// reactions are the people who react, by kind of reaction.
type reactions map[social.ReactionKind][]string

// The kinds of reactions, in short.
const (
	like  = social.ReactionLike
	love  = social.ReactionLove
	laugh = social.ReactionLaugh
	wow   = social.ReactionWow
	sad   = social.ReactionSad
	angry = social.ReactionAngry
)

func status(text string) social.Content { return social.Content{Status: &social.Status{Text: text}} }

// photo returns a picture that Pictures serves; hung converts its name to an address.
func photo(name string, width, height int, caption string) social.Content {
	return social.Content{Photo: &social.Photo{URL: photoName(name), Caption: caption, Width: width, Height: height}}
}

func link(path, title, text string) social.Content {
	return social.Content{Link: &social.Link{URL: "https://example.com/" + path, Title: title, Text: text}}
}

func checkin(place string, latitude, longitude float64, text string) social.Content {
	return social.Content{Checkin: &social.Checkin{Place: place, Latitude: latitude, Longitude: longitude, Text: text}}
}

func poll(question string, options ...string) social.Content {
	return social.Content{Poll: &social.Poll{Question: question, Options: options}}
}

// after converts a time of the script to the time since the community's beginning.
func after(day int, clock string) time.Duration {
	at, err := time.Parse("15:04", clock)
	if err != nil {
		panic(err) // the script is part of the program, and its tests play all of it
	}
	return time.Duration(day)*24*time.Hour + time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute - opening
}

func (p *post) after() time.Duration { return after(p.day, p.clock) }

// staged adds the data that only the stage knows to a content: the poll's closing time, from its
// calendar, and the address of the photo.
func (p *post) staged(s *stage, c social.Content) social.Content {
	if c.Poll == nil {
		return s.hung(c)
	}
	closing := *c.Poll
	closing.ClosesAt = s.at(after(p.closes, "20:00"))
	return social.Content{Poll: &closing}
}

// steps returns all steps of the post's part of the script.
func (p *post) steps() []step {
	steps := []step{{name: "post/" + p.name, after: p.after(), makes: aPost, do: p.publish}}
	steps = append(steps, p.voteSteps()...)
	steps = append(steps, p.reactionSteps()...)
	if p.edited != nil {
		at := p.after() + time.Duration(p.edited.minutes)*time.Minute
		steps = append(steps, step{name: p.stepName("edit"), after: at, do: p.edit})
	}
	for i, c := range p.comments {
		steps = append(steps, c.steps(p.id, nil, fmt.Sprintf("%s/%d", p.name, i), p.after())...)
	}
	return steps
}

func (p *post) stepName(parts ...string) string {
	return "post/" + p.name + "/" + strings.Join(parts, "/")
}

func (p *post) id(s *stage) social.PostID { return s.postID("post/"+p.name, p.after()) }

func (p *post) publish(ctx context.Context, s *stage) error {
	in := network.NewPost{Content: p.staged(s, p.content), Audience: social.Audience{Kind: social.AudiencePublic}, Order: social.OrderThreaded}
	if p.to.kind != "" {
		in.Audience.Kind = p.to.kind
	}
	for _, name := range p.to.circles {
		in.Audience.Circles = append(in.Audience.Circles, s.circle(p.by, name))
	}
	if p.on != "" {
		in.WallOwner = s.user(p.on)
	}
	made, err := s.social.CreatePost(ctx, s.user(p.by), in)
	if err != nil {
		return err
	}
	return expect(made.ID, p.id(s))
}

func (p *post) edit(ctx context.Context, s *stage) error {
	stored, err := s.store.Posts(ctx, []social.PostID{p.id(s)})
	if err != nil {
		return err
	}
	if post := stored[p.id(s)]; post != nil && !post.EditedAt.IsZero() { // done already
		return nil
	}
	_, err = s.social.EditPost(ctx, s.user(p.by), p.id(s), p.staged(s, p.edited.content))
	return err
}

func (p *post) voteSteps() (steps []step) {
	for option, voters := range p.votes {
		for i, voter := range voters {
			steps = append(steps, step{
				name:  p.stepName("vote", voter),
				after: p.after() + time.Duration(11+7*i+3*option)*time.Minute,
				do: func(ctx context.Context, s *stage) error {
					return s.social.Vote(ctx, s.user(voter), p.id(s), option)
				},
			})
		}
	}
	return steps
}

func (p *post) reactionSteps() (steps []step) {
	for i, kind := range social.ReactionKinds {
		for j, who := range p.reactions[kind] {
			steps = append(steps, step{
				name:  p.stepName("react", who),
				after: p.after() + time.Duration(5+4*j+i)*time.Minute,
				do: func(ctx context.Context, s *stage) error {
					return s.social.React(ctx, s.user(who), p.id(s), kind)
				},
			})
		}
	}
	return steps
}

// hung returns a content in which a photo has its address.
func (s *stage) hung(c social.Content) social.Content {
	if c.Photo == nil {
		return c
	}
	photo := *c.Photo
	photo.URL = address(s.publicURL, photo.URL)
	return social.Content{Photo: &photo}
}
