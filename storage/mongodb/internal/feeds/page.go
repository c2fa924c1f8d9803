package feeds

import (
	"context"

	"plaza/social"
	"plaza/storage/mongodb/internal/mdb"
)

// knownList is a list of posts whose newest ids are known.
type knownList struct {
	floor social.PostID // down to here they are known; zero: all are
	// ids returns the ids of a page, without those below the floor.
	ids func(context.Context, social.Page) ([]social.PostID, error)
	// posts reads posts, newest first, without those that are gone.
	posts func(context.Context, []social.PostID) ([]*social.Post, error)
	// deeper reads a page of the whole list.
	deeper func(context.Context, social.Page) ([]*social.Post, error)
}

// page reads a page of the list.
func (l *knownList) page(ctx context.Context, p social.Page) ([]*social.Post, error) {
	if !begins(l.floor, p) {
		return l.deeper(ctx, p)
	}
	posts, err := l.known(ctx, p)
	if err != nil || p.Last || len(posts) == p.Limit || reaches(l.floor, p) {
		return posts, err
	}
	rest, err := l.deeper(ctx, social.Page{After: social.Key(l.floor.Bytes()), Before: p.Before, Limit: p.Limit - len(posts)})
	return append(posts, rest...), err
}

// reaches reports whether all ids within the page's bounds are known, if they are down to floor.
func reaches(floor social.PostID, p social.Page) bool {
	return floor.IsZero() || p.Before >= social.Key(floor.Bytes())
}

// begins reports whether the ids with which the page begins are known, if they are down to floor.
func begins(floor social.PostID, p social.Page) bool {
	if p.Last {
		return reaches(floor, p)
	}
	return floor.IsZero() || p.After == "" || p.After > social.Key(floor.Bytes())
}

// known reads a page of the posts whose ids are known. If posts are gone it reads on, more and more
// at a time.
func (l *knownList) known(ctx context.Context, p social.Page) (posts []*social.Post, err error) {
	for rest := p; ; rest.Limit = min(2*rest.Limit, mdb.InBatch) {
		ids, err := l.ids(ctx, rest)
		if err != nil {
			return nil, err
		}
		some, err := l.posts(ctx, ids)
		if err != nil {
			return nil, err
		}
		posts = mdb.Join(posts, some, p)
		if len(ids) < rest.Limit || len(posts) >= p.Limit {
			return mdb.Cut(posts, p), nil
		}
		rest = mdb.Behind(rest, ids, func(post *social.PostID) social.Key { return social.Key(post.Bytes()) })
	}
}
