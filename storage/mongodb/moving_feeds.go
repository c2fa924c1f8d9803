package mongodb

import (
	"context"
	"errors"
	"slices"

	"plaza/social"
)

// movingFeeds reads feeds from the layout of the call's era, and keeps a second one in step while feeds are moved.
type movingFeeds struct{ s *Store }

// feedsInUse are an era's layouts of feeds.
type feedsInUse struct {
	read feeds
	kept []feeds // all that are kept in step; the first is read
}

func (f movingFeeds) inUse(ctx context.Context) feedsInUse { return f.s.era(ctx).feeds }

func (f movingFeeds) news(ctx context.Context, viewer social.UserID, p social.Page) ([]*social.Post, error) {
	return f.inUse(ctx).read.news(ctx, viewer, p)
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

func (f movingFeeds) postAdded(ctx context.Context, p *social.Post) error {
	return f.each(ctx, func(layout feeds) error { return layout.postAdded(ctx, p) })
}

func (f movingFeeds) postDeleted(ctx context.Context, post social.PostID, author social.UserID) error {
	return f.each(ctx, func(layout feeds) error { return layout.postDeleted(ctx, post, author) })
}

func (f movingFeeds) followsChanged(ctx context.Context, owners ...social.UserID) error {
	return f.each(ctx, func(layout feeds) error { return layout.followsChanged(ctx, owners...) })
}

func (f movingFeeds) postStored(ctx context.Context, p *social.Post) {
	for _, layout := range f.inUse(ctx).kept {
		layout.postStored(ctx, p)
	}
}

func (f movingFeeds) postGone() {
	for _, layout := range f.s.member.now().feeds.kept {
		layout.postGone()
	}
}

// do hands a job to the layout that has added it. Where that is not in use any more, there is nothing left to do.
func (f movingFeeds) do(ctx context.Context, j *jobDoc) error {
	inUse := f.inUse(ctx).kept
	if layout, ok := feedJobs[j.Kind]; ok {
		if own := f.s.feedLayouts[layout]; slices.Contains(inUse, own) {
			return own.do(ctx, j)
		}
		return nil
	}
	for _, layout := range inUse {
		if err := layout.do(ctx, j); !errors.Is(err, errUnknownJob) {
			return err
		}
	}
	return unknownJob(j)
}
