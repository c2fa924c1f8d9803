package network

import (
	"context"
	"errors"
	"strings"
	"testing"

	"plaza/fault"
	"plaza/id"
	"plaza/paging"
	"plaza/social"
)

// longTexts is a store in which every post has the longest text, and eight comments with such
// texts.
type longTexts struct {
	allFollowed

	text string
	read int
}

func (s *longTexts) Posts(_ context.Context, ids []social.PostID) (map[social.PostID]*social.Post, error) {
	s.read += len(ids)
	posts := make(map[social.PostID]*social.Post, len(ids))
	for _, post := range ids {
		p := &social.Post{ID: post, Audience: social.Audience{Kind: social.AudiencePublic}, Content: social.Content{Status: &social.Status{Text: s.text}}}
		for range social.PreviewSize {
			p.Latest = append(p.Latest, &social.Comment{Text: s.text})
		}
		posts[post] = p
	}
	return posts, nil
}

// TestRequestsHoldLimitedTexts reads posts by id until they are too large together.
func TestRequestsHoldLimitedTexts(t *testing.T) {
	t.Parallel()
	store := &longTexts{text: strings.Repeat("😀", social.MaxTextLen)}
	ids := make([]social.PostID, 10_000)
	for i := range ids {
		ids[i] = social.PostID{ID: id.New()}
	}
	s := New(store, Options{})
	if found, err := s.Viewer(social.UserID{}).Posts(t.Context(), ids[:100]); err != nil || len(found) != 100 {
		t.Errorf("a page of the longest posts: %d, %v", len(found), err)
	}
	store.read = 0
	_, err := s.Viewer(social.UserID{}).Posts(t.Context(), ids)
	if f, ok := errors.AsType[*fault.Error](err); !ok || f.Code != fault.CodeTooComplex || store.read > paging.ReadTogether {
		t.Errorf("%d of the longest posts were read: %v", store.read, err)
	}
	v := s.Viewer(social.UserID{})
	for range 3 {
		_, err := v.Posts(t.Context(), ids[:100])
		if err != nil {
			return
		}
	}
	t.Error("300 of the longest posts were held")
}
