package resolvers

import (
	"time"

	"plaza/fault"
	"plaza/graph/model"
	"plaza/graph/relay"
	"plaza/social"
	"plaza/social/network"
)

func newPost(input model.CreatePostInput) (network.NewPost, error) {
	audience, badAudience := audience(input.Audience)
	post := network.NewPost{Content: content(input.Content), Audience: audience, Order: value(input.CommentOrder)}
	var badReplies error
	if input.Replies != nil {
		post.Replies, badReplies = replyPolicy(input.Replies)
	}
	return post, fault.All(badAudience, badReplies, relay.SetID(&post.WallOwner, "wallOwnerId", input.WallOwnerID, relay.UserID))
}

func audience(input *model.AudienceInput) (social.Audience, error) {
	circles, err := listedCircles("audience.circleIds", input.CircleIds)
	audience := social.Audience{Kind: input.Kind, Circles: circles}
	return audience, fault.All(err, audience.Check())
}

func replyPolicy(input *model.ReplyPolicyInput) (social.ReplyPolicy, error) {
	circles, err := listedCircles("replies.circleIds", input.CircleIds)
	policy := social.ReplyPolicy{Kind: input.Kind, Circles: circles}
	return policy, fault.All(err, policy.Check())
}

func listedCircles(argument string, texts []string) ([]social.CircleID, error) {
	if err := fault.CheckCount(argument, len(texts), 0, social.MaxListedCircles); err != nil {
		return nil, err
	}
	var circles []social.CircleID
	for _, text := range texts {
		id, err := relay.CircleID(argument, text)
		if err != nil {
			return nil, err
		}
		circles = append(circles, id)
	}
	return circles, nil
}

func content(input *model.PostContentInput) social.Content {
	var c social.Content
	if in := input.Status; in != nil {
		c.Status = &social.Status{Text: in.Text}
	}
	if in := input.Photo; in != nil {
		c.Photo = &social.Photo{URL: in.URL, Alt: value(in.Alt), Caption: value(in.Caption), Width: pixels(in.Width), Height: pixels(in.Height)}
	}
	if in := input.Link; in != nil {
		c.Link = &social.Link{URL: in.URL, Title: value(in.Title), Text: value(in.Text)}
	}
	if in := input.Checkin; in != nil {
		c.Checkin = &social.Checkin{Place: in.Place, Latitude: in.Latitude, Longitude: in.Longitude, Text: value(in.Text)}
		if photo := in.Photo; photo != nil {
			c.Checkin.Photo = &social.Picture{URL: photo.URL, Alt: value(photo.Alt), Width: pixels(photo.Width), Height: pixels(photo.Height)}
		}
	}
	if in := input.Poll; in != nil {
		c.Poll = &social.Poll{Question: in.Question, Options: in.Options, ClosesAt: value[time.Time](in.ClosesAt)}
	}
	return c
}

// pixels distinguishes a given 0, which is rejected, from an unknown size.
func pixels(n *int) int {
	if n != nil && *n == 0 {
		return -1
	}
	return value(n)
}

func value[T any](pointer *T) T {
	var v T
	if pointer != nil {
		v = *pointer
	}
	return v
}
