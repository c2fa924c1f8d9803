package mongodb

import (
	"context"
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/social"
	"plaza/storage/mongodb/internal/cluster"
	"plaza/storage/mongodb/internal/jobs"
)

// movingFeeds reads feeds from the layout of the call's era, and keeps a second one in step while feeds are moved.
type movingFeeds struct{ s *Store }

// feedsInUse are an era's layouts of feeds.
type feedsInUse struct {
	read feeds
	kept []feeds // all that are kept in step; the first is read
}

func (s *Store) newFeedsInUse(d *cluster.Setting) feedsInUse {
	read := s.feedLayouts[d.Value]
	all := feedsInUse{read: read, kept: []feeds{read}}
	if m := d.Move; m != nil && m.KeepsBoth() {
		for _, layout := range d.Layouts() {
			if layout != d.Value {
				all.kept = append(all.kept, s.feedLayouts[layout])
			}
		}
	}
	return all
}

func (f movingFeeds) inUse(ctx context.Context) feedsInUse { return f.s.inUse(ctx).feeds }

func (f movingFeeds) news(ctx context.Context, viewer social.UserID, p social.Page) ([]*social.Post, error) {
	return f.inUse(ctx).read.news(ctx, viewer, p)
}

func (f movingFeeds) walls(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Post, error) {
	return f.inUse(ctx).read.walls(ctx, lists)
}

// indexes are those that the layouts need on collections that all have.
func (f movingFeeds) indexes() map[*mongo.Collection][]mongo.IndexModel {
	all := map[*mongo.Collection][]mongo.IndexModel{}
	for _, layout := range f.s.member.Now().InUse.feeds.kept {
		maps.Copy(all, layout.indexes())
	}
	return all
}

// each does the same in each layout.
func (f movingFeeds) each(ctx context.Context, do func(feeds) error) error {
	for _, layout := range f.inUse(ctx).kept {
		if err := do(layout); err != nil {
			return err
		}
	}
	return nil
}

func (f movingFeeds) postsAdded(ctx context.Context, posts []*social.Post) error {
	return f.each(ctx, func(layout feeds) error { return layout.postsAdded(ctx, posts) })
}

func (f movingFeeds) postChanged(ctx context.Context, post social.PostID) error {
	return f.each(ctx, func(layout feeds) error { return layout.postChanged(ctx, post) })
}

func (f movingFeeds) postDeleted(ctx context.Context, post social.PostID, author, wallOwner social.UserID) error {
	return f.each(ctx, func(layout feeds) error { return layout.postDeleted(ctx, post, author, wallOwner) })
}

func (f movingFeeds) postMoved(ctx context.Context, post social.PostID) error {
	return f.each(ctx, func(layout feeds) error { return layout.postMoved(ctx, post) })
}

func (f movingFeeds) forget(ctx context.Context, user social.UserID) error {
	return f.each(ctx, func(layout feeds) error { return layout.forget(ctx, user) })
}

func (f movingFeeds) followsChanged(ctx context.Context, owners ...social.UserID) error {
	return f.each(ctx, func(layout feeds) error { return layout.followsChanged(ctx, owners...) })
}

func (f movingFeeds) postStored(ctx context.Context, p *social.Post) {
	for _, layout := range f.inUse(ctx).kept {
		layout.postStored(ctx, p)
	}
}

// do hands a job to the layout that has added it. Where that is not in use any more, there is nothing left to do.
func (f movingFeeds) do(ctx context.Context, j *jobs.Job) error {
	adds := func(layout feeds) bool { return slices.Contains(layout.jobKinds(), j.Kind) }
	for _, layout := range f.inUse(ctx).kept {
		if adds(layout) {
			return layout.do(ctx, j)
		}
	}
	for _, layout := range f.s.feedLayouts {
		if adds(layout) {
			return nil
		}
	}
	return jobs.Unknown(j)
}
