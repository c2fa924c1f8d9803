package mongodb

import (
	"context"
	"errors"
	"slices"
	"time"

	"plaza/id"
	"plaza/social"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/internal/mdb"
)

// jobErase deletes the comments of Author up to UpTo, some in each attempt. A user has at most one
// such job.
const jobErase jobs.Kind = "erase"

const (
	// eraseAtOnce is how many comments are read in one query, and eraseTogether how many comments
	// of one thread are deleted in one transaction.
	eraseAtOnce   = 200
	eraseTogether = 20
)

func eraseID(user social.UserID) jobs.ID {
	return jobs.ID{ID: id.Derive(user.ID.Time(), string(jobErase)+user.ID.String())}
}

// EraseComments implements social.Comments.
func (s *Store) EraseComments(ctx context.Context, user social.UserID, upTo social.CommentID, e social.Event) (int, error) {
	err := s.db.Write(ctx, "begin to erase comments", []id.ID{user.ID}, func(ctx context.Context) error {
		if err := s.addErasure(ctx, user, upTo); err != nil {
			return err
		}
		return s.log.Append(ctx, e)
	})
	if err != nil {
		_ = s.expediteErasure(context.WithoutCancel(ctx), user) // the job may exist, even if the caller left during the commit
		return 0, err
	}
	more, err := s.eraseFor(ctx, s.erasing.inCall, user, upTo, user)
	if err != nil && ctx.Err() == nil {
		s.logger.WarnContext(ctx, "comments will be erased later", "error", err)
	}
	if !more {
		return 0, s.endErasure(ctx, user, upTo)
	}
	if err := s.expediteErasure(context.WithoutCancel(ctx), user); err != nil {
		s.logger.WarnContext(ctx, "comments will be erased a little later", "error", err)
	}
	return s.leftToErase(ctx, user, upTo)
}

// addErasure stores the job, or extends the existing one. It becomes due when this call should have
// ended.
func (s *Store) addErasure(ctx context.Context, user social.UserID, upTo social.CommentID) error {
	now := s.Now()
	return s.jobs.Extend(ctx, jobs.Job{
		ID: eraseID(user), Kind: jobErase, Author: user, UpTo: upTo, MadeAt: now, Due: now.Add(s.erasing.inCall + time.Second),
	})
}

// expediteErasure lets a worker take the job now.
func (s *Store) expediteErasure(ctx context.Context, user social.UserID) error {
	err := s.db.Read(ctx, "hasten erasing comments", func(ctx context.Context) error {
		return s.jobs.Hasten(ctx, eraseID(user))
	})
	s.jobs.Wake()
	return err
}

// endErasure removes the job, unless it was extended.
func (s *Store) endErasure(ctx context.Context, user social.UserID, upTo social.CommentID) error {
	return s.db.Read(ctx, "end erasing comments", func(ctx context.Context) error {
		return s.jobs.RemoveUpTo(ctx, eraseID(user), upTo)
	})
}

// eraseNext does a part of a job.
func (s *Store) eraseNext(ctx context.Context, j *jobs.Job) error {
	more, err := s.eraseFor(ctx, s.erasing.inJob, j.Author, j.UpTo, j.Author)
	if err == nil && more {
		return jobs.ErrMore
	}
	return err
}

// eraseFor deletes comments until none is left or the time is up, but at least those of one thread.
// It reports whether there may be more. The events are those of social.NewCommentErased.
func (s *Store) eraseFor(ctx context.Context, most time.Duration, user social.UserID, upTo social.CommentID, by social.UserID) (more bool, err error) {
	page := social.Page{Limit: eraseAtOnce, After: social.Key(mdb.NextID(upTo.ID).Bytes())}
	list := social.List[social.UserID]{Of: user, Page: page}
	for deadline := time.Now().Add(most); ; {
		found, err := s.CommentsBy(ctx, []social.List[social.UserID]{list})
		if err != nil {
			return true, err
		}
		if len(found[list]) == 0 {
			return false, nil
		}
		for _, thread := range byThread(found[list]) {
			if err := s.eraseInThread(ctx, by, thread); err != nil {
				return true, err
			}
			if time.Now().After(deadline) {
				return true, nil
			}
		}
	}
}

// byThread groups comments by post, in the order of each post's first comment, and splits the
// groups so that each fits into one transaction.
func byThread(comments []*social.Comment) [][]*social.Comment {
	var posts []social.PostID
	of := map[social.PostID][]*social.Comment{}
	for _, c := range comments {
		if of[c.Post] == nil {
			posts = append(posts, c.Post)
		}
		of[c.Post] = append(of[c.Post], c)
	}
	var groups [][]*social.Comment
	for _, post := range posts {
		groups = slices.AppendSeq(groups, slices.Chunk(of[post], eraseTogether))
	}
	return groups
}

// eraseInThread deletes comments on one post, with the same effects as DeleteComment for each. It
// skips comments that are gone, and all of them if the post is gone.
func (s *Store) eraseInThread(ctx context.Context, by social.UserID, comments []*social.Comment) error {
	post := comments[0].Post
	err := s.db.Write(ctx, "erase comments", []id.ID{post.ID}, func(ctx context.Context) error {
		deleted, err := s.threads.DeleteAll(ctx, post, mdb.Map(comments, func(c **social.Comment) social.CommentID { return (*c).ID }))
		if err != nil {
			return err
		}
		if len(deleted) == 0 {
			return social.ErrNotFound // the post has not changed either, so no copy of it is out of date
		}
		if err := s.feeds.PostsChanged(ctx, post); err != nil {
			return err
		}
		var events []social.Event
		for _, d := range deleted {
			events = append(events, d.Events(social.NewCommentErased(by, post, d.Comment))...)
		}
		return s.log.Append(ctx, events...)
	})
	if errors.Is(err, social.ErrNotFound) {
		return nil
	}
	return err
}

// CommentErasure implements social.Comments.
func (s *Store) CommentErasure(ctx context.Context, user social.UserID) (e social.Erasure, err error) {
	var j *jobs.Job
	err = s.db.Read(ctx, "comment erasure", func(ctx context.Context) error {
		j, err = s.jobs.Find(ctx, eraseID(user))
		return err
	})
	if err != nil {
		return e, err
	}
	e.StartedAt = mdb.UTC(j.MadeAt)
	e.RemainingCount, err = s.leftToErase(ctx, user, j.UpTo)
	return e, err
}

func (s *Store) leftToErase(ctx context.Context, user social.UserID, upTo social.CommentID) (n int, err error) {
	err = s.db.Read(ctx, "comments left to erase", func(ctx context.Context) error {
		n, err = s.threads.CountBy(ctx, user, upTo)
		return err
	})
	return n, err
}
