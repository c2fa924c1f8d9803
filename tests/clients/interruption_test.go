//go:build clients

package clients_test

import (
	"context"
	"strings"
	"sync/atomic"

	"plaza/resolvers/gate"
	"plaza/social"
	"plaza/storage"
)

// interrupted is a store whose database does not answer after certain comments, when their
// subscribers look for them, until it has refused a page of the thread once. After certain others, it
// refuses once what another user than their author asks for.
type interrupted struct {
	storage.Store

	isDown  atomic.Bool
	refuses atomic.Pointer[social.UserID] // the others
}

func (s *interrupted) InsertComment(ctx context.Context, c *social.Comment, e social.Event) error {
	if strings.HasPrefix(c.Text, "interrupted") {
		s.isDown.Store(true)
	}
	if strings.HasPrefix(c.Text, "unavailable") {
		s.refuses.Store(&c.Author)
	}
	return s.Store.InsertComment(ctx, c, e)
}

func (s *interrupted) Comments(ctx context.Context, ids []social.CommentID) (map[social.CommentID]*social.Comment, error) {
	if s.isDown.Load() {
		return nil, social.ErrUnavailable
	}
	return s.Store.Comments(ctx, ids)
}

func (s *interrupted) Thread(ctx context.Context, lists []social.List[social.Thread]) (map[social.List[social.Thread]][]*social.Comment, error) {
	if s.isDown.CompareAndSwap(true, false) {
		return nil, social.ErrUnavailable
	}
	return s.Store.Thread(ctx, lists)
}

func (s *interrupted) Posts(ctx context.Context, ids []social.PostID) (map[social.PostID]*social.Post, error) {
	author, viewer := s.refuses.Load(), gate.UserOf(ctx)
	if author != nil && !viewer.IsZero() && viewer != *author && s.refuses.CompareAndSwap(author, nil) {
		return nil, social.ErrUnavailable
	}
	return s.Store.Posts(ctx, ids)
}
