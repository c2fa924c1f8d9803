package feeds

import (
	"context"
	"slices"

	"plaza/social"
)

// page reads a page of posts. ids returns the ids of a page, as far as they are known: down to floor, or
// all of them if floor is zero. deeper reads pages below it.
func (e *base) page(
	ctx context.Context, p social.Page, floor social.PostID,
	ids func(context.Context, social.Page) ([]social.PostID, error),
	deeper func(context.Context, social.Page) ([]*social.Post, error),
) ([]*social.Post, error) {
	if ends(floor, p) || p.Last && !reaches(floor, p) {
		return deeper(ctx, p)
	}
	posts, err := e.known(ctx, p, ids)
	if err != nil || p.Last || len(posts) == p.Limit || reaches(floor, p) {
		return posts, err
	}
	rest, err := deeper(ctx, social.Page{After: social.Key(floor.Bytes()), Before: p.Before, Limit: p.Limit - len(posts)})
	return append(posts, rest...), err
}

// reaches reports whether all ids within the page's bounds are known.
func reaches(floor social.PostID, p social.Page) bool {
	return floor.IsZero() || p.Before >= social.Key(floor.Bytes())
}

// ends reports whether no ids within the page's bounds are known.
func ends(floor social.PostID, p social.Page) bool {
	return !floor.IsZero() && p.After != "" && p.After <= social.Key(floor.Bytes())
}

// known reads a page of the posts whose ids are known, and reads on if posts are gone.
func (e *base) known(ctx context.Context, p social.Page, ids func(context.Context, social.Page) ([]social.PostID, error)) (posts []*social.Post, err error) {
	for rest := p; rest.Limit > 0; rest.Limit = p.Limit - len(posts) {
		ids, err := ids(ctx, rest)
		if err != nil {
			return nil, err
		}
		some, err := e.knownPosts(ctx, ids)
		if err != nil {
			return nil, err
		}
		full := len(ids) == rest.Limit
		if rest.Last {
			posts = append(some, posts...)
		} else {
			posts = append(posts, some...)
		}
		if !full {
			break
		}
		if rest.Last {
			rest.Before = social.Key(ids[0].Bytes())
		} else {
			rest.After = social.Key(ids[len(ids)-1].Bytes())
		}
	}
	return posts, nil
}

// knownPosts reads posts that the snapshot of ctx names, newest first. Those that it does not have were deleted.
func (e *base) knownPosts(ctx context.Context, ids []social.PostID) ([]*social.Post, error) {
	posts, err := e.postsInOrder(ctx, ids)
	if err != nil || len(posts) == len(ids) {
		return posts, err
	}
	found := postsByID(posts)
	e.recent.forget(slices.DeleteFunc(slices.Clone(ids), func(post social.PostID) bool { return found[post] != nil }))
	return posts, nil
}
