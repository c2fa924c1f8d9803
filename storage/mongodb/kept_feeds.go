package mongodb

import (
	"context"
	"maps"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"plaza/social"
)

// keptFeeds reads news from the layout of the call's era, and keeps a second one in step while feeds are moved.
type keptFeeds struct{ s *Store }

// feedsInUse are an era's layouts of feeds.
type feedsInUse struct {
	read feeds
	kept []feeds // all that are kept in step; the first is read
}

func (f keptFeeds) inUse(ctx context.Context) feedsInUse { return f.s.era(ctx).feeds }

func (f keptFeeds) news(ctx context.Context, viewer social.UserID, p social.Page) ([]*social.Post, error) {
	return f.inUse(ctx).read.news(ctx, viewer, p)
}

func (f keptFeeds) walls(ctx context.Context, lists []social.List[social.UserID]) (map[social.List[social.UserID]][]*social.Post, error) {
	return f.inUse(ctx).read.walls(ctx, lists)
}

// indexes are those that the layouts need on collections that all have.
func (f keptFeeds) indexes() map[*mongo.Collection][]mongo.IndexModel {
	all := map[*mongo.Collection][]mongo.IndexModel{}
	for _, layout := range f.s.member.now().feeds.kept {
		maps.Copy(all, layout.indexes())
	}
	return all
}

// each does the same in each layout.
func (f keptFeeds) each(ctx context.Context, do func(feeds) error) error {
	for _, layout := range f.inUse(ctx).kept {
		if err := do(layout); err != nil {
			return err
		}
	}
	return nil
}

func (f keptFeeds) postAdded(ctx context.Context, p *social.Post) error {
	return f.each(ctx, func(layout feeds) error { return layout.postAdded(ctx, p) })
}

func (f keptFeeds) postChanged(ctx context.Context, post social.PostID) error {
	return f.each(ctx, func(layout feeds) error { return layout.postChanged(ctx, post) })
}

func (f keptFeeds) postDeleted(ctx context.Context, post social.PostID, author, wallOwner social.UserID) error {
	return f.each(ctx, func(layout feeds) error { return layout.postDeleted(ctx, post, author, wallOwner) })
}

func (f keptFeeds) followsChanged(ctx context.Context, owners ...social.UserID) error {
	return f.each(ctx, func(layout feeds) error { return layout.followsChanged(ctx, owners...) })
}

func (f keptFeeds) postStored(ctx context.Context, p *social.Post) {
	for _, layout := range f.inUse(ctx).kept {
		layout.postStored(ctx, p)
	}
}

// do hands a job to the layout that makes jobs of its kind.
func (f keptFeeds) do(ctx context.Context, j *jobDoc) error { return f.inUse(ctx).read.do(ctx, j) }
