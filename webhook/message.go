package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"plaza/social"
)

// question is the body of a request. It names no circles.
type question struct {
	Kind      social.PublicationKind `json:"kind"`
	Author    author                 `json:"author"`
	Audience  social.AudienceKind    `json:"audience"` // of the post
	PostID    string                 `json:"postId,omitempty"`
	CommentID string                 `json:"commentId,omitempty"`
	Type      social.PostType        `json:"type,omitempty"` // of a post
	Text      string                 `json:"text"`
	Details   []string               `json:"details"` // what else a post says
	URLs      []string               `json:"urls"`    // of a post's pictures and links
}

type author struct {
	ID     string `json:"id"`
	Handle string `json:"handle"`
}

// encode writes the body of the request about a publication.
func encode(p *social.Publication) ([]byte, error) {
	q := question{
		Kind: p.Kind, Author: author{p.Author.String(), p.Handle}, Audience: p.Audience, Text: p.Text, Details: []string{}, URLs: []string{},
	}
	if !p.Post.IsZero() {
		q.PostID = p.Post.String()
	}
	if !p.Comment.IsZero() {
		q.CommentID = p.Comment.String()
	}
	if p.IsPost() {
		details, urls := p.Content.Rest()
		q.Type, q.Text = p.Content.Type(), p.Content.Text()
		q.Details, q.URLs = append(q.Details, details...), append(q.URLs, urls...)
	}
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(q)
	return bytes.TrimSuffix(body.Bytes(), []byte("\n")), err
}

// decode reads the body of an answer.
func decode(body []byte) (social.Verdict, error) {
	var answer struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return social.Verdict{}, fmt.Errorf("the answer is not the JSON that it should be: %w", err)
	}
	switch answer.Decision {
	case "allow":
		return social.Verdict{Allowed: true}, nil
	case "refuse":
		return social.Verdict{Reason: answer.Reason}, nil
	default:
		return social.Verdict{}, errors.New(`the answer's decision is neither "allow" nor "refuse"`)
	}
}
