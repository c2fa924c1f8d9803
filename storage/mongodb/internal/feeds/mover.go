package feeds

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/social"
	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/indexes"
	"plaza/storage/mongodb/internal/jobs"
	"plaza/storage/mongodb/internal/mdb"
	"plaza/storage/mongodb/internal/migrate"
	"plaza/storage/mongodb/internal/wait"
)

// Mover moves feeds. They are caches, so it copies nothing: once all servers keep the new layout in
// step, it builds the feeds of all users, if the layout keeps them, and then compares them with
// what users read.
type Mover struct{ c MoverConfig }

// MoverConfig is what moving feeds needs from the rest of the engine.
type MoverConfig struct {
	DB      *mdb.DB
	Feeds   *Feeds
	Users   *mongo.Collection
	Follows Follows
	Indexes *indexes.Builder
	Jobs    *jobs.Queue
	Workers *jobs.Workers // run the jobs that the mover waits for in this process too
	Pause   time.Duration // between two comparisons of feeds that differ
}

var _ migrate.Mover = Mover{}

// NewMover returns what moves feeds.
func NewMover(c MoverConfig) Mover { return Mover{c} }

const (
	// comparedPosts is how many of a user's newest posts are compared, of those that are read.
	comparedPosts, readPosts = 90, 100
	// comparePatience is how long two layouts may differ because posts come faster than they are
	// pushed to followers.
	comparePatience = time.Minute
)

// Count implements migrate.Mover.
func (v Mover) Count(ctx context.Context) (int, error) { return migrate.Count(ctx, v.c.DB, v.c.Users) }

// Prepare implements migrate.Mover.
func (v Mover) Prepare(ctx context.Context, m *migrate.Run, layout string) error {
	if err := v.empty(ctx, m, layout); err != nil {
		return err
	}
	return v.c.Indexes.Prepare(ctx, v.c.Feeds.Layouts()[layout].Indexes())
}

// Remove implements migrate.Mover.
func (v Mover) Remove(ctx context.Context, m *migrate.Run, layout string) error {
	return v.empty(ctx, m, layout)
}

// empty drops a layout's collections, creates them again, and removes its jobs: these would be
// wrong when the layout is used again.
func (v Mover) empty(ctx context.Context, m *migrate.Run, layout string) error {
	if err := v.forgetJobs(ctx, m, layout); err != nil {
		return err
	}
	declared := v.c.Feeds.Indexes()
	for _, c := range v.c.Feeds.Layouts()[layout].Collections() {
		err := v.c.DB.Read(ctx, "empty "+c.Name(), func(ctx context.Context) error {
			if err := m.Still(ctx); err != nil {
				return err
			}
			if err := c.Drop(ctx); err != nil {
				return err
			}
			return v.c.Indexes.New(ctx, c, declared[c])
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (v Mover) forgetJobs(ctx context.Context, m *migrate.Run, layout string) error {
	kinds := v.c.Feeds.Layouts()[layout].JobKinds()
	if len(kinds) == 0 {
		return nil
	}
	return v.c.DB.Read(ctx, "forget jobs", func(ctx context.Context) error {
		if err := m.Still(ctx); err != nil {
			return err
		}
		return v.c.Jobs.RemoveKinds(ctx, kinds)
	})
}

// Copy implements migrate.Mover.
func (v Mover) Copy(ctx context.Context, m *migrate.Run) error {
	layout := v.c.Feeds.Layouts()[m.Move().To]
	return m.EachUser(ctx, v.c.Users, func(ctx context.Context, user social.UserID) error {
		return v.c.DB.Read(ctx, "build a feed", func(ctx context.Context) error {
			if err := m.Still(ctx); err != nil {
				return err
			}
			return layout.Build(ctx, user)
		})
	})
}

// Compare implements migrate.Mover.
func (v Mover) Compare(ctx context.Context, m *migrate.Run) error {
	if err := v.catchUp(ctx); err != nil {
		return err
	}
	return m.EachUser(ctx, v.c.Users, func(ctx context.Context, user social.UserID) error { return v.compareUser(ctx, m.Move(), user) })
}

// catchUp waits until the jobs that existed when it began are done. This process runs jobs
// meanwhile.
func (v Mover) catchUp(ctx context.Context) error {
	began := time.Now()
	for {
		backlog, err := v.backlog(ctx)
		if err != nil || backlog.Waiting == 0 || backlog.Oldest.After(began) {
			return err
		}
		if did, err := v.c.Workers.Once(ctx); err != nil {
			return err
		} else if !did {
			wait.For(ctx, v.c.Pause, nil)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

func (v Mover) backlog(ctx context.Context) (b social.Backlog, err error) {
	err = v.c.DB.Read(ctx, "backlog", func(ctx context.Context) error {
		b, err = v.c.Jobs.Backlog(ctx)
		return err
	})
	return b, err
}

// compareUser compares a user's news and wall in both layouts.
func (v Mover) compareUser(ctx context.Context, move *cluster.Move, user social.UserID) error {
	page := social.Page{Limit: readPosts}
	news := func(ctx context.Context, layout Layout) ([]*social.Post, error) {
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
	return v.compareFeed(ctx, move, "wall", user, func(ctx context.Context, layout Layout) ([]*social.Post, error) {
		walls, err := layout.Walls(ctx, []social.List[social.UserID]{list})
		return walls[list], err
	})
}

// seen returns those of a user's news that they see. If a server died at the wrong moment, a kept
// feed may still have posts by people the user no longer follows, in the place of older posts
// at the end of a page.
func (v Mover) seen(ctx context.Context, user social.UserID, posts []*social.Post) ([]*social.Post, error) {
	authors, err := v.c.Follows.Followed(ctx, user)
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

// compareFeed compares a feed of a user in both layouts, in one snapshot. It retries, because the new
// layout may be late.
func (v Mover) compareFeed(ctx context.Context, move *cluster.Move, what string, user social.UserID,
	read func(context.Context, Layout) ([]*social.Post, error),
) error {
	from, to := v.c.Feeds.Layouts()[move.From], v.c.Feeds.Layouts()[move.To]
	for deadline := time.Now().Add(comparePatience); ; {
		var want, got []*social.Post
		err := v.c.DB.ReadSnapshot(ctx, "compare feeds", func(ctx context.Context) (err error) {
			if want, err = read(ctx, from); err != nil {
				return err
			}
			got, err = read(ctx, to)
			return err
		})
		switch {
		case err != nil:
			return err
		case samePosts(got, want):
			return nil
		case time.Now().After(deadline):
			return &migrate.Error{
				Subject: migrate.Feeds, From: move.From, To: move.To, Reason: migrate.Differs,
				Detail: fmt.Sprintf("the %s of user %s differ: %d posts in %q, %d in %q, and not the same", what, user.ID, len(want), move.From, len(got), move.To),
			}
		}
		wait.For(ctx, v.c.Pause, nil)
		if err := v.catchUp(ctx); err != nil {
			return err
		}
	}
}

func samePosts(a, b []*social.Post) bool {
	return slices.EqualFunc(a, b, func(a, b *social.Post) bool { return reflect.DeepEqual(a, b) })
}
