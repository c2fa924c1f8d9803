package feeds

import (
	"context"
	"slices"

	"plaza/social"
	"plaza/social/cache"
)

const (
	// authorsSize is how much memory the authors of news take, in bytes. A reader who follows 50
	// people takes about 1 KB.
	authorsSize = 32 << 20
	// followedTogether is how many entries the lists of followed people have that are read together.
	// Longer lists are not kept in memory.
	followedTogether = 20_000
)

// newsAuthors knows the authors of each reader's news: the people that they follow, and themselves.
// It has them in memory. A deleted account may remain in a list, but has no posts.
type newsAuthors struct {
	follows Follows
	memory  *cache.Cache[social.UserID, []social.UserID]
}

func newNewsAuthors(follows Follows, log social.ChangeLog) *newsAuthors {
	return &newsAuthors{follows: follows, memory: cache.New(cache.Config[social.UserID, []social.UserID]{
		Log: log, Size: authorsSize, Weigh: func(authors []social.UserID) int { return 16 * len(authors) },
		Named: inPairs, IsAround: func(change *social.Change, reader social.UserID) bool { return slices.Contains(change.Around, reader) },
	})}
}

// inPairs returns the users whose follows of each other a change may affect.
func inPairs(change *social.Change) (users []social.UserID) {
	for _, p := range change.Pairs {
		users = append(users, p.Viewer, p.Other)
	}
	return users
}

// ofEach returns the authors of each reader's news. It leaves out readers who follow too many.
//
// Call it when the snapshot of ctx has begun: the authors are then at least as new as the posts, so
// a page never lacks a post of someone who was followed before another post of the page was
// written. Posts of people who were unfollowed meanwhile are dropped by social.InNews.
func (a *newsAuthors) ofEach(ctx context.Context, readers []social.UserID) (map[social.UserID][]social.UserID, error) {
	if err := a.memory.CatchUp(ctx); err != nil {
		return nil, err
	}
	authors, unknown := cache.Split(readers, a.memory.Get)
	if len(unknown) == 0 {
		return authors, nil
	}
	fill := a.memory.Begin()
	defer fill.End()
	read, err := a.follows.FollowedByEach(ctx, unknown, followedTogether)
	for reader, followed := range read {
		authors[reader] = withReader(followed, reader)
		fill.Add(reader, authors[reader])
	}
	return authors, err
}

// of returns the authors of a reader's news, like ofEach.
func (a *newsAuthors) of(ctx context.Context, reader social.UserID) ([]social.UserID, error) {
	authors, err := a.ofEach(ctx, []social.UserID{reader})
	if err != nil {
		return nil, err
	}
	if known, ok := authors[reader]; ok {
		return known, nil
	}
	return a.inSnapshot(ctx, reader)
}

// inSnapshot reads the authors of a reader's news as the snapshot of ctx has them.
func (a *newsAuthors) inSnapshot(ctx context.Context, reader social.UserID) ([]social.UserID, error) {
	followed, err := a.follows.Followed(ctx, reader)
	return withReader(followed, reader), err
}

func withReader(followed []social.UserID, reader social.UserID) []social.UserID {
	return slices.Concat(followed, []social.UserID{reader})
}
