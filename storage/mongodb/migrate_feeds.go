package mongodb

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"plaza/social"
	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/feeds"
	"plaza/storage/mongodb/internal/migrate"
	"plaza/storage/mongodb/internal/wait"
)

// feedMover moves feeds. They are caches, so nothing is copied: once all servers keep the new
// layout in step, the feeds of all users are built in it, if it keeps them, and then compared with
// what users read.
type feedMover struct{ s *Store }

const (
	// comparedPosts is how many of a user's newest posts are compared, of those that are read.
	comparedPosts, readPosts = 90, 100
	// comparePatience is how long two layouts may differ because posts come faster than they are
	// pushed to followers.
	comparePatience = time.Minute
)

func (v feedMover) Count(ctx context.Context) (int, error) { return v.s.countUsers(ctx) }

func (v feedMover) Prepare(ctx context.Context, m *migrate.Run, layout string) error {
	if err := v.empty(ctx, m, layout); err != nil {
		return err
	}
	return v.s.indexes.Prepare(ctx, v.s.feeds.Layouts()[layout].Indexes())
}

func (v feedMover) Remove(ctx context.Context, m *migrate.Run, layout string) error {
	return v.empty(ctx, m, layout)
}

// empty drops a layout's collections, creates them again, and removes its jobs: these would be
// wrong when the layout is used again.
func (v feedMover) empty(ctx context.Context, m *migrate.Run, layout string) error {
	if err := v.forgetJobs(ctx, m, layout); err != nil {
		return err
	}
	indexes := v.s.feeds.Indexes()
	for _, c := range v.s.feeds.Layouts()[layout].Collections() {
		err := v.s.db.Read(ctx, "empty "+c.Name(), func(ctx context.Context) error {
			if err := m.Still(ctx); err != nil {
				return err
			}
			if err := c.Drop(ctx); err != nil {
				return err
			}
			return v.s.indexes.New(ctx, c, indexes[c])
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (v feedMover) forgetJobs(ctx context.Context, m *migrate.Run, layout string) error {
	kinds := v.s.feeds.Layouts()[layout].JobKinds()
	if len(kinds) == 0 {
		return nil
	}
	return v.s.db.Read(ctx, "forget jobs", func(ctx context.Context) error {
		if err := m.Still(ctx); err != nil {
			return err
		}
		return v.s.jobs.RemoveKinds(ctx, kinds)
	})
}

func (v feedMover) Copy(ctx context.Context, m *migrate.Run) error {
	layout := v.s.feeds.Layouts()[m.Move().To]
	return v.s.eachUser(ctx, m, func(ctx context.Context, user social.UserID) error {
		return v.s.db.Read(ctx, "build a feed", func(ctx context.Context) error {
			if err := m.Still(ctx); err != nil {
				return err
			}
			return layout.Build(ctx, user)
		})
	})
}

func (v feedMover) Compare(ctx context.Context, m *migrate.Run) error {
	if err := v.catchUp(ctx); err != nil {
		return err
	}
	return v.s.eachUser(ctx, m, func(ctx context.Context, user social.UserID) error { return v.compareUser(ctx, m.Move(), user) })
}

// catchUp waits until the jobs that existed when it began are done. This process takes part in
// that.
func (v feedMover) catchUp(ctx context.Context) error {
	began := time.Now()
	for {
		backlog, err := v.s.Backlog(ctx)
		if err != nil || backlog.Waiting == 0 || backlog.Oldest.After(began) {
			return err
		}
		if did, err := v.s.workers.Once(ctx); err != nil {
			return err
		} else if !did {
			wait.For(ctx, v.s.member.Heartbeat/4, nil)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// compareUser compares a user's news and wall in both layouts.
func (v feedMover) compareUser(ctx context.Context, move *cluster.Move, user social.UserID) error {
	page := social.Page{Limit: readPosts}
	news := func(ctx context.Context, layout feeds.Layout) ([]*social.Post, error) {
		posts, err := layout.News(ctx, user, page)
		if err != nil {
			return nil, err
		}
		return v.seen(ctx, user, posts)
	}
	if err := v.compareFeed(ctx, move, "news", user, news); err != nil {
		return err
	}
	list := social.List[social.UserID]{Of: user, Page: page}
	return v.compareFeed(ctx, move, "wall", user, func(ctx context.Context, layout feeds.Layout) ([]*social.Post, error) {
		walls, err := layout.Walls(ctx, []social.List[social.UserID]{list})
		return walls[list], err
	})
}

// seen returns those of a user's news that they see. If a server died at the wrong moment, a kept
// feed may still have posts by people whom the user no longer follows, in the place of older posts
// at the end of a page.
func (v feedMover) seen(ctx context.Context, user social.UserID, posts []*social.Post) ([]*social.Post, error) {
	authors, err := followReader(v).Followed(ctx, user)
	if err != nil {
		return nil, err
	}
	follows := map[social.UserID]bool{user: true}
	for _, author := range authors {
		follows[author] = true
	}
	seen := slices.DeleteFunc(slices.Clone(posts), func(p *social.Post) bool { return !follows[p.Author] })
	return seen[:min(len(seen), comparedPosts)], nil
}

// compareFeed compares what is read of a user in both layouts. That changes meanwhile, and the new
// layout may be late.
func (v feedMover) compareFeed(ctx context.Context, move *cluster.Move, what string, user social.UserID,
	read func(context.Context, feeds.Layout) ([]*social.Post, error),
) error {
	from, to := v.s.feeds.Layouts()[move.From], v.s.feeds.Layouts()[move.To]
	for deadline := time.Now().Add(comparePatience); ; {
		var before, got, after []*social.Post
		err := v.s.db.Read(ctx, "compare feeds", func(ctx context.Context) (err error) {
			if before, err = read(ctx, from); err != nil {
				return err
			}
			if got, err = read(ctx, to); err != nil {
				return err
			}
			after, err = read(ctx, from)
			return err
		})
		switch {
		case err != nil:
			return err
		case samePosts(got, before) || samePosts(got, after):
			return nil
		case time.Now().After(deadline):
			return &migrate.Error{
				Subject: migrate.Feeds, From: move.From, To: move.To, Reason: migrate.Differs,
				Detail: fmt.Sprintf("the %s of user %s differ: %d posts in %q, %d in %q, and not the same", what, user.ID, len(after), move.From, len(got), move.To),
			}
		}
		wait.For(ctx, v.s.member.Heartbeat/4, nil)
		if err := v.catchUp(ctx); err != nil {
			return err
		}
	}
}

func samePosts(a, b []*social.Post) bool {
	return slices.EqualFunc(a, b, func(a, b *social.Post) bool { return reflect.DeepEqual(a, b) })
}
