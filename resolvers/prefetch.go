package resolvers

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"plaza/loaders"
	"plaza/social"
)

// prefetch reads what the selection shows of a whole list of posts in one batch, so that the
// fields' own look-ups need not wait for each other. others are additional people to read.
func prefetch(ctx context.Context, posts []*social.Post, others ...social.UserID) error {
	if len(posts) == 0 {
		return nil
	}
	wanted := selection(ctx)
	load := loaders.For(ctx)
	previews, err := prefetchPreviews(ctx, load, posts, wanted["latestComments"])
	if err != nil {
		return err
	}
	var group errgroup.Group
	if people := append(people(posts, previews, wanted), others...); len(people) > 0 {
		group.Go(func() error {
			_, err := lookUp(ctx, load.Users, people)
			return err
		})
	}
	if wanted["viewerReaction"] {
		group.Go(func() error {
			_, err := lookUp(ctx, load.Reactions, idsOf(posts))
			return err
		})
	}
	if wanted["history"] {
		group.Go(func() error {
			_, err := lookUp(ctx, load.Histories, posts)
			return err
		})
	}
	return group.Wait()
}

// prefetchAuthors reads the authors of a list of comments in one batch, if the selection shows
// them.
func prefetchAuthors(ctx context.Context, comments []*social.Comment) error {
	wanted := selection(ctx)
	if !wanted["author"] || len(comments) == 0 {
		return nil
	}
	_, err := lookUp(ctx, loaders.For(ctx).Users, people(nil, [][]*social.Comment{comments}, wanted))
	return err
}

// prefetchWithPosts reads the people the selection shows of comments and of their posts, which
// are cached, in one batch.
func prefetchWithPosts(ctx context.Context, comments []*social.Comment) error {
	wanted := selection(ctx)
	if !wanted["post"] || !wanted["author"] && !wanted["wallOwner"] || len(comments) == 0 {
		return nil
	}
	load := loaders.For(ctx)
	posts, err := together(comments, func(_ int, c *social.Comment) (*social.Post, error) { return load.Posts.Load(ctx, c.Post) })
	if err != nil {
		return err
	}
	posts = slices.DeleteFunc(posts, func(p *social.Post) bool { return p == nil })
	_, err = lookUp(ctx, load.Users, people(posts, [][]*social.Comment{comments}, wanted))
	return err
}

func prefetchPreviews(ctx context.Context, load *loaders.Loaders, posts []*social.Post, wanted bool) ([][]*social.Comment, error) {
	if !wanted {
		return nil, nil
	}
	return lookUp(ctx, load.Previews, posts)
}

// people lists the users the selection shows.
func people(posts []*social.Post, previews [][]*social.Comment, wanted map[string]bool) []social.UserID {
	seen := map[social.UserID]bool{{}: true} // a tombstone has no author
	var people []social.UserID
	add := func(id social.UserID) {
		if !seen[id] {
			seen[id] = true
			people = append(people, id)
		}
	}
	for _, p := range posts {
		if wanted["author"] {
			add(p.Author)
		}
		if wanted["wallOwner"] {
			add(p.WallOwner)
		}
	}
	for _, comments := range previews {
		for _, c := range comments {
			add(c.Author)
		}
	}
	return people
}

func idsOf(posts []*social.Post) []social.PostID {
	ids := make([]social.PostID, len(posts))
	for i, p := range posts {
		ids[i] = p.ID
	}
	return ids
}
