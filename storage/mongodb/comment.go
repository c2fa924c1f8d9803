package mongodb

import (
	"context"
	"slices"
	"time"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/threads"
)

// EditComment implements social.Comments.
func (s *Store) EditComment(ctx context.Context, comment social.CommentID, text string, at time.Time, e social.Event) error {
	post, err := s.threadOf(ctx, comment)
	if err != nil {
		return err
	}
	return s.db.Write(ctx, "edit comment", []id.ID{post.ID}, func(ctx context.Context) error {
		if err := s.threads.Edit(ctx, post, comment, text, at); err != nil {
			return err
		}
		if err := s.feeds.PostsChanged(ctx, post); err != nil {
			return err
		}
		return s.log.Append(ctx, e)
	})
}

// threadOf reads which post a comment belongs to. That never changes.
func (s *Store) threadOf(ctx context.Context, comment social.CommentID) (post social.PostID, err error) {
	err = s.db.Read(ctx, "post of comment", func(ctx context.Context) error {
		post, err = s.threads.PostOf(ctx, comment)
		return err
	})
	return post, err
}

// DeleteComment implements social.Comments.
func (s *Store) DeleteComment(ctx context.Context, comment social.CommentID, e social.Event) error {
	post, err := s.threadOf(ctx, comment)
	if err != nil {
		return err
	}
	return s.db.Write(ctx, "delete comment", []id.ID{post.ID}, func(ctx context.Context) error {
		return s.deleteComment(ctx, post, comment, e)
	})
}

// deleteComment is DeleteComment in a transaction.
func (s *Store) deleteComment(ctx context.Context, post social.PostID, comment social.CommentID, e social.Event) error {
	removal, err := s.threads.Delete(ctx, post, comment)
	if err != nil {
		return err
	}
	if err := s.feeds.PostsChanged(ctx, post); err != nil {
		return err
	}
	return s.log.Append(ctx, removal.Events(e)...)
}

// hideComment hides a comment, or shows it again, in a transaction.
func (s *Store) hideComment(ctx context.Context, c *social.Comment, e social.Event) error {
	if err := s.threads.Hide(ctx, c.Post, c.ID, c.Hidden); err != nil {
		return err
	}
	if err := s.feeds.PostsChanged(ctx, c.Post); err != nil {
		return err
	}
	return s.log.Append(ctx, e)
}

// Comments implements social.Comments.
func (s *Store) Comments(ctx context.Context, ids []social.CommentID) (map[social.CommentID]*social.Comment, error) {
	all := make(map[social.CommentID]*social.Comment, len(ids))
	err := s.db.Read(ctx, "comments", func(ctx context.Context) error {
		docs, err := s.threads.ByID(ctx, ids)
		for i := range docs {
			all[docs[i].ID] = docs[i].Comment()
		}
		return err
	})
	return all, err
}

// CommentsBySlug implements social.Comments.
func (s *Store) CommentsBySlug(ctx context.Context, links []social.Permalink) (map[social.Permalink]*social.Comment, error) {
	all := make(map[social.Permalink]*social.Comment, len(links))
	err := s.db.Read(ctx, "comments by slug", func(ctx context.Context) error {
		docs, err := s.threads.BySlug(ctx, links)
		for i := range docs {
			all[social.Permalink{Post: docs[i].Post, Slug: docs[i].Slug}] = docs[i].Comment()
		}
		return err
	})
	return all, err
}

// Thread implements social.Comments. Readers who want the same page at the same time share a read:
// on a popular post, most of them want the first page.
func (s *Store) Thread(ctx context.Context, lists []social.List[social.Thread]) (pages map[social.List[social.Thread]][]*social.Comment, err error) {
	if len(lists) != 1 {
		return s.readThreads(ctx, lists)
	}
	err = s.db.Within(ctx, "thread", func(ctx context.Context) error {
		page, err := s.threadPages.Read(ctx, lists[0])
		pages = map[social.List[social.Thread]][]*social.Comment{lists[0]: slices.Clone(page)}
		return err
	})
	return pages, err
}

func (s *Store) readThread(ctx context.Context, list social.List[social.Thread]) ([]*social.Comment, error) {
	pages, err := s.readThreads(ctx, []social.List[social.Thread]{list})
	return pages[list], err
}

func (s *Store) readThreads(ctx context.Context, lists []social.List[social.Thread]) (pages map[social.List[social.Thread]][]*social.Comment, err error) {
	err = s.db.Read(ctx, "thread", func(ctx context.Context) error {
		pages, err = s.threads.Pages(ctx, lists)
		return err
	})
	return pages, err
}

// CommentsBy implements social.Comments.
func (s *Store) CommentsBy(ctx context.Context, lists []social.List[social.UserID]) (comments map[social.List[social.UserID]][]*social.Comment, err error) {
	err = s.db.Read(ctx, "comments by", func(ctx context.Context) error {
		comments, err = s.threads.By(ctx, lists)
		return err
	})
	return comments, err
}

// LatestComments implements social.Comments.
func (s *Store) LatestComments(ctx context.Context, posts []social.PostID, without []social.UserID, n int) (map[social.PostID][]*social.Comment, error) {
	all := make(map[social.PostID][]*social.Comment, len(posts))
	if len(posts) == 0 || n <= 0 {
		return all, nil
	}
	err := s.db.Read(ctx, "latest comments", func(ctx context.Context) error {
		newest, err := s.threads.Newest(ctx, posts, without, n)
		for i, docs := range newest {
			slices.Reverse(docs)
			all[posts[i]] = mdb.Map(docs, (*threads.Document).Comment)
		}
		return err
	})
	return all, err
}

// Fill stores a whole thread; see FillAll.
func (s *Store) Fill(ctx context.Context, post social.PostID, comments []*social.Comment) error {
	return s.FillAll(ctx, map[social.PostID][]*social.Comment{post: comments})
}

// FillAll stores whole threads, sorted by time, in the form that they would have if each comment
// had been inserted by itself. The posts must exist, and have no comments yet. Load generators and
// tests use it. It returns ErrThreadFull if a thread does not fit into the layout.
func (s *Store) FillAll(ctx context.Context, all map[social.PostID][]*social.Comment) error {
	return s.threads.Fill(ctx, all)
}
